"""The plan of a sweep: which runs there are, which of them share a part, which parts share a task.

Pure values: it reads no folder and starts no Spark. A part is what appears at once or not at all, and holds runs of one
point; a task is what Spark repeats if it is lost; a job is what is committed together. Seeds come from the run, so none
of them has any influence on results.
"""

from __future__ import annotations

import heapq
import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, TypeVar

from endive.config.study import Study, run_identity
from endive.pipeline.dataset.part_files import DETAIL_RUNS, DETAIL_TRANSACTIONS, Part
from endive.pipeline.dataset.referred_files import Files, by_content, with_local_paths
from endive.results import MODEL_VERSION, SCHEMA_VERSION
from endive.workload.expected_txns import RUN_COST_TXNS, expected_txns

TASKS_PER_CORE: Final = 4
TASK_TXNS_MIN: Final = 50_000.0  # a fifth of a second; starting a task takes half as long
PART_TXNS: Final = 500_000  # tens of megabytes of Parquet, about a second of work
DIGEST_BYTES: Final = 6

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One configuration with one seed: everything a worker needs, as plain values."""

    run_id: str
    point: int
    seed: int
    config_hash: str
    config: str  # resolved, as JSON; files are named by content
    values: Mapping[str, Any]  # of the axes and derived keys
    txns: float  # expected
    files: Files = field(default_factory=dict)  # that the configuration refers to

    def local_config(self) -> str:
        """The configuration for a run on this machine, outside a dataset."""
        return json.dumps(with_local_paths(json.loads(self.config), self.files), sort_keys=True, allow_nan=False)

    @property
    def cost(self) -> float:
        """Work, in txns."""
        return self.txns + RUN_COST_TXNS


def plan_runs(study: Study) -> tuple[Run, ...]:
    """Every run of a study, in the order of its grid, then by seed."""
    runs: list[Run] = []
    for point in study.expand():
        plain = point.config.to_dict()
        files = by_content(plain)
        txns = expected_txns(point.config)
        for seed in study.seeds:
            plain["simulation"]["seed"] = seed
            runs.append(
                Run(
                    run_id=run_identity(point.config_hash, seed, MODEL_VERSION),
                    point=point.index,
                    seed=seed,
                    config_hash=point.config_hash,
                    config=json.dumps(plain, sort_keys=True, allow_nan=False),
                    files=files,
                    values=_without_folders(point.values, files),
                    txns=txns,
                )
            )
    return tuple(runs)


def _without_folders(values: Mapping[str, Any], files: Files) -> Mapping[str, Any]:
    """The values of a point, a file of the user's by its name alone."""
    paths = set(files.values())
    return {
        key: Path(value).name if isinstance(value, str) and value in paths else value for key, value in values.items()
    }


def kept_runs(runs: Iterable[Run], detail: str) -> frozenset[str]:
    """The runs whose txns are kept: all, none, or those of the first seed of every configuration."""
    if detail == DETAIL_RUNS:
        return frozenset()
    if detail == DETAIL_TRANSACTIONS:
        return frozenset(run.run_id for run in runs)
    first: dict[int, Run] = {}
    for run in runs:
        first.setdefault(run.point, run)
    return frozenset(run.run_id for run in first.values())


def plan_parts(
    runs: Sequence[Run], *, cores: int, kept: Collection[str] = (), first_number: int = 0
) -> tuple[Part, ...]:
    """Runs in parts: each of one point, none much above ``PART_TXNS``, and enough to keep ``cores`` busy.

    ``kept`` names the runs whose txns are kept.
    """
    points: dict[int, list[Run]] = {}
    for run in runs:
        points.setdefault(run.point, []).append(run)
    parts: list[Part] = []
    for point, members in points.items():
        wanted = max(
            math.ceil(sum(run.cost for run in members) / PART_TXNS), math.ceil(TASKS_PER_CORE * cores / len(points))
        )
        order = {run.run_id: index for index, run in enumerate(members)}
        for chosen in pack(members, min(len(members), wanted), lambda run: run.cost):
            run_ids = sorted((run.run_id for run in chosen), key=order.__getitem__)
            parts.append(Part.of(_part_name(first_number + len(parts), run_ids), run_ids, kept, point))
    return tuple(parts)


def plan_jobs(parts: Sequence[Part], runs: Mapping[str, Run], cost_max: float) -> tuple[list[Part], list[Part]]:
    """The parts of the next job, about ``cost_max`` of work and one at least, and those of later ones."""
    chosen: list[Part] = []
    cost = 0.0
    for part in parts:
        cost += sum(runs[run_id].cost for run_id in part.run_ids)
        if chosen and cost > cost_max:
            break
        chosen.append(part)
    return chosen, list(parts[len(chosen) :])


def plan_tasks(parts: Iterable[Part], runs: Mapping[str, Run], *, cores: int) -> list[list[Part]]:
    """Parts in tasks that finish together, the longest first.

    Up to ``TASKS_PER_CORE`` per core, so that a slow one is no great loss; but no more than have ``TASK_TXNS_MIN`` to
    do, or starting them would be most of the work. One per core there is in any case.
    """

    def cost(part: Part) -> float:
        return sum(runs[run_id].cost for run_id in part.run_ids)

    waiting = list(parts)
    worthwhile = max(cores, int(sum(map(cost, waiting)) // TASK_TXNS_MIN))
    return pack(waiting, min(len(waiting), worthwhile, TASKS_PER_CORE * cores), cost)


def pack(items: Sequence[_Item], count: int, cost: Callable[[_Item], float]) -> list[list[_Item]]:
    """Items in ``count`` bins: the costliest first, each into the bin with the least in it; the fullest bin first."""
    order = sorted(range(len(items)), key=lambda index: (-cost(items[index]), index))
    heap = [(0.0, number) for number in range(count)]
    bins: list[list[_Item]] = [[] for _ in range(count)]
    for index in order:
        load, number = heapq.heappop(heap)
        bins[number].append(items[index])
        heapq.heappush(heap, (load + cost(items[index]), number))
    loads = {number: load for load, number in heap}
    return [bins[number] for number in sorted(range(count), key=lambda number: (-loads[number], number))]


def _part_name(number: int, run_ids: Sequence[str]) -> str:
    """A name that stands for one content: the runs (which hold the model version) and the schema."""
    content = json.dumps([SCHEMA_VERSION, *run_ids])
    return f"part-{number:05d}-{blake2b(content.encode(), digest_size=DIGEST_BYTES).hexdigest()}"
