"""``endive sweep`` in a process of its own, to be killed, interrupted or robbed of an executor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def started(study_file: Path, out: Path, *options: str, **environment: str) -> subprocess.Popen[str]:
    """The command, under way on the reference engine: slow enough to be caught in the middle."""
    command = [sys.executable, "-m", "endive.cli.main", "sweep", str(study_file), "--out", str(out)]
    return subprocess.Popen(
        [*command, "--engine", "reference", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(out.parent), **environment},
    )
