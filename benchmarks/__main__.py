"""``python -m benchmarks``: list the benchmarks, run some, or run all of them one after another.

Each runs in a process of its own, so that none is measured with the memory or the compiled code of another.

    python -m benchmarks                  all
    python -m benchmarks --list
    python -m benchmarks engines growth
"""

from __future__ import annotations

import sys
from pathlib import Path

from verification.run_modules import commands_in, run_commands

HERE = Path(__file__).resolve().parent

if __name__ == "__main__":
    sys.exit(run_commands(commands_in(HERE), __doc__, "benchmark", HERE.parent))
