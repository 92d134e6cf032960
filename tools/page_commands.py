"""Runs the commands of a page in a folder of their own.

The folder has the page's files, the experiments and the tools. ``endive`` runs in this process, which saves its start,
everything else in a shell. What a page is made of is in ``make_docs``.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from typer.testing import CliRunner

from endive.cli.main import app

ROOT: Final = Path(__file__).resolve().parents[1]
_LINKED: Final = ("experiments", "tools", "verification", "rigs", "src")
_SHELL_SIGNS: Final = set("|<>;&`$(")


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command printed, without trailing blanks, and its exit code."""

    lines: tuple[str, ...]
    exit_code: int


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """An empty folder with the repository's experiments in it; the process stands there meanwhile."""
    with tempfile.TemporaryDirectory(prefix="endive-docs-") as name:
        folder = Path(name)
        for linked in _LINKED:
            (folder / linked).symlink_to(ROOT / linked)
        (folder / "out").mkdir()
        with contextlib.chdir(folder):
            yield folder


def run_command(command: str) -> Printed:
    """What a command prints in the current folder."""
    words = shlex.split(command)
    if words[0] == "endive" and not any(sign in word for word in words for sign in _SHELL_SIGNS):
        return in_process(words[1:])
    return in_shell(command)


def in_process(arguments: list[str]) -> Printed:
    """What ``endive`` prints, called without a new Python."""
    answer = CliRunner().invoke(app, arguments)
    return Printed(_tidy(answer.stdout + answer.stderr), answer.exit_code)


def in_shell(command: str) -> Printed:
    """What a shell prints that finds our ``python`` and ``endive`` first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    sources = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    environment = {**os.environ, "PATH": path, "PYTHONPATH": sources, "PYSPARK_PYTHON": sys.executable}
    ended = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Printed(_tidy(ended.stdout), ended.returncode)


def _tidy(text: str) -> tuple[str, ...]:
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return tuple(lines)
