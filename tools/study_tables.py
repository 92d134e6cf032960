"""The tables of a page by their name: what a mark in the page would be too long for.

``study_tables.toml`` has the arguments of ``study_table`` for each of them, and a text that all tables of a page share.

    python -m tools.study_tables formats-beside merge
"""

from __future__ import annotations

import shlex
import sys
import tomllib
from pathlib import Path
from typing import Final

from tools import study_table

FILE: Final = Path(__file__).with_suffix(".toml")
SHARED: Final = "shared"


def arguments_of(page: str, name: str) -> list[list[str]]:
    """The arguments of every table of that name, one after another on the page."""
    pages = tomllib.loads(FILE.read_text(encoding="utf-8"))
    if name not in pages.get(page, {}):
        raise SystemExit(f"{FILE.name} has no '{name}' of the page '{page}'.")
    return [shlex.split(f"{table} {pages[page].get(SHARED, '')}") for table in pages[page][name]]


def main() -> None:
    """Print them, a blank line between two."""
    page, name = sys.argv[1:]
    for place, arguments in enumerate(arguments_of(page, name)):
        if place:
            print()
        sys.argv[1:] = arguments
        study_table.main()


if __name__ == "__main__":
    main()
