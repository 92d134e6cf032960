"""The plan of a sweep: which runs there are, which of them share a part, which parts share a task.

``PlannedStudy`` is what a sweep starts from. Pure values: nothing here reads a folder or starts Spark. A part is one
object of transactions; the study alone decides which runs share one, so that every machine plans the same objects. A
task is what Spark repeats if it is lost, a job is what is committed together.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import pyarrow as pa

from endive.config.study import Study, run_identity
from endive.config.toml_text import value_text
from endive.errors import ConfigError
from endive.pipeline.dataset.referred_files import Files, by_content, with_local_paths
from endive.pipeline.dataset.sweep_dataset import DETAIL_RUNS, DETAIL_TRANSACTIONS
from endive.results import MODEL_VERSION
from endive.tables.figure_columns import FIGURES, RESERVED
from endive.workload.expected_txns import RUN_COST_TXNS, expected_txns

TASKS_PER_CORE: Final = 4
TASK_TXNS_MIN: Final = 50_000.0  # a fifth of a second; starting a task takes half as long
PART_TXNS_MAX: Final = 250_000.0  # of work in one object: some megabytes of Parquet, about a second
PART_TXNS_MIN: Final = 10_000.0
PARTS_WANTED: Final = 32  # of a study, if its parts are between these sizes: enough for the cores of a machine
_SEED: Final = "@seed@"  # in the configuration that the seeds of a point share
TXN_S: Final = {"reference": 1e-3}  # of one core, by the rule of thumb
TXN_COMPILED_S: Final = 4e-6

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One configuration with one seed: everything a worker needs, as plain values."""

    run_id: str
    point: int
    seed: int
    config_hash: str
    point_config: str  # resolved, as JSON without its seed: the seeds of a point share it; files are named by content
    values: Mapping[str, Any]  # of the axes and derived keys
    txns: float  # expected
    files: Files = field(default_factory=dict)  # that the configuration refers to

    @property
    def config(self) -> str:
        """The resolved configuration, as JSON."""
        return self.point_config.replace(f'"{_SEED}"', str(self.seed), 1)

    @property
    def shared_config(self) -> str:
        """The configuration as the seeds of a point share it: a worker parses it once for all of them."""
        return self.point_config.replace(f'"{_SEED}"', "0", 1)

    def local_config(self) -> str:
        """The configuration for a run on this machine, outside a dataset."""
        return json.dumps(with_local_paths(json.loads(self.config), self.files), sort_keys=True, allow_nan=False)

    @property
    def cost(self) -> float:
        """Work, in txns."""
        return self.txns + RUN_COST_TXNS


def txn_s(engine: str) -> float:
    """Processor time of a txn by the rule of thumb."""
    return TXN_S.get(engine, TXN_COMPILED_S)


def plan_runs(study: Study) -> tuple[Run, ...]:
    """Every run of a study, in the order of its grid, then by seed."""
    runs: list[Run] = []
    for point in study.expand():
        plain = point.config.to_dict()
        files = by_content(plain)
        txns = expected_txns(point.config)
        plain["simulation"]["seed"] = _SEED
        config = json.dumps(plain, sort_keys=True, allow_nan=False)
        values = _without_folders(point.values, files)
        for seed in study.seeds:
            runs.append(
                Run(
                    run_id=run_identity(point.config_hash, seed, MODEL_VERSION),
                    point=point.index,
                    seed=seed,
                    config_hash=point.config_hash,
                    point_config=config,
                    files=files,
                    values=values,
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


@dataclass(frozen=True, slots=True)
class Part:
    """Runs that are simulated one after another and share an object of transactions."""

    name: str  # within the plan
    run_ids: tuple[str, ...]
    kept: frozenset[str]  # of these runs: whose transactions are kept


def plan_parts(runs: Sequence[Run], *, kept: Collection[str] = (), done: Collection[str] = ()) -> tuple[Part, ...]:
    """Cut the runs of a study, in their order, into parts of about equal work; what is done is left out.

    A part that lost none of its runs is the same part whenever it is planned.
    """
    total = sum(run.cost for run in runs)
    size = min(PART_TXNS_MAX, max(PART_TXNS_MIN, total / PARTS_WANTED))
    groups: list[list[Run]] = []
    cost = 0.0
    for run in runs:
        if not groups or cost + run.cost / 2 > size:
            groups.append([])
            cost = 0.0
        groups[-1].append(run)
        cost += run.cost
    parts = []
    for number, group in enumerate(groups):
        run_ids = tuple(run.run_id for run in group if run.run_id not in done)
        if run_ids:
            parts.append(Part(f"{number:07d}", run_ids, frozenset(run_id for run_id in run_ids if run_id in kept)))
    return tuple(parts)


def plan_jobs(
    parts: Sequence[Part], runs: Mapping[str, Run], cost_max: float, runs_max: int
) -> tuple[list[Part], list[Part]]:
    """Return the parts of the next job, about ``cost_max`` of work and one at least, and those of later ones."""
    chosen: list[Part] = []
    cost, count = 0.0, 0
    for part in parts:
        cost += sum(runs[run_id].cost for run_id in part.run_ids)
        count += len(part.run_ids)
        if chosen and (cost > cost_max or count > runs_max):
            break
        chosen.append(part)
    return chosen, list(parts[len(chosen) :])


def plan_tasks(
    parts: Iterable[Part], runs: Mapping[str, Run], *, cores: int, per_core: int = TASKS_PER_CORE
) -> list[list[Part]]:
    """Return parts in tasks that finish together, the longest first.

    Up to ``per_core`` per core, so that a slow one is no great loss; but no more than have ``TASK_TXNS_MIN`` to do, or
    starting them would be most of the work. One per core there is in any case.
    """

    def cost(part: Part) -> float:
        return sum(runs[run_id].cost for run_id in part.run_ids)

    waiting = list(parts)
    worthwhile = max(cores, int(sum(map(cost, waiting)) // TASK_TXNS_MIN))
    return pack(waiting, min(len(waiting), worthwhile, per_core * cores), cost)


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


# ---- a study with its runs ---------------------------------------------------------------------------


RUNS_UNASKED_MAX: Final = 10_000  # more want --yes
TXNS_UNASKED_MAX: Final = 500_000_000


@dataclass(frozen=True, slots=True)
class PlannedStudy:
    """A study with its runs expanded and its columns typed; nothing has run yet."""

    study: Study
    runs: tuple[Run, ...]
    axes: tuple[pa.Field, ...]

    @classmethod
    def of(cls, study: Study) -> PlannedStudy:
        """Expand a study; ConfigError with every problem of every combination."""
        unknown = [metric for metric in study.report.metrics if metric not in FIGURES]
        if unknown:
            raise ConfigError([f"study.report.metrics: '{metric}' is not a figure." for metric in unknown])
        runs = plan_runs(study)
        return cls(study, runs, axis_fields(study.columns, runs))

    @property
    def txns(self) -> float:
        """Expected txns of all runs."""
        return sum(run.txns for run in self.runs)

    def refuse_if_large(self) -> None:
        """Raise ConfigError if the study is larger than anybody wants by accident."""
        for count, limit, what in (
            (len(self.runs), RUNS_UNASKED_MAX, "runs"),
            (int(self.txns), TXNS_UNASKED_MAX, "expected txns"),
        ):
            if count > limit:
                raise ConfigError(
                    f"The study has {count:,} {what}; above {limit:,}, say that you mean it with --yes "
                    "(--dry-run shows the grid)."
                )


def axis_fields(names: Sequence[str], runs: Sequence[Run]) -> tuple[pa.Field, ...]:
    """One column per axis or derived key, typed by the values the runs have."""
    taken = [name for name in names if name in RESERVED]
    if taken:
        raise ConfigError([f"axes: '{name}' is the name of a column of the results; rename it." for name in taken])
    points: dict[int, Mapping[str, Any]] = {run.point: run.values for run in runs}
    return tuple(
        pa.field(name, _type_of(values[name] for values in points.values() if name in values)) for name in names
    )


def axis_values(fields: Iterable[pa.Field], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of one run, as their columns hold them; null where a point leaves an axis to the base."""
    return {field.name: _cell(field, values.get(field.name)) for field in fields}


def _type_of(values: Iterable[Any]) -> pa.DataType:
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    if kinds and kinds <= {int, float}:
        return pa.float64()
    return pa.string()


def _cell(field: pa.Field, value: Any) -> Any:
    if value is None:
        return None
    if field.type == pa.float64():
        return float(value)
    if field.type == pa.string() and not isinstance(value, str):
        return value_text(value)
    return value
