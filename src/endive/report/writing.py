"""The report as a file."""

from __future__ import annotations

from endive.pipeline.dataset.places import DatasetPath, place_errors, write_whole
from endive.pipeline.dataset.seal import sealed_page
from endive.report.page import render
from endive.report.report import Report


def write_report(report: Report, path: DatasetPath) -> int:
    """Write the page, with its digest at the end; its size in bytes. Folders on the way are made."""
    content = sealed_page(render(report).encode())
    with place_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
    return len(content)
