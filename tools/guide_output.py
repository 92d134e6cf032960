"""Fill in what the commands of a guide print: ``python tools/guide_output.py docs/guides/nightly-merge.md ...``.

This file finds blocks headed ``console`` whose first line is ``$ endive ...`` and replaces what follows by what the
command prints now. A line ``...`` at the end keeps only as many lines as the block had. The tests use it to see whether
a page is still true.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Final

from typer.testing import CliRunner

from endive.cli.main import app

BLOCK: Final = re.compile(r"```console\n\$ endive (?P<command>[^\n]+)\n(?P<output>.*?)```", re.DOTALL)
CUT: Final = "..."


def refreshed(text: str) -> str:
    """The page with every block's output as it is now."""
    return BLOCK.sub(_filled, text)


def _filled(block: re.Match[str]) -> str:
    command, shown = block["command"], block["output"].splitlines()
    lines = printed(command)
    if shown and shown[-1] == CUT:
        lines = [*lines[: len(shown) - 1], CUT]
    body = "".join(f"{line}\n" for line in lines)
    return f"```console\n$ endive {command}\n{body}```"


def printed(command: str) -> list[str]:
    """What a command prints, without trailing blanks."""
    answer = CliRunner().invoke(app, shlex.split(command))
    lines = [line.rstrip() for line in (answer.stdout + answer.stderr).splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = Path(name)
        page.write_text(refreshed(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(page)
