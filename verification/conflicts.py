"""Writes docs/model/conflicts.md and the CSVs beside it from the recorded pairs of victim and rival.

The command; the page lives in ``verification.suites.java.conflict_page`` and
``verification.suites.pyiceberg.met_table``.

    python -m verification.conflicts
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from endive.verification.pages import csv_text
from verification.suites.java.conflict_page import conflict_page, conflict_rows
from verification.suites.java.pair_recording import read_pairs
from verification.suites.pyiceberg.met_table import FILE, met_rows, met_section

PAGE: Final = Path(__file__).parents[1] / "docs" / "model" / "conflicts.md"


def text() -> str:
    """The page: Java Iceberg, then PyIceberg."""
    return conflict_page(read_pairs()) + met_section()


def rows_text() -> str:
    """Every recorded pair as a row."""
    return csv_text(conflict_rows(read_pairs()))


def main() -> int:
    """Write the page and its rows."""
    PAGE.write_text(text(), encoding="utf-8")
    PAGE.with_suffix(".csv").write_text(rows_text(), encoding="utf-8")
    PAGE.with_name(FILE).write_text(csv_text(met_rows()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
