"""Plants mistakes, one at a time, and tells which of them no test notices: ``python -m tools.mutate [WORD ...]``.

Each mistake of ``tools.mutations`` is planted in a copy of the repository, and the tests that it names are run there:
they have to fail. A word chooses the mistakes whose name or file holds it. Part of ``make soak``. All of them take an
hour, for a mistake in a rule makes the engine be compiled anew where its test needs that.

``--random COUNT --seed S`` plants mistakes that nobody chose (``tools.random_mutations``): one that is missed is
without effect, or a test is missing.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

from tools.mutations import MUTATIONS, Mutation
from tools.random_mutations import draw_mutations

ROOT: Final = Path(__file__).resolve().parents[1]
COPIED: Final = (
    *("src", "tests", "verification", "rigs", "tools", "benchmarks", "docs", "experiments", "requirements"),
    "pyproject.toml",
)
PATIENCE_S: Final = 900.0
TESTS_FAILED: Final = 1  # what pytest ends with if tests ran and some failed


@contextmanager
def copy_tree() -> Iterator[Path]:
    """The repository in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="endive-mutate-") as name:
        for part in COPIED:
            source, target = ROOT / part, Path(name) / part
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copyfile(source, target)
        yield Path(name)


def run_tests(root: Path, tests: str) -> int:
    """How pytest ends on these tests, in the copy."""
    paths = os.pathsep.join((str(root / "src"), str(root)))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", *tests.split()]
    ended = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    return ended.returncode


@cache
def is_sound(root: Path, tests: str) -> bool:
    """Whether the tests pass without a mistake; otherwise their failing says nothing."""
    return run_tests(root, tests) == 0


def is_caught(root: Path, mutation: Mutation) -> bool:
    """Whether its tests pass, and fail while the mistake stands in the copy."""
    if not is_sound(root, mutation.caught_by):
        return False
    path = root / mutation.file
    kept = path.read_text(encoding="utf-8")
    path.write_text(kept.replace(mutation.before, mutation.after), encoding="utf-8")
    try:
        return run_tests(root, mutation.caught_by) == TESTS_FAILED
    finally:
        path.write_text(kept, encoding="utf-8")


def chosen(words: list[str]) -> list[Mutation]:
    """Those whose name or file holds one of the words; all without words."""
    return [each for each in MUTATIONS if not words or any(word in each.name or word in each.file for word in words)]


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="part of a name or a file")
    parser.add_argument("--minutes", type=float, help="as many as there is time for, in another order each day")
    parser.add_argument(
        "--random", type=int, metavar="COUNT", help="so many drawn at random instead of the listed ones"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the random ones")
    options = parser.parse_args()
    mutations = chosen(options.words) if options.random is None else draw_mutations(ROOT, options.seed, options.random)
    if options.minutes is not None:
        random.Random(time.strftime("%Y-%m-%d")).shuffle(mutations)
    end_s = time.monotonic() + 60.0 * options.minutes if options.minutes is not None else float("inf")
    missed, planted = [], 0
    with copy_tree() as root:
        for mutation in mutations:
            if time.monotonic() > end_s:
                break
            caught = is_caught(root, mutation)
            planted += 1
            missed += [] if caught else [mutation.name]
            word = "caught" if caught else "MISSED" if is_sound(root, mutation.caught_by) else "FAILS ANYWAY"
            print(f"{word}  {mutation.name}  ({mutation.file})", flush=True)
    told = f"; missed: {', '.join(missed)}" if missed else ""
    print(f"{planted - len(missed)} of {planted} mistakes caught{told}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
