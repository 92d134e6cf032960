#!/bin/sh
# Creates a virtual environment and installs what one purpose needs: run (Endive itself and a Java), test, check or site.
#
# This file chooses the Python interpreter, gets around a Python without ensurepip, and installs with uv, or with pip
# where uv cannot be had. What is installed is pinned, with hashes, in requirements/: see tools/renew_pins.sh.
# Usage, from the root of the repository: tools/create_venv.sh FOLDER run|test|check|site
# $PYTHON names an interpreter to use instead of the first suitable one on PATH.
set -eu

venv=$1
purpose=$2

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

pip() { "$venv/bin/python" -m pip --quiet --disable-pip-version-check --no-input "$@"; }

# uv does not read pip's settings: hand over where packages come from and whom to trust.
pip_setting() {
    "$venv/bin/python" -m pip config list 2>/dev/null | sed -n "s/^[^=]*\\.$1='\\(.*\\)'\$/\\1/p" | tail -n 1
}

find_installer() {
    if pip install --require-hashes --no-deps --requirement requirements/uv.txt >/dev/null 2>&1; then
        index=$(pip_setting index-url)
        certificates=$(pip_setting cert)
        [ -z "$index" ] || export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$index}"
        [ -z "$certificates" ] || export SSL_CERT_FILE="${SSL_CERT_FILE:-$certificates}"
        installer=uv
    else
        say "uv cannot be installed here, so pip will do its work (minutes, the first time)"
        installer=pip
    fi
}

install() {
    if [ "$installer" = uv ]; then
        "$venv/bin/uv" --quiet pip install --python "$venv/bin/python" --no-build-isolation --no-deps "$@" && return
        say "uv could not, trying pip"
    fi
    # PEP 517 also where an old pip would run setup.py itself and complain about it.
    pip install --use-pep517 --no-build-isolation --no-deps "$@"
}

install_pins() {
    say "installing the packages pinned in requirements/$1.txt"
    install --require-hashes --requirement "requirements/$1.txt"
}

# Compiling takes longest and keeps one core busy, so all else is done meanwhile.
install_for_run() {
    install_pins engine
    install --editable .
    say "compiling the engine for this machine (about a minute, once), and going on"
    "$venv/bin/python" -c 'import endive; endive.simulate({"simulation": {"duration_ms": 1000.0}}, engine="compiled")' &
    compiling=$!
    trap 'kill "$compiling" 2>/dev/null || true' EXIT
    trap 'exit 130' INT TERM HUP
    install_pins run
    "$venv/bin/python" tools/provide_java.py
    wait "$compiling" || say "compiling did not work; it will be tried again when a simulation runs"
    trap - EXIT INT TERM HUP
}

if ! is_usable; then
    python=$(find_python)
    create_venv
fi
find_installer
case $purpose in
    run) install_for_run ;;
    test | check | site) install_pins "$purpose" ;;
    *) give_up "unknown purpose $purpose: run, test, check or site" ;;
esac
