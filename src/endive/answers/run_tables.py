"""The tables and labelled lines of a run: its sources, phases, requests, staleness, and how transactions failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from endive.answers.answer import RIGHT, Cell, Column, Fact, Table, make_table
from endive.answers.format_words import is_delta, phase_name, protocol_of
from endive.answers.headline import TONES
from endive.config import SimulationConfig
from endive.config.catalog_profile import catalog_profile
from endive.objectives import CANNOT_TELL, MET, NOT_MET, Estimate, duration_text, field_at
from endive.objectives.certainty import outcome_word
from endive.objectives.fields import Field
from endive.objectives.names import KIND, SOURCE
from endive.objectives.verdict_text import NOTHING, interval_text, number_text, share_digits

if TYPE_CHECKING:
    from endive.answers.run_answer import RunAnswer

NEVER: Final = "never"
RARE_PER_S: Final = 0.01  # sources with fewer transactions are counted per day
DAY_S: Final = 86_400.0
TABLES_SHOWN_MAX: Final = 20
PHASES_SHOWN_MAX: Final = 5
PERCENTILES: Final = ("p50", "p95", "p99")
FAILURES: Final[Mapping[str, str]] = {
    "retries_exhausted": "ran out of retries (CommitFailedException)",
    "validation_exception": "met a conflicting commit (ValidationException), which is not retried",
    "timeout": "ran out of time",
    "commit_state_unknown": "lost the answer to their commit (CommitStateUnknownException)",
    "history_expired": "needed a snapshot that had expired",
    "storage_failed": "were throttled by the store until they gave up",
}
_FATES: Final = {"lost": "lost", "waiting": "waiting at the end", "twice": "written twice"}
_STORES: Final = {
    "s3": "S3",
    "s3x": "S3 Express",
    "gcp": "Google Cloud Storage",
    "azure": "Azure",
    "azurex": "Azure Premium",
}
_COMMITS: Final = {"cas": "swapped object", "append": "appended log", "put_if_absent": "put-if-absent"}


def source_table(answer: RunAnswer) -> Table:
    """Return one row per source: alone with counts, several with their verdicts."""
    names = answer.parts(SOURCE)
    table = part_table(answer, SOURCE, names)
    return table


def part_table(answer: RunAnswer, scope: str, names: Sequence[str]) -> Table:
    """Return one row per source, kind or table."""
    is_single = len(names) == 1
    figures = {name: answer.figures(scope, name) or {} for name in names}
    outcomes = {name: _outcome(answer, scope, name) for name in names}
    is_rare = any((each["offered_per_s"] or 0.0) < RARE_PER_S for each in figures.values())
    is_judged = not is_single and any(outcomes.values())
    is_stale = any(part.subject.field.path[0] == "freshness_ms" for part in answer.verdict.parts)
    columns = [Column(name=scope)]
    columns += [Column(name="committed", align=RIGHT, priority=1)] if is_single else []
    columns += [Column(name="success [95 % CI]")]
    columns += [Column(name="per day" if is_rare else "commits/s", align=RIGHT, priority=4)]
    columns += [
        Column(name=name.upper(), align=RIGHT, priority=place)
        for place, name in zip((6, 7, 3), PERCENTILES, strict=True)
    ]
    columns += [Column(name="stale, P95", align=RIGHT, priority=5)] if is_stale else []
    columns += [Column(name="objective", priority=8)] if is_judged else []
    rows = []
    for name in names:
        each, outcome = figures[name], outcomes[name]
        latency, txns = each["commit_latency_ms"], each["txns"]
        ended = txns["committed"] + sum(txns["aborted"].values())
        cells = [Cell(name)]
        cells += [Cell(f"{txns['committed']:,} of {ended:,}", txns["committed"])] if is_single else []
        cells += [_success(answer.estimate(scope, name, "success_rate"))]
        cells += [
            _per_day(each["offered_per_s"])
            if is_rare
            else Cell(_rate(each["committed_per_s"]), each["committed_per_s"])
        ]
        cells += [_duration(latency[part]) for part in PERCENTILES]
        cells += [Cell(age_text(each, "p95"))] if is_stale else []
        cells += [Cell(outcome_word(outcome), outcome, TONES.get(outcome, ""))] if is_judged else []
        rows.append(cells)
    return make_table(columns, rows)


def _outcome(answer: RunAnswer, scope: str, name: str) -> str:
    outcomes = {
        part.outcome for part in answer.verdict.parts if (part.subject.scope, part.subject.name) == (scope, name)
    }
    return next((outcome for outcome in (NOT_MET, CANNOT_TELL, MET) if outcome in outcomes), "")


def _success(estimate: Estimate) -> Cell:
    return Cell(success_text(estimate), estimate.value)


def success_text(estimate: Estimate) -> str:
    """Return a success rate with its interval."""
    field = field_at("success_rate")
    assert isinstance(field, Field)
    if estimate.value is None:
        return NOTHING
    return f"{share_digits(estimate.value)} % {interval_text(field, estimate)}".rstrip()


def _rate(per_s: float | None) -> str:
    return NOTHING if per_s is None else f"{per_s:.2f}" if 0.095 <= per_s < 100 else number_text(per_s)


def _per_day(per_s: float | None) -> Cell:
    if per_s is None:
        return Cell(NOTHING)
    per_day = per_s * DAY_S
    return Cell(f"{float(f'{per_day:.3g}'):,.0f}" if per_day >= 1 else f"{per_day:.2g}", per_day)


def _duration(ms: float | None) -> Cell:
    return Cell(NOTHING if ms is None else duration_text(ms), ms)


def age_text(figures: Mapping[str, Any], part: str) -> str:
    """Return how old the newest visible data are; data that never become visible are never fresh."""
    data, ages = figures["data"], figures["freshness_ms"]
    if data["batches"] and not data["visible"]:
        return NEVER
    return NOTHING if not data["batches"] or ages[part] is None else duration_text(ages[part])


# --- labelled lines -----------------------------------------------------------------------------------


def run_facts(answer: RunAnswer, total: Mapping[str, Any]) -> list[Fact]:
    """Return what failed, where the time goes, and what a commit costs."""
    facts = []
    if failed := failures_text(total["txns"]["aborted"]):
        facts.append(Fact("failed", failed))
    if restarts := total["counters"].get("restarts"):
        started = total["txns"]["submitted"]
        facts.append(
            Fact(
                "restarts",
                f"{restarts:,} jobs restarted after a failure ({restarts / max(1, started):.2g} per transaction)",
            )
        )
    if len(answer.parts(SOURCE)) == 1 and total["txns"]["committed"]:
        facts.append(Fact("latency", phase_shares(total["phases_ms"], is_delta(protocol_of(answer.config)))))
        if (per_commit := total["requests"]["per_committed_txn"]) is not None:
            facts.append(Fact("requests", f"{per_commit:.1f} per commit"))
    return facts


def failures_text(aborted: Mapping[str, int]) -> str:
    """Return how transactions failed, the commonest way first."""
    counts = sorted(((count, reason) for reason, count in aborted.items() if count), reverse=True)
    return "; ".join(
        f"{count:,} {'transaction' if count == 1 else 'transactions'} " * (place == 0)
        + f"{count:,} " * (place > 0)
        + FAILURES.get(reason, f"failed with {reason.replace('_', ' ')}")
        for place, (count, reason) in enumerate(counts)
    )


def phase_shares(phases_ms: Mapping[str, float | None], is_delta_table: bool) -> str:
    """Return the largest parts of the commit latency."""
    phases = {name: ms for name, ms in phases_ms.items() if ms and name != "runtime"}
    whole = sum(phases.values()) or 1.0
    largest = sorted(phases.items(), key=lambda item: -item[1])[:PHASES_SHOWN_MAX]
    return ", ".join(f"{phase_name(name, is_delta_table)} {100 * ms / whole:.0f} %" for name, ms in largest)


def provenance_of(config: SimulationConfig, seeds: Sequence[int]) -> str:
    """Return what was simulated: runs, window, seeds, protocol, store, catalog."""
    times = config.simulation
    measured_ms = times.duration_ms - times.warmup_ms - times.cooldown_ms
    is_middle = times.warmup_ms == times.cooldown_ms
    window = f" ({'middle' if is_middle else 'last'} {duration_text(measured_ms)} measured)"
    length = f"{duration_text(times.duration_ms)}{window if measured_ms < times.duration_ms else ''}"
    runs = (
        f"1 run of {length}, seed {seeds[0]}"
        if len(seeds) == 1
        else f"{len(seeds)} runs of {length}, seeds {seeds[0]}-{seeds[-1]}"
    )
    return f"{runs}; {system_of(config)}"


def system_of(config: SimulationConfig) -> str:
    """Return protocol, store and catalog in a few words."""
    name = protocol_of(config)
    protocol = (
        f"Iceberg {config.commit.release}"
        if name == "iceberg"
        else name
        if config.table.format == "delta"
        else f"protocol {name}"
    )
    store = _STORES.get(config.storage.provider, config.storage.provider)
    profile = None if config.catalog.profile is None else catalog_profile(config.catalog.profile)
    catalog = (
        profile.title if profile is not None else _COMMITS.get(config.catalog.type, f"{config.catalog.type} catalog")
    )
    return f"{protocol} on {store}, {catalog}"


# --- details ------------------------------------------------------------------------------------------


def detail_parts(answer: RunAnswer, total: Mapping[str, Any], identity: str) -> tuple[Table | Fact, ...]:
    """Return everything else that was measured."""
    is_delta_table = is_delta(protocol_of(answer.config))
    parts: list[Table | Fact] = []
    if answer.cases:
        parts.append(part_table(answer, SOURCE, answer.parts(SOURCE)))
    kinds = answer.parts(KIND)
    if len(kinds) > 1:
        parts.append(part_table(answer, KIND, kinds))
    if (ages := staleness_table(answer)) is not None:
        parts.append(ages)
    if total["txns"]["committed"]:
        parts.append(phase_table(total["phases_ms"], is_delta_table))
    if total["requests"]["total"]:
        parts.append(request_table(total["requests"], len(answer.samples)))
    for name in answer.parts(SOURCE):
        txns = (answer.figures(SOURCE, name) or {})["txns"]
        parts.append(Fact(name, outcome_text(txns)))
    latency = total["total_latency_ms"]
    parts.append(
        Fact(
            "total latency",
            f"P50 {_duration(latency['p50']).text}, P95 {_duration(latency['p95']).text} (work and commit)",
        )
    )
    if total["retries_mean"] is not None:
        parts.append(Fact("retries", f"{total['retries_mean']:.2f} per transaction"))
    parts.append(Fact("run", identity))
    return tuple(parts)


def staleness_table(answer: RunAnswer) -> Table | None:
    """Return how old the newest visible data of every stream are; None if there is no stream."""
    rows = []
    for name in answer.parts(SOURCE):
        found = answer.figures(SOURCE, name) or {}
        data = found["data"]
        if not data["batches"]:
            continue
        fates = [f"{data['visible']:,} of {data['batches']:,} visible"]
        fates += [f"{data[fate]:,} {words}" for fate, words in _FATES.items() if data[fate]]
        stale = found["stale_share"]
        rows.append(
            [
                name,
                *(age_text(found, part) for part in (*PERCENTILES, "max")),
                NOTHING if stale is None else f"{share_digits(stale)} %",
                ", ".join(fates),
            ]
        )
    if not rows:
        return None
    columns = (SOURCE, ">P50", ">P95", ">P99", ">max", Column(name="beyond bound", align=RIGHT, priority=2), "batches")
    return make_table(columns, rows, title="Data staleness (age of the newest visible data)")


def phase_table(phases_ms: Mapping[str, float | None], is_delta_table: bool) -> Table:
    """Return the mean time of each phase of a commit."""
    phases = {name: ms for name, ms in phases_ms.items() if ms and name != "runtime"}
    whole = sum(phases.values()) or 1.0
    rows = [
        (phase_name(name, is_delta_table), Cell(duration_text(ms), ms), f"{100 * ms / whole:.1f} %")
        for name, ms in phases.items()
    ]
    return make_table(("phase", ">mean", ">share"), rows, title="Commit latency by phase")


def request_table(requests: Mapping[str, Any], runs: int) -> Table:
    """Return requests per run and per commit."""
    total, per_commit = requests["total"], requests["per_committed_txn"]
    rows = [
        (
            name.replace("_", " "),
            operation.replace("_", " "),
            f"{count / runs:,.0f}",
            NOTHING if per_commit is None else f"{per_commit * count / total:.2f}",
        )
        for name, by_operation in requests["counts"].items()
        for operation, count in by_operation.items()
        if count
    ]
    read, written = (size_text(requests[name] / runs) for name in ("bytes_read", "bytes_written"))
    footer = f"{read} read and {written} written per run"
    return make_table(("object", "operation", ">per run", ">per commit"), rows, title="Requests", footer=footer)


def outcome_text(txns: Mapping[str, Any]) -> str:
    """Return ``0 of 24 committed, 24 ran out of retries``."""
    ended = txns["committed"] + sum(txns["aborted"].values())
    lost = [
        f"{count:,} {FAILURES.get(name, name.replace('_', ' ')).partition(' (')[0]}"
        for name, count in txns["aborted"].items()
        if count
    ]
    lost += [f"{count:,} still {stage}" for stage, count in txns["in_flight"].items() if count]
    return ", ".join([f"{txns['committed']:,} of {ended:,} committed", *lost])


def size_text(n_bytes: float) -> str:
    """Return bytes in the largest decimal unit that leaves at least one before the point."""
    value = float(n_bytes)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:,.0f} {unit}" if unit == "bytes" else f"{value:,.1f} {unit}"
        value /= 1000
    return f"{value:,.1f} TB"
