"""If the model does not explain a table: which single change of what was assumed explains most of it?

Each change is replayed with few seeds and judged by how many figures agree then. What is found is where to look next,
not a proof: two assumptions that are wrong can hide each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from endive.config import apply_overrides, parse_config, read_toml
from endive.config.capabilities import is_profile_path
from endive.config.reading.format_switch import format_of
from endive.config.rules.key_effects import DELTA, ICEBERG
from endive.config.toml_text import value_text
from endive.errors import EndiveError
from endive.observation.measurement.store_profile import profile_text
from endive.observation.replay.figures import Figure
from endive.storage import profile_file

FACTORS: Final = (0.5, 2.0, 4.0, 10.0)
WORKERS: Final = (1, 2, 4)
WORK_FACTORS: Final = (1.0, 4.0)  # of a worker's time, in latencies
RETRIES: Final = (0, 1, 10)
READS: Final = ("table", "partitions", "files")
STORE, CATALOG, WORKERS_KEY, PACE = "storage", "catalog", "catalog.service.workers", "pace"  # what may be changed
ERROR_CAP: Final = 10.0  # one figure that is far off does not outweigh all others
GAIN_MIN: Final = 1.0  # in units of what is allowed; less is noise
_STORE: Final = "Measure the store from where your writers run, while they run: endive measure store."
_CATALOG: Final = "Measure the catalog from where your writers run: endive measure catalog; endive measure --check."
_MEASURED: Final = (
    "What was measured is not what the writers saw: measure again beside them, and look whether they share a machine, "
    "a connection pool or a lock."
)
_READ: Final = "Look at the statement: which predicates on the target can its engine push down? docs/model/conflicts.md"
_FILES: Final = {
    ICEBERG: "Count the files a statement touches: deleted-data-files and added-delete-files of its summaries.",
    DELTA: "Count the files a statement touches: the remove actions of its commits.",
}
_WORK: Final = "Log when the statement began and when it committed: the column runtime_ms of a log."
_AGAIN: Final = "at how often the scheduler starts a failed statement again."
_RETRY: Final = {
    ICEBERG: f"Look at commit.retry.* of the table, and {_AGAIN}",
    DELTA: f"Look at max_commit_retries of the writer, and {_AGAIN}",
}
_KEPT: Final = "Look whether the job loads its table for every commit or keeps it."
_PACE: Final = (
    "Some minutes were slow for everybody: look what else ran on the machine, the store or the network then. "
    "endive replay --fit goes by it."
)
_LEVEL: Final = {
    ICEBERG: "Look at write.*.isolation-level of the table, and of the writer's options.",
    DELTA: "Look at delta.isolationLevel of the table.",
}
OTHER_LEVEL: Final = {ICEBERG: "snapshot", DELTA: "write_serializable"}
READERS: Final = {"validated_overwrite", "merge", "append_after_read"}  # kinds that fail by what they have read

Judge = Callable[[Mapping[str, Any]], Sequence[tuple[str, Figure]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One assumption that is another."""

    key: str  # which
    words: str
    document: Mapping[str, Any]
    look: str  # what to measure, or to look at, next
    judge: Judge | None = None  # if not the usual one


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The change that explains most."""

    key: str
    words: str
    agree: int
    before: int
    total: int
    look: str

    @property
    def text(self) -> str:
        """As a sentence, and what to do next."""
        if self.agree <= self.before:
            return f"No single change makes more figures agree; with {self.words} the others are nearer. {self.look}"
        return (
            f"One change explains most: with {self.words}, {self.agree} of {self.total} figures agree instead of "
            f"{self.before}. {self.look}"
        )


def find_cause(
    document: Mapping[str, Any], judge: Judge, scratch: Path, *, is_measured: bool, judge_uneven: Judge | None = None
) -> Cause | None:
    """The single change with which most figures agree; None if none is better than what is assumed.

    ``judge_uneven`` judges by the pace that was seen, if that was uneven.
    """
    before = judge(document)
    changes = list(_changes(document, scratch, is_measured=is_measured))
    if judge_uneven is not None:
        words = "requests as slow by the minute as the attempts seen"
        changes.append(Change(key=PACE, words=words, document=document, look=_PACE, judge=judge_uneven))
    best: tuple[float, Cause] | None = None
    for change in changes:
        try:
            figures = (change.judge or judge)(change.document)
        except EndiveError:
            continue  # a change that the rest of the configuration does not allow
        gain = misfit(before) - misfit(figures)
        if gain > max(GAIN_MIN, best[0] if best else 0.0):
            agree, agreed = (sum(figure.holds for _, figure in each) for each in (figures, before))
            told = {"key": change.key, "words": change.words, "look": change.look}
            best = gain, Cause(**told, agree=agree, before=agreed, total=len(figures))
    return None if best is None else best[1]


def misfit(figures: Sequence[tuple[str, Figure]]) -> float:
    """Figures that disagree, and how far: each at most ten times what is allowed."""
    return sum(0.0 if figure.holds else min(ERROR_CAP, figure.error) for _, figure in figures)


def _changes(document: Mapping[str, Any], scratch: Path, *, is_measured: bool) -> Iterator[Change]:
    for factor in FACTORS:
        words = _describe_speed("a store", factor)
        slower = scale_store(document, factor, scratch)
        if slower is not None:
            yield Change(key=STORE, words=words, document=slower, look=_MEASURED if is_measured else _STORE)
    if format_of(document) == ICEBERG:  # a log of Delta needs no catalog
        yield from _catalog_changes(document, is_measured=is_measured)
    for source in document["source"]:
        for keys, look in _of_source(source, format_of(document)):
            name = source["name"]
            words = ", ".join(f"source.{name}.{key} = {value_text(value)}" for key, value in keys.items())
            changed = apply_overrides(document, {f'source."{name}".{key}': value for key, value in keys.items()})
            yield Change(key=f"source.{name}.{next(iter(keys))}", words=words, document=changed, look=look)


def _describe_speed(what: str, factor: float) -> str:
    return f"{what} {factor:g} times as slow" if factor > 1.0 else f"{what} {1 / factor:g} times as fast"


def _catalog_changes(document: Mapping[str, Any], *, is_measured: bool) -> Iterator[Change]:
    for factor in FACTORS:
        words = _describe_speed("a catalog", factor)
        look = _MEASURED if is_measured else _CATALOG
        yield Change(key=CATALOG, words=words, document=_scale_catalog(document, factor), look=look)
    for workers, factor in itertools.product(WORKERS, WORK_FACTORS):
        words = f"a catalog that serves {workers} at a time"
        words += f", each for {factor:g} times its latency" if factor != 1.0 else ""
        changed = _with_workers(document, workers, factor)
        yield Change(key=WORKERS_KEY, words=words, document=changed, look=_CATALOG)


def _of_source(source: Mapping[str, Any], format: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Other values of what one source is taken to do."""
    if READERS & source.get("operation_types", {}).keys() and source.get("overwrite") != "replace_partitions":
        yield from (({"read": read}, _READ) for read in READS if read != source.get("read"))
        is_default = source.get("isolation", "serializable") == "serializable"
        yield {"isolation": OTHER_LEVEL[format] if is_default else "serializable"}, _LEVEL[format]
    touched = source.get("touched_files")
    if isinstance(touched, int):
        yield from (({"touched_files": max(1, round(touched * by))}, _FILES[format]) for by in (0.2, 5.0, 20.0))
    runtime = source.get("runtime", {})
    if runtime.get("ms", 0.0) + sum(ms for _, ms in runtime.get("quantiles", ())) > 0.0:
        yield from (({"runtime": scale_times(runtime, by)}, _WORK) for by in (0.2, 0.5, 2.0, 5.0))
    yield from (({"retry": retries}, _RETRY[format]) for retries in RETRIES if retries != source.get("retry"))
    if source["arrivals"]["kind"] == "closed" and not source.get("keeps_table"):
        yield {"keeps_table": True}, _KEPT


def scale_times(table: Any, factor: float) -> Any:
    """A distribution, or a table of them, with every time multiplied."""
    if isinstance(table, Mapping):
        return {
            key: [[share, ms * factor] for share, ms in value]
            if key == "quantiles"
            else value * factor
            if isinstance(value, (int, float)) and not isinstance(value, bool) and (key == "ms" or key.endswith("_ms"))
            else scale_times(value, factor)
            for key, value in table.items()
        }
    return table


def scale_store(document: Mapping[str, Any], factor: float, scratch: Path) -> dict[str, Any] | None:
    """The configuration on a store whose requests take ``factor`` times as long; its profile is written to scratch."""
    storage = document["storage"]
    if storage["provider"] == "constant":
        return apply_overrides(document, {"storage.latency_ms": storage["latency_ms"] * factor})
    built_in = Path(profile_file.__file__).parent / "profiles" / f"{storage['provider']}.toml"
    place = Path(storage["provider"]) if is_profile_path(storage["provider"]) else built_in
    if not place.is_file():
        return None
    profile = read_toml(place)
    for part in ("latency", "objects", "floor"):
        if part in profile:
            profile[part] = scale_times(profile[part], factor)
    file = scratch / f"store-{factor:g}.toml"
    file.write_text(profile_text(profile, ()), encoding="utf-8")
    return apply_overrides(document, {"storage.provider": str(file)})


def _catalog_latency(document: Mapping[str, Any], factor: float) -> Any:
    """What one request to the catalog takes, so many times over."""
    catalog = parse_config(document).to_dict()["catalog"]
    latency = catalog.get("latency", {"distribution": "fixed", "ms": catalog.get("latency_ms", 1.0)})
    return scale_times(latency, factor)


def _scale_catalog(document: Mapping[str, Any], factor: float) -> dict[str, Any]:
    given = {key: value for key, value in document["catalog"].items() if key != "latency_ms"}
    return {**document, "catalog": {**given, "latency": _catalog_latency(document, factor)}}


def _with_workers(document: Mapping[str, Any], workers: int, factor: float) -> dict[str, Any]:
    """So many workers, each busy for so many times the catalog's latency, which itself becomes the way there."""
    time = _catalog_latency(document, factor)
    service = {**document["catalog"].get("service", {}), "workers": workers, "time": time}
    return {**document, "catalog": {**document["catalog"], "service": service}}
