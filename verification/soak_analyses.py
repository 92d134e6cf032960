"""Kill analyses and reports at random moments: afterwards the same command ends well, and the dataset is whole.

python -m verification.soak_analyses --minutes 6
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from verification.chaos import STUDY

COMMANDS: Final = ("analyze", "report")
PATIENCE_S: Final = 900.0


def endive(*arguments: str) -> subprocess.Popen[str]:
    """A command in a process of its own."""
    command = [sys.executable, "-m", "endive.cli.main", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def play(folder: Path, command: str, strike_s: float) -> str | None:
    """Kill a command, run it again, and check; what went wrong, or None."""
    process = endive(command, str(folder))
    time.sleep(strike_s)
    process.kill()
    process.communicate()
    for again in ((command, str(folder)), ("check", str(folder))):
        process = endive(*again)
        told, _ = process.communicate(timeout=PATIENCE_S)
        if process.returncode:
            return f"endive {again[0]} ended with {process.returncode}: {told.strip()[-300:]}"
    return None


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=6.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    chance = random.Random(options.seed)
    end_s = time.monotonic() + 60.0 * options.minutes
    wrong: list[str] = []
    rounds = 0
    with tempfile.TemporaryDirectory(prefix="endive-soak-") as scratch:
        study, folder = Path(scratch) / "chaos.toml", Path(scratch) / "out"
        study.write_text(STUDY, encoding="utf-8")
        begin_s = time.monotonic()
        told, _ = (swept := endive("study", str(study), "--out", str(folder))).communicate(timeout=PATIENCE_S)
        if swept.returncode:
            print(f"the study failed: {told.strip()[-300:]}")
            return 1
        longest_s = time.monotonic() - begin_s
        while rounds == 0 or time.monotonic() < end_s:
            command = chance.choice(COMMANDS)
            problem = play(folder, command, chance.uniform(0.2, longest_s))
            rounds += 1
            wrong += [] if problem is None else [problem]
            print(f"{rounds:4d}  {command:<8} {problem or 'whole'}", flush=True)
    print(f"{rounds} analyses and reports killed (seed {options.seed}), {len(wrong)} not whole afterwards")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
