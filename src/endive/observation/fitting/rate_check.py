"""A fitted configuration is simulated before it is handed over: does each source commit as often as it was seen to?

Two things are settled by it. A client that submits again when it is done is given the work that its cycle leaves
unexplained: between two commits of it there is work, and work is no thinking. And of a statement whose filter nobody
knows, the widest is taken with which it commits as often as it did; if there is none and its work was a guess too, the
widest without work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from endive.config import apply_overrides, parse_config
from endive.observation.exact_intervals import count_interval
from endive.observation.fitting.sources import NO_WORK, FittedSource, usual
from endive.observation.history import TABLE_MOVED
from endive.simulation import Simulation
from endive.workload.expected_txns import expected_txns

RUNS: Final = 3
TXNS_MAX: Final = 20_000  # in one run; of a busier table a part of the time is simulated
REFERENCE_TXNS_MAX: Final = 1_500  # the compiled engine is worth loading from here on
ALLOWED: Final = 0.05
COUNT_MAX: Final = 1e9  # of commits in a folder
CYCLE_ALLOWED: Final = 0.02
COLUMNS: Final = ("source", "status", "reason", "total_latency_ms")
ENDED: Final = ("committed", "aborted")
PASSES: Final = 3
READS: Final = ("table", "partitions", "files")  # widest first
_LATENCIES: Final = "the latencies of storage.provider and of the commit point"
_CAUSES: Final = {
    "validation_exception": "source.{name}.read, touched_files and isolation",
    "history_expired": "source.{name}.runtime",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """Txns of one source in a run, on average."""

    submitted: float
    committed: float
    took_ms: float  # the usual time from submission to the end, of those that ended
    reason: str  # why most of those failed that failed


@dataclass(frozen=True, slots=True, kw_only=True)
class RateCheck:
    """One source: commits seen, and commits of the model in as long a time."""

    name: str
    seen: int
    interval: tuple[float, float]
    simulated: float
    submitted: float
    reason: str
    arrivals: str
    tried: int  # seen to commit or to fail
    seen_reason: str  # why most of those failed that were seen to
    down: float = 0.0  # how often it would have submitted while it was down

    @property
    def holds(self) -> bool:
        """Whether they differ by no more than their noise, or by 5 %."""
        low, high = self.interval
        near = ALLOWED * self.seen
        return min(low, self.seen - near) <= self.simulated <= max(high, self.seen + near)

    @property
    def cause(self) -> str:
        """Which assumption makes the difference."""
        if self.simulated < self.interval[0] and self.submitted > self.simulated * (1.0 + ALLOWED):
            return _CAUSES.get(self.reason, _LATENCIES).format(name=self.name)
        if self.interval[1] < self.simulated <= self.tried * (1.0 + ALLOWED):
            return (
                f"{_CAUSES.get(self.seen_reason, _LATENCIES).format(name=self.name)}; what failed commits in the model"
            )
        if self.arrivals == "closed":
            return f"source.{self.name}.runtime and arrivals.think_ms, or {_LATENCIES}"
        return f"source.{self.name}.arrivals"

    @property
    def text(self) -> str:
        """The comparison as a sentence."""
        return self.counts if self.holds else f"{self.counts}. What makes the difference: {self.cause}"

    @property
    def counts(self) -> str:
        """What was seen beside what the model does."""
        seen = f"{self.name}: {self.seen:,} commit{'s' * (self.seen != 1)} seen"
        seen += f" of {self.tried:,} tried" if self.tried > self.seen else ""
        model = f"{self.simulated:,.0f} in the model in the same time"
        failed = self.submitted - self.simulated
        share = f", {100.0 * failed / self.submitted:.0f} % of its txns fail" if failed > 0.5 else ""
        return f"{seen}, {model}" if self.holds else f"{seen}, but {model}{share}"


def settle(
    document: Mapping[str, Any], sources: Sequence[FittedSource], window_ms: float
) -> tuple[dict[str, Any], list[RateCheck], list[str]]:
    """The configuration with work and filters settled, how its rates compare, and what was chosen."""
    settled, told = _with_work(document, sources, window_ms)
    settled, more = _with_reads(settled, sources, window_ms)
    rates = simulate(settled, sources, window_ms)
    return settled, [check(source, settled, rates[source.name]) for source in sources], told + more


def settle_again(document: Mapping[str, Any], rates: Mapping[str, Any], window_ms: float) -> list[RateCheck]:
    """How the rates compare of a configuration that a replay has changed; ``rates`` is what ``findings`` kept of them.

    Left out are sources of which the folder, an older one or a damaged one, does not say how often they tried.
    """
    names = {each["name"] for each in document["source"]}
    kept = {name: each for name, each in rates.items() if name in names and _is_whole(each)}
    simulated = _simulate(document, {name: each["tried"] for name, each in kept.items()}, window_ms) if kept else {}
    return [_compare(name, each, document, simulated[name]) for name, each in kept.items()]


def _is_whole(rate: Any) -> bool:
    """Whether something that was read is what ``findings`` writes of a source that tried to commit."""
    if not isinstance(rate, dict) or not isinstance(rate.get("seen_reason"), str):
        return False
    counts: list[Any] = [rate.get(key) for key in ("seen", "tried", "down")]
    return all(type(count) in (int, float) and 0.0 <= count <= COUNT_MAX for count in counts) and rate["tried"] > 0


def simulate(document: Mapping[str, Any], sources: Sequence[FittedSource], window_ms: float) -> dict[str, Simulated]:
    """What each source does in the time the table was watched, or in as much of it as is affordable."""
    return _simulate(document, {source.name: len(source.commits) for source in sources}, window_ms)


def _simulate(document: Mapping[str, Any], tried: Mapping[str, int], window_ms: float) -> dict[str, Simulated]:
    part = min(1.0, TXNS_MAX / sum(tried.values()))
    config = parse_config(_set_duration(document, part * window_ms))
    if (total := expected_txns(config)) > TXNS_MAX:  # of one that was seldom written to for most of the time
        part *= TXNS_MAX / total
        config = parse_config(_set_duration(document, part * window_ms))
    simulation = Simulation(config)
    engine = "reference" if total <= REFERENCE_TXNS_MAX else "auto"
    submitted: Counter[str] = Counter()
    committed: Counter[str] = Counter()
    took_ms: dict[str, list[float]] = {name: [] for name in tried}
    reasons: dict[str, Counter[str]] = {name: Counter() for name in tried}
    for seed in range(RUNS):
        table = simulation.run(seed, engine=engine).transactions.select(COLUMNS)
        for name, status, reason, took in zip(*(column.to_pylist() for column in table.columns), strict=True):
            submitted[name] += 1
            took_ms[name] += [took] if status in ENDED else []
            committed[name] += status == "committed"
            reasons[name][reason] += status == "aborted"
    return {
        name: Simulated(
            submitted=submitted[name] / RUNS / part,
            committed=committed[name] / RUNS / part,
            took_ms=usual(took_ms[name]) or 0.0,
            reason=max(reasons[name], key=lambda each: reasons[name][each], default=""),
        )
        for name in tried
    }


def _set_duration(document: Mapping[str, Any], duration_ms: float) -> dict[str, Any]:
    """For so long, measured as a whole; a source that would begin later begins at once."""
    plain = apply_overrides(document, {})
    plain["simulation"] |= {"duration_ms": max(1.0, duration_ms), "warmup_ms": 0.0, "cooldown_ms": 0.0}
    for source in plain["source"]:
        if source.get("start_ms", 0.0) >= plain["simulation"]["duration_ms"]:
            source.pop("start_ms")
            source.pop("stop_ms", None)
    return plain


def _seen(source: FittedSource) -> int:
    return sum(commit.is_committed for commit in source.commits)


def check(source: FittedSource, document: Mapping[str, Any], in_model: Simulated) -> RateCheck:
    """One source of a configuration held against what was seen of it."""
    reasons = Counter(commit.reason for commit in source.commits if not commit.is_committed)
    seen = {
        "seen": _seen(source),
        "tried": len(source.commits),
        "seen_reason": reasons.most_common(1)[0][0] if reasons else "",
        "down": source.arrivals.down_ms / source.arrivals.gap_mean_ms,
    }
    return _compare(source.name, seen, document, in_model)


def _compare(name: str, seen: Mapping[str, Any], document: Mapping[str, Any], in_model: Simulated) -> RateCheck:
    """In the long run it ran for all of the time; what was seen, while it was not down."""
    return RateCheck(
        name=name,
        seen=seen["seen"],
        interval=count_interval(seen["seen"]),
        simulated=in_model.committed - seen["down"],
        submitted=in_model.submitted - seen["down"],
        reason=in_model.reason,
        arrivals=str(_section(document, name)["arrivals"]["kind"]),
        tried=seen["tried"],
        seen_reason=seen["seen_reason"],
        down=seen["down"],
    )


def _section(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    section: dict[str, Any] = next(each for each in document["source"] if each["name"] == name)
    return section


# ---- work ----------------------------------------------------------------------------------------------


def _with_work(
    document: Mapping[str, Any], sources: Sequence[FittedSource], window_ms: float
) -> tuple[dict[str, Any], list[str]]:
    """Closed loops turn as fast as they did, and statements take as long as they did."""
    changed = apply_overrides(document, {})
    fitted = [each for each in sources if _is_loop(changed, each) or _statement_ms(each) is not None]
    wholes = {each.name for each in fitted if _statement_ms(each) is not None}
    added_ms = {each.name: 0.0 for each in fitted}
    for _ in range(PASSES if fitted else 0):
        rates = simulate(changed, sources, window_ms)
        off = {each.name: _beyond_ms(changed, each, rates[each.name], window_ms) for each in fitted}
        if not any(off.values()):
            break
        for name, beyond_ms in off.items():
            added_ms[name] += beyond_ms
            _set_cycle(_section(changed, name), _section(document, name), added_ms[name], name in wholes)
    told = [
        f"source.{each.name}.runtime = {added_ms[each.name]:,.0f} ms more: what a turn of it takes beyond what the "
        "model knows of"
        for each in fitted
        if added_ms[each.name] >= 1.0 and _is_loop(changed, each) and each.name not in wholes
    ]
    return changed, told


def _is_loop(document: Mapping[str, Any], source: FittedSource) -> bool:
    return bool(_section(document, source.name)["arrivals"]["kind"] == "closed")


def _statement_ms(source: FittedSource) -> float | None:
    """How long a statement of it usually takes, if a log says that and does not tell its work from its commit."""
    if any(each.runtime_ms is not None for each in source.commits):
        return None
    whole = [each.duration_ms for each in source.commits if each.is_statement and each.reason != TABLE_MOVED]
    return usual([float(ms) for ms in whole if ms is not None])


def _beyond_ms(document: Mapping[str, Any], source: FittedSource, in_model: Simulated, window_ms: float) -> float:
    """What a turn, or a statement, takes beyond the model's; 0 if that is near enough."""
    whole_ms = _statement_ms(source)
    if whole_ms is not None:
        seen_ms, model_ms = whole_ms, in_model.took_ms
    else:
        active_ms = (source.stop_ms or window_ms) - (source.start_ms or 0.0)
        seen_ms = active_ms / len(source.commits)
        model_ms = active_ms / max(1.0, in_model.submitted)
    beyond_ms = seen_ms - model_ms
    return beyond_ms if abs(beyond_ms) > CYCLE_ALLOWED * seen_ms else 0.0


def _set_cycle(section: dict[str, Any], fitted: Mapping[str, Any], added_ms: float, is_whole: bool) -> None:
    """A turn longer by work, or shorter by thinking less and then working less; a log of statements knows pauses."""
    spared_ms = 0.0
    if fitted["arrivals"]["kind"] == "closed" and not is_whole:
        think = fitted["arrivals"]["think_ms"]
        thought = [[share, max(0.0, ms + min(0.0, added_ms))] for share, ms in think["quantiles"]]
        section["arrivals"] = {**fitted["arrivals"], "think_ms": {**think, "quantiles": thought}}
        spared_ms = float(np.mean([ms for _, ms in think["quantiles"]]) - np.mean([ms for _, ms in thought]))
    section["runtime"] = shift_work(fitted["runtime"], added_ms if added_ms > 0.0 else added_ms + spared_ms)


def shift_work(work: Mapping[str, Any], by_ms: float) -> dict[str, Any]:
    """A law of work, longer or shorter by so much; none is below nothing."""
    if "quantiles" in work:
        return {**work, "quantiles": [[share, round(max(0.0, ms + by_ms), 3)] for share, ms in work["quantiles"]]}
    return {**work, "ms": round(max(0.0, work["ms"] + by_ms), 3)}


# ---- what was read -------------------------------------------------------------------------------------


def _with_reads(
    document: Mapping[str, Any], sources: Sequence[FittedSource], window_ms: float
) -> tuple[dict[str, Any], list[str]]:
    """The widest filter with which a statement commits as often as it was seen to; what a log told stays."""
    changed = apply_overrides(document, {})
    told = []
    is_partitioned = "partitions" in changed.get("catalog", {})
    rates = simulate(changed, sources, window_ms) if any(map(_is_guessed, sources)) else {}
    for source in filter(_is_guessed, sources):
        section = _section(changed, source.name)
        first = {key: section[key] for key in ("read", "runtime")}
        unsaid = "no summary tells the filter of a statement"
        if check(source, changed, rates[source.name]).holds:
            told.append(f'source.{source.name}.read = "{first["read"]}": {unsaid}')
            continue
        before = f'"{first["read"]}" the model commits {rates[source.name].committed:,.0f} of {_seen(source):,}'
        for read, work in _narrower(source, first, is_partitioned=is_partitioned):
            section |= {"read": read, "runtime": work}
            if check(source, changed, simulate(changed, sources, window_ms)[source.name]).holds:
                idle = f" and runtime = {work['ms']:g} ms" if work != first["runtime"] else ""
                told.append(f'source.{source.name}.read = "{read}"{idle}: {unsaid}; with {before}')
                break
        else:
            section |= first
            told.append(f'source.{source.name}.read = "{first["read"]}": {unsaid}')
    return changed, told


def _narrower(
    source: FittedSource, first: Mapping[str, Any], *, is_partitioned: bool
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What else it may have read, widest first; if its work was a guess, all of them once more without work."""
    reads = [read for read in READS[READS.index(first["read"]) :] if read != "partitions" or is_partitioned]
    yield from ((read, first["runtime"]) for read in reads[1:])
    yield from ((read, NO_WORK) for read in reads if source.is_work_assumed)


def _is_guessed(source: FittedSource) -> bool:
    return source.validates and not source.logged_read
