"""``endive`` in a process of its own: to its end, or a sweep to be killed, interrupted or robbed of an executor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def _variables(**environment: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}


def ran(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command, and what it said."""
    command = [sys.executable, "-m", "endive.cli.main", *map(str, arguments)]
    variables = _variables(**environment)
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=900, env=variables)


def started(study_file: Path, out: Path, *options: str, **environment: str) -> subprocess.Popen[str]:
    """A sweep, under way on the reference engine: slow enough to be caught in the middle."""
    command = [sys.executable, "-m", "endive.cli.main", "sweep", str(study_file), "--out", str(out)]
    return subprocess.Popen(
        [*command, "--engine", "reference", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=_variables(TMPDIR=str(out.parent), **environment),
    )
