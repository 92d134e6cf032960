"""What each departure from plain Numba in ``endive.kernel`` brings: the engine without it beside the engine as it is.

Every variant runs in a process of its own, with a folder of compiled code of its own: first it compiles the engine,
then it runs three loads. Rounds are interleaved, so that a busy neighbour meets all of them; of each figure the least
counts. Results must be the same in all variants, bit for bit.

    python -m benchmarks.kernel_tricks                      # all, three rounds: about half an hour
    python -m benchmarks.kernel_tricks --only parts,internal --rounds 1
    python -m benchmarks.kernel_tricks --keep FILE          # figures are written down, and taken up from there

What a trick is for is in docs/adr/0007-departures-from-numba.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.before_after import append, in_flight, merge
from benchmarks.measuring import Config, Figures, in_own_process, machine, run_once, table, warm_up

AS_IT_IS = "-"
LOADS: dict[str, Callable[[], Config]] = {
    "append": lambda: append(60.0),
    "merge": lambda: merge(20.0),
    "many": in_flight,
}
RUNS = 5


def without_parts(kernel: Any) -> None:
    """Every function is optimised and assembled on its own, and again in each that calls it."""
    from numba.core.compiler import Compiler

    kernel.PartCompiler = kernel.WholeCompiler = Compiler


def without_internal(_kernel: Any) -> None:
    """What is linked in keeps its linkage, so that it is also compiled as if others could call it."""
    from endive.kernel_parts import WholeLibrary

    del WholeLibrary._optimize_final_module


def without_forgotten_literals(kernel: Any) -> None:
    """A function is compiled once more for each constant and each width it is called with.

    Parts go too: Numba does not link those of which there are several versions.
    """
    kernel._forget_literals = lambda dispatcher: None
    without_parts(kernel)


def without_unwrapped(kernel: Any) -> None:
    """Functions that only compiled code calls can be called from Python and C too."""
    kernel._UNWRAPPED.clear()


TRICKS: dict[str, Callable[[ModuleType], None]] = {
    AS_IT_IS: lambda kernel: None,
    "parts": without_parts,
    "internal": without_internal,
    "literals": without_forgotten_literals,
    "unwrapped": without_unwrapped,
}


def measure(trick: str) -> Figures:
    """Compile the engine without a trick, and run it."""
    assert "endive.simulation" not in sys.modules, "what is taken away must be gone before anything is decorated"
    from endive import kernel, kernel_cache

    TRICKS[trick](kernel)
    start_s = time.process_time()
    warm_up("compiled")
    figures: Figures = {"compile": time.process_time() - start_s}
    fingerprints = []
    for load, config in LOADS.items():
        runs = [run_once("compiled", config()) for _ in range(RUNS)]
        figures[load] = min(float(run["cpu_s"]) for run in runs)
        fingerprints += [run["fingerprint"] for run in runs]
    folder = kernel_cache.cache_folder()
    assert folder is not None, "compiled code is kept"
    figures["code_mb"] = sum(path.stat().st_size for path in folder.rglob("*.nbc")) / 1e6
    return {**figures, "fingerprints": fingerprints}


def in_turn(names: list[str], rounds: int, kept: Path | None) -> dict[str, list[Figures]]:
    """The figures of every variant, round by round; those written down before are not taken again."""
    found: dict[str, list[Figures]] = json.loads(kept.read_text()) if kept and kept.exists() else {}
    for number in range(rounds):
        for name in names:
            if len(found.setdefault(name, [])) > number:
                continue
            with tempfile.TemporaryDirectory() as cache:
                found[name].append(in_own_process("benchmarks.kernel_tricks:measure", name, ENDIVE_CACHE_DIR=cache))
            if kept is not None:
                kept.write_text(json.dumps(found))
    return found


def main() -> None:
    """Print one line per trick."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help=f"some of {','.join(TRICKS)}")
    parser.add_argument("--rounds", type=int, default=3, help="of which the least counts")
    parser.add_argument("--keep", type=Path, help="a file for figures, read first if it is there")
    given = parser.parse_args()
    wanted = [AS_IT_IS, *(given.only.split(",") if given.only else list(TRICKS)[1:])]
    if unknown := set(wanted) - set(TRICKS):
        parser.error(f"--only: {', '.join(sorted(unknown))} is unknown. Choose among {', '.join(list(TRICKS)[1:])}")
    found = in_turn(wanted, given.rounds, given.keep)
    assert len({str(each["fingerprints"]) for runs in found.values() for each in runs}) == 1, "results differ"
    columns = ["compile", *LOADS, "code_mb"]
    best = {name: {column: min(each[column] for each in runs) for column in columns} for name, runs in found.items()}
    lines: list[list[Any]] = []
    for name in wanted:
        ratios = [f"{best[name][column]:.2f} ({best[name][column] / best[AS_IT_IS][column]:.2f})" for column in columns]
        lines.append(["as it is" if name == AS_IT_IS else f"without {name}", *ratios])
    print(machine())
    print(table(["CPU s (times as it is)", *columns], lines))


if __name__ == "__main__":
    main()
