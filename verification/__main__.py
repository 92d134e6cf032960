"""``python -m verification``: everything slow. Writes ``docs/validation`` anew and runs the tests marked slow.

Each check runs in a process of its own; the exit code is 1 if one failed.

    python -m verification                all, as ``make verify`` does
    python -m verification --list
    python -m verification pages          docs/validation only: ``endive verify --out docs/validation``
"""

from __future__ import annotations

import sys
from pathlib import Path

from verification.run_modules import commands_in, run_commands

HERE = Path(__file__).resolve().parent
VALIDATION = "docs/validation"


def main() -> int:
    """List or run."""
    own = {
        "pages": (
            f"Every suite of 'endive verify', written to {VALIDATION}.",
            ["-m", "endive.cli.main", "verify", "--out", VALIDATION],
        ),
        "slow_tests": ("The tests marked slow.", ["-m", "pytest", "-q", "-m", "slow"]),
    }
    return run_commands({**own, **commands_in(HERE)}, __doc__, "check", HERE.parent)


if __name__ == "__main__":
    sys.exit(main())
