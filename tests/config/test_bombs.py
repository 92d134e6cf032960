"""Files that would explode are refused before they do: little memory, and an error of one line."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

MEMORY_MB_MAX = 300
BOMBS = {
    "half a million unknown keys": "\n".join(f"k{number} = 1" for number in range(500_000)),
    "a dotted key of 20,000 parts": ".".join(["a"] * 20_000) + " = 1",
    "500 levels of nesting": "a = " + "[" * 500 + "]" * 500,
    "an integer of 5,000 digits": "[simulation]\nseed = " + "9" * 5_000,
    "a device as a profile": '[storage]\nprovider = "/dev/zero"',
}


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="the memory of one process cannot be asked for here")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_little_memory(name, tmp_path):
    path = tmp_path / "bomb.toml"
    path.write_text(BOMBS[name])
    with (tmp_path / "said").open("w+") as said:
        process = subprocess.Popen(
            [sys.executable, "-c", "from endive.cli.main import app; app()", "config", "check", str(path)],
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()

    assert 2 == process.returncode, text[-2_000:]
    assert text.startswith("error: ")
    assert "Traceback" not in text
    assert usage.ru_maxrss / 1024 < MEMORY_MB_MAX
