"""``python -m tools.key_table`` writes docs/reference/configuration.csv: every key with all that is said of it.

The page beside it, ``endive config schema --markdown``, cuts what is long.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from endive.config.key_reference import reference_csv

FILE: Final = Path(__file__).resolve().parents[1] / "docs" / "reference" / "configuration.csv"

if __name__ == "__main__":
    FILE.write_text(reference_csv(), encoding="utf-8")
