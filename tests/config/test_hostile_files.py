"""Files that would explode or make no sense are refused before they do: little memory, an error of one line."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from verification.fuzz_config import fuzz

MEMORY_MB_MAX = 300
# What a parent sees of a child's peak counts the parent's own memory, so the child tells.
ASKED = """
from endive.cli.main import app
try:
    app()
finally:
    print(open("/proc/self/status").read())
"""
BOMBS = {
    "half a million unknown keys": "\n".join(f"k{number} = 1" for number in range(500_000)),
    "a dotted key of 20,000 parts": ".".join(["a"] * 20_000) + " = 1",
    "500 levels of nesting": "a = " + "[" * 500 + "]" * 500,
    "an integer of 5,000 digits": "[simulation]\nseed = " + "9" * 5_000,
    "a device as a profile": '[storage]\nprovider = "/dev/zero"',
}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="a process cannot ask for its memory here")
def test_bombs_are_refused_in_little_memory(tmp_path):
    paths = [tmp_path / f"{name}.toml" for name in BOMBS]
    for path, text in zip(paths, BOMBS.values(), strict=True):
        path.write_text(text)
    done = subprocess.run([sys.executable, "-c", ASKED, "config", "check", *paths], capture_output=True, text=True)
    peak_kb = re.search(r"^VmHWM:\s+(\d+) kB", done.stdout, re.MULTILINE)

    assert 2 == done.returncode, done.stderr[-2_000:]
    assert [str(path) for path in paths] == [line.split(": ")[1] for line in done.stderr.splitlines()]
    assert peak_kb is not None
    assert int(peak_kb[1]) < MEMORY_MB_MAX * 1024


CASES = 200  # the rest: make soak
SEED = 11


@pytest.mark.lengthy
def test_no_mutated_file_ends_in_an_unknown_error_or_takes_too_long() -> None:
    outcome = fuzz(CASES, SEED)

    assert [] == outcome.failures
    assert CASES == outcome.read + outcome.refused
