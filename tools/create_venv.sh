#!/bin/sh
# Creates a virtual environment with pip in it, installs the pinned packages and Endive itself, and compiles its engine.
#
# Owns the choice of the Python interpreter and the ways around a Python without ensurepip. Does not look for
# Java: see tools/provide_java.py. Usage: tools/create_venv.sh FOLDER, from the root of the repository.
# $PYTHON names an interpreter to use instead of the first suitable one on PATH.
set -eu

venv=$1

say() { printf 'set-up: %s\n' "$*"; }

give_up() {
    printf 'set-up: %s\n' "$@" >&2
    exit 1
}

# The same range as requires-python in pyproject.toml.
is_suitable() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' >/dev/null 2>&1
}

find_python() {
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python}; do
        if is_suitable "$candidate"; then
            "$candidate" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    if [ -n "${PYTHON:-}" ]; then
        give_up "PYTHON=$PYTHON is not Python 3.11, 3.12 or 3.13. Name another one, or unset PYTHON."
    fi
    give_up "No Python 3.11, 3.12 or 3.13 on PATH." \
        "Install one (Debian, Ubuntu: sudo apt install python3 python3-venv), or name one: make PYTHON=/path/to/python3.12"
}

is_usable() {
    is_suitable "$venv/bin/python" && "$venv/bin/python" -m pip --version >/dev/null 2>&1
}

create_venv() {
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    rm -rf "$venv"
    if "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        say "creating $venv with Python $version"
        "$python" -m venv "$venv"
    elif "$python" -m virtualenv --version >/dev/null 2>&1; then
        say "creating $venv with Python $version and virtualenv (this Python has no ensurepip)"
        "$python" -m virtualenv --quiet "$venv"
    elif virtualenv --version >/dev/null 2>&1; then
        say "creating $venv with Python $version and virtualenv (this Python has no ensurepip)"
        virtualenv --quiet --python "$python" "$venv"
    else
        give_up "Python $version ($python) cannot create virtual environments: it has no ensurepip." \
            "Debian, Ubuntu: sudo apt install python$version-venv" \
            "Elsewhere: install virtualenv (your system's package of that name, or: pip install --user virtualenv)" \
            "Then run make again."
    fi
}

install_packages() {
    pip="$venv/bin/python -m pip --quiet --disable-pip-version-check --no-input"
    say "installing the packages pinned in requirements/dev.txt (minutes, the first time)"
    # PEP 517 also where an old pip would run setup.py itself and complain about it.
    $pip install --use-pep517 --requirement requirements/dev.txt
    say "installing Endive itself, editable"
    $pip install --no-deps --no-build-isolation --editable .
}

compile_engine() {
    say "compiling the engine for this machine (half a minute or more, once)"
    "$venv/bin/python" -c 'import endive; endive.simulate({"simulation": {"duration_ms": 1000.0}}, engine="compiled")' ||
        say "that did not work; it will be tried again when a simulation runs"
}

if ! is_usable; then
    python=$(find_python)
    create_venv
fi
install_packages
compile_engine
