"""The report as a file.

This file defines where it is written and that it appears as a whole. Not here: what is in it.
"""

from __future__ import annotations

from pathlib import Path

from endive.report.page import render
from endive.report.report import Report
from endive.results.writer import output_errors, write_atomically


def write_report(report: Report, path: Path) -> int:
    """Write the page; its size in bytes. Folders on the way are made."""
    content = render(report).encode()
    with output_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)
    return len(content)
