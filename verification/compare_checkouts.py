"""Every shipped configuration, run in this checkout and in an earlier one: do they give the same summary?

The earlier checkout is a folder, for instance a git worktree; its ``src`` is what its process imports, and its own
``experiments`` are what it runs. A study stands for the first and the last of its points. Runs are cut to ``--seconds``
of simulated time, which is long enough for every protocol to lose and try again.

    git worktree add /tmp/before COMMIT
    python -m verification.compare_checkouts --before /tmp/before
    python -m verification.compare_checkouts --before /tmp/before --seconds 600 --engine reference
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MODULE = "verification.compare_checkouts"
SECONDS = 120.0
Summary = dict[str, Any]


def configurations(root: Path) -> Iterator[tuple[str, Any]]:
    """A name and a configuration for every file below ``experiments``, two of a study."""
    from endive.config import load_simulation_config
    from endive.config.study import load_study
    from endive.errors import EndiveError

    for path in sorted((root / "experiments").rglob("*.toml")):
        name = path.relative_to(root).as_posix()
        try:
            points = load_study(path).expand()
        except EndiveError:
            with suppress(EndiveError):  # a profile or a trace lies beside the configuration that names it
                yield name, load_simulation_config(str(path))
            continue
        for place in sorted({0, len(points) - 1}):
            yield f"{name} point {place + 1} of {len(points)}", points[place].config


def summarize(root: Path, seconds: float, engine: str) -> Iterator[tuple[str, Summary]]:
    """The summary of every configuration, and the fingerprint of its txns."""
    from endive.simulation import Simulation

    for name, config in configurations(root):
        duration_ms = min(config.simulation.duration_ms, seconds * 1000.0)
        cut = {"duration_ms": duration_ms, "warmup_ms": 0.0, "cooldown_ms": 0.0}
        section = config.simulation.model_copy(update=cut)
        result = Simulation(config.model_copy(update={"simulation": section})).run(engine=engine)
        yield name, {"fingerprint": result.fingerprint, **result.summary()}


def summaries_of(checkout: Path, seconds: float, engine: str) -> dict[str, Summary]:
    """What a process that imports the checkout's ``src`` makes of the checkout's configurations."""
    script = Path(__file__).resolve()
    command = [sys.executable, str(script), "--of", str(checkout), "--seconds", str(seconds), "--engine", engine]
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(command, env=environment, cwd=checkout, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(line) for line in done.stdout.splitlines())


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Where two summaries differ; keys that only one of them has are not compared."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() & after.keys():
            yield from differences(before[key], after[key], f"{path}.{key}" if path else key)
    elif before != after:
        yield f"{path}: {before} became {after}"


def main() -> int:
    """Compare, tell, and fail if a summary differs."""
    parser = argparse.ArgumentParser(prog=f"python -m {MODULE}", description="Compare summaries of two checkouts.")
    parser.add_argument("--before", type=Path, help="folder of the earlier checkout")
    parser.add_argument("--of", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="simulated, at most")
    parser.add_argument("--engine", default="compiled", choices=("compiled", "reference"))
    asked = parser.parse_args()
    if asked.of is not None:
        for name, summary in summarize(asked.of, asked.seconds, asked.engine):
            print(json.dumps([name, summary], default=str), flush=True)
        return 0
    if asked.before is None or not (asked.before / "src" / "endive").is_dir():
        parser.error(f"--before must name a checkout with src/endive in it; {asked.before} is none")
    before = summaries_of(asked.before.resolve(), asked.seconds, asked.engine)
    after = summaries_of(ROOT, asked.seconds, asked.engine)
    shared = [name for name in after if name in before]
    changed = {name: sorted(differences(before[name], after[name])) for name in shared}
    for name, found in changed.items():
        if found:
            print(f"{name}: {len(found)} figures differ, for instance {found[0]}")
    n_changed = sum(1 for found in changed.values() if found)
    lonely = len(before) + len(after) - 2 * len(shared)
    print(f"{len(shared)} configurations compared, {n_changed} differ; {lonely} are in one checkout only")
    return 1 if n_changed or not shared else 0


if __name__ == "__main__":
    sys.exit(main())
