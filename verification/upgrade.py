"""``python -m verification.upgrade``: write the page on what a newer release of Iceberg changes for a table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from endive.verification.pages import csv_text
from verification.suites.java.pair_recording import read_pairs
from verification.suites.java.request_recording import RELEASES, SAMPLED
from verification.suites.java.upgrade_page import FILE, upgrade_page, upgrade_rows

PAGE: Final = Path(__file__).parents[1] / "docs" / "validation" / "upgrade.md"


def text() -> str:
    """The page: the oldest recorded release against the newest."""
    return upgrade_page(read_pairs(RELEASES[0]), read_pairs(RELEASES[-1]), read_pairs(SAMPLED[0]))


def main() -> int:
    """Write the page and its rows."""
    PAGE.write_text(text(), encoding="utf-8")
    rows = upgrade_rows(read_pairs(RELEASES[0]), read_pairs(RELEASES[-1]))
    PAGE.with_name(FILE).write_text(csv_text(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
