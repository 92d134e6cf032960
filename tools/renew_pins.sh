#!/bin/sh
# Writes the pins, requirements/*.txt, from pyproject.toml and the ranges in requirements/*.in.
#
# The files build on each other: engine (what simulates), run (adds sweeps, reports and the live page), test, check,
# site. All are resolved together first, so that they agree; then each file gets what those before it lack. The hashes
# cover every platform and Python of requires-python. Versions stay as they are while the ranges allow it. To move them, name packages:
# tools/renew_pins.sh --upgrade-package numpy, or --upgrade for all. Needs the uv in .venv: run make demo once.
# No uv.lock or pylock.toml: both write the address of the registry they were made with beside every package.
set -eu

cd "$(dirname "$0")/.."
together=$(mktemp)
trap 'rm -f "$together"' EXIT

compile() {
    .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate "$@"
}

# pins FILE RANGES: what RANGES need and the files in $before do not pin. What they pin for some platforms only is
# pinned again where it is wanted on others: click wants colorama on Windows, the documentation site everywhere.
pins() {
    file=requirements/$1.txt
    shift
    left_out=$(cat $before /dev/null | sed -n 's/^\([A-Za-z0-9._-]*\)==[^ ;]* *\\\{0,1\}$/--no-emit-package \1/p')
    compile "$@" $left_out --generate-hashes --constraints "$together" --upgrade --output-file "$file" >/dev/null
    # Without the list of what was left out, and without pins that stand in an earlier file word for word.
    cat $before /dev/null | awk 'FILENAME == "-" { if (/==/) pinned[$0]; next } /^#/ { next } /==/ { skip = $0 in pinned } !skip' \
        - "$file" >"$file.new" && mv "$file.new" "$file"
    before="$before $file"
}

engine="pyproject.toml requirements/engine.in"
run="$engine --extra spark --extra report --extra explore"
test="$run --extra connect --extra lake requirements/test.in"
check="$test requirements/check.in"
site="$check requirements/site.in"

for each in engine run test check site; do cat "requirements/$each.txt"; done >"$together"
compile $site --output-file "$together" "$@" >/dev/null
before=
pins engine $engine
pins run $run
pins test $test
pins check $check
pins site $site
for alone in uv java; do
    compile "requirements/$alone.in" --generate-hashes --output-file "requirements/$alone.txt" "$@" >/dev/null
done
