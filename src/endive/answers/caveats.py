"""What an answer hinges on beyond its figures: assumed, left out, not said; the weightiest first.

One piece of code for every command, page and notebook. The sentences about assumed latencies are
``endive.results.knowledge``'s, those about what is not said ``endive.config.unsaid``'s; what is too little in a
window is said in ``endive.results.summary``. Where a run can say how much hinges on a caveat, it does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from endive.answers.estimates import pooled_figures, pooled_window, success_estimate
from endive.answers.replicate import Replicator
from endive.answers.run_count import RUNS, RUNS_MOST, do_runs_differ, runs_note
from endive.answers.sample import Sample
from endive.config import SimulationConfig, apply_overrides, parse_config
from endive.config.availability import hypothetical_notes
from endive.config.catalog_profile import REST_ANSWER_MS_PER_MIB, borrowed_note
from endive.config.sections.simulation import LOG_REPLAY_MS
from endive.config.unsaid import (
    failing_sources,
    overlap_sources,
    overlap_unsaid,
    partition_readers,
    partition_sources,
    partitions_unsaid,
    reading_sources,
    reading_unsaid,
)
from endive.errors import EndiveError
from endive.objectives.duration import duration_text
from endive.objectives.names import ALL, SOURCE
from endive.objectives.verdict_text import share_digits
from endive.results.history import untold_warnings
from endive.results.knowledge import assumed_part, assumption_warnings, sent_figures
from endive.results.summary import warnings_of
from endive.simulation.knowledge import figures_of_config
from endive.workload.expected_txns import arrivals_by_source, expected_by_source

MEETING_RUNS: Final = 2  # with every conflict, to see how much hinges on them
FILES_MET: Final = 1_000  # of a table whose files everybody touches; groups of one compaction have shares of them
RETRIES_TIPPING: Final = 0.4  # of a txn, on average: tables that tip over now and then have more while they do not
ANSWER_MIB: Final = 0.25  # of a list of snapshots, from which on it matters how long it takes to send
LOG_WORK_PART: Final = 0.05  # of the commit latency, from which on it matters how long a client works to read a log
_UNSAID: Final = "unsaid_"  # what begins so, a run can say how much hinges on
_CERTAIN: Final = 2.0  # the weight of what makes figures wrong, whatever they are


@dataclass(frozen=True, slots=True)
class Caveat:
    """A sentence, and how much of an answer hinges on it: a share of txns or of latency, above 1 if all does."""

    text: str
    weight: float
    extent: str = ""  # what a run says about it


def caveats_of(
    config: SimulationConfig,
    samples: Sequence[Sample],
    replicator: Replicator | None = None,
    *,
    is_one_run_meant: bool = False,
) -> tuple[str, ...]:
    """Everything to know before these runs are trusted; with a replicator, with how much it matters."""
    caveats = _collect(config, samples, replicator, is_one_run_meant)
    return tuple(f"{caveat.text} {caveat.extent}".rstrip() for caveat in caveats)


def caveats_of_both(
    ours: tuple[SimulationConfig, Sequence[Sample]],
    theirs: tuple[SimulationConfig, Sequence[Sample]],
    replicator: Replicator | None = None,
) -> tuple[str, ...]:
    """The same of two sides, A and B, each sentence once."""
    a, b = _collect(*ours, replicator, False), _collect(*theirs, replicator, False)
    extents: dict[str, list[str]] = {caveat.text: [] for caveat in (*a, *b)}
    for side, caveats in (("A", a), ("B", b)):
        for caveat in caveats:
            extents[caveat.text] += [f"{side}: {caveat.extent}"] if caveat.extent else []
    return tuple(" ".join([text, *told]) for text, told in extents.items())


def caveats_of_config(config: SimulationConfig) -> tuple[tuple[str, str], ...]:
    """What a configuration leaves unsaid or only supposes, whatever its runs show: a code and a sentence of each."""
    plain = config.to_dict()
    caveats = (
        ("unsaid_reading", reading_unsaid(plain)),
        ("unsaid_overlap", overlap_unsaid(plain)),
        ("unsaid_partitions", partitions_unsaid(plain)),
        ("borrowed_latency", borrowed_note(config.catalog)),
        *(("hypothetical_catalog", note) for note in hypothetical_notes(config)),
        ("missing_log_store", _log_store_note(config)),
        ("uncharged_answers", _answers_note(config)),
        ("one_driver", _one_driver_note(config)),
        ("refused_isolation", _isolation_note(config)),
    )
    return tuple((code, text) for code, text in caveats if text is not None)


def _collect(
    config: SimulationConfig, samples: Sequence[Sample], replicator: Replicator | None, is_one_run_meant: bool
) -> list[Caveat]:
    caveats = [
        *_of_runs(config, samples, is_one_run_meant),
        *_of_unsaid(config, samples, replicator),
        *_of_assumptions(config, samples),
        *_of_log_work(config, samples),
    ]
    return sorted(caveats, key=lambda caveat: -caveat.weight)


def _of_runs(config: SimulationConfig, samples: Sequence[Sample], is_one_run_meant: bool) -> list[Caveat]:
    """What was measured on too little."""
    total = pooled_figures(samples, ALL, "")
    texts = warnings_of(total, pooled_window([sample.window for sample in samples]))
    texts += untold_warnings(samples[0].history)
    if not is_one_run_meant and (note := runs_note(samples)) is not None:
        texts.append(note)
    absent = [
        source.name
        for source in config.sources
        if total["txns"]["submitted"] and not pooled_figures(samples, SOURCE, source.name)["txns"]["submitted"]
    ]
    if absent:
        texts.append(
            f"{', '.join(absent)}: no txn was submitted in the window of any run, so nothing is said of "
            f"{'it' if len(absent) == 1 else 'them'}. {_long_enough_for(config, absent)}"
        )
    if (few := few_runs(total, len(samples), do_differ=do_runs_differ(samples, config))) is not None:
        texts.append(few)
    return [Caveat(text, _CERTAIN) for text in texts]


def _long_enough_for(config: SimulationConfig, absent: Sequence[str]) -> str:
    """How long a run would have them in it."""
    expected = arrivals_by_source(config)
    gaps = [config.simulation.duration_ms / expected[name] for name in absent if expected.get(name)]
    margins_ms = config.simulation.warmup_ms + config.simulation.cooldown_ms
    if not gaps:
        return "Lengthen simulation.duration_ms."
    least = duration_text(2.0 * max(gaps) + margins_ms)
    return f"Lengthen simulation.duration_ms: two of each take about {least}."


def few_runs(total: Mapping[str, Any], runs: int, *, do_differ: bool = False) -> str | None:
    """Few runs may all have missed what some do; where nobody retries, there is nothing of that sort to miss.

    Runs that differ are few for longer: of a table that tips in one run of fifty, 16 have mostly seen none.
    """
    enough = RUNS_MOST if do_differ else RUNS
    if not 1 < runs < enough or (total["retries_mean"] or 0.0) < RETRIES_TIPPING:
        return None
    unseen = 1.0 - 0.05 ** (1.0 / runs)
    return (
        f"Txns retry, so a run may tip over for good: {runs} runs may all miss what {100 * unseen:.0f} % of runs do; "
        f"intervals do not know what no run did. Take {enough} runs or more to rely on them."
    )


def _of_unsaid(config: SimulationConfig, samples: Sequence[Sample], replicator: Replicator | None) -> list[Caveat]:
    """What was read, files that are touched: unsaid, the success is an upper bound; how low it may be is simulated."""
    plain = config.to_dict()
    where_read = _with(config, {f'source."{name}".read': "table" for name in reading_sources(plain)})
    rows: tuple[tuple[str | None, Sequence[str], SimulationConfig | None, str], ...] = (
        (reading_unsaid(plain), reading_sources(plain), where_read, "If the table was read"),
        (overlap_unsaid(plain), failing_sources(plain), _where_all_meet(config), "If they always met"),
        (
            partitions_unsaid(plain),
            partition_readers(plain),
            _where_partitions_meet(config),
            "If they all picked the same",
        ),
    )
    caveats = []
    for text, names, worst, words in rows:
        extent, weight = "", 1.0
        if text is not None and replicator is not None and worst is not None:
            extent, weight = _extent(names, samples, replicator.take(worst, MEETING_RUNS))
        if text is not None:
            caveats.append(Caveat(text, weight, f"{words}: {extent}." if extent else ""))
    return caveats


def _where_all_meet(config: SimulationConfig) -> SimulationConfig | None:
    """The same on a table whose files everybody touches, so that only who minds whom decides.

    A probability of 1 would also fail those who do not mind: a compaction beside an upsert's deletes by key.
    """
    table = config.table.data_files or FILES_MET
    by_files = _with(config, {"table.data_files": table, "conflict.detector": "files"})
    if by_files is None:
        return None
    names = overlap_sources(by_files.to_dict())
    return _with(by_files, {f'source."{name}".touched_files': table for name in names})


def _where_partitions_meet(config: SimulationConfig) -> SimulationConfig | None:
    """The same, where whoever picks partitions by chance always picks the first ones."""
    plain = config.to_dict()
    names = partition_sources(plain)
    choices = {source["name"]: dict(source["partitions"]) for source in plain["source"] if source["name"] in names}
    for choice in choices.values():
        choice["weights"] = [1.0] * choice["count"]
        del choice["selection"]
    return _with(config, {f'source."{name}".partitions': choice for name, choice in choices.items()})


def _extent(names: Sequence[str], samples: Sequence[Sample], worst: Sequence[Sample]) -> tuple[str, float]:
    """How much lower each source's success may be, in words, and the largest difference."""
    told, weight = [], 0.0
    for name in names:
        before = success_estimate([sample.slice(SOURCE, name) for sample in samples]).value
        after = success_estimate([sample.slice(SOURCE, name) for sample in worst]).value
        if before is not None and after is not None:
            is_same = share_digits(after) == share_digits(before)
            told.append(
                f"{name} {share_digits(after)} %" + (" as well" if is_same else f" instead of {share_digits(before)} %")
            )
            weight = max(weight, abs(before - after))
    return ", ".join(told), weight


def _with(config: SimulationConfig, values: Mapping[str, object]) -> SimulationConfig | None:
    """The same with other values; None if the configuration cannot have them."""
    try:
        return parse_config(apply_overrides(config.to_dict(), values))
    except EndiveError:
        return None


def _of_assumptions(config: SimulationConfig, samples: Sequence[Sample]) -> list[Caveat]:
    """Latencies that are guesses."""
    total = pooled_figures(samples, ALL, "")
    counts = total["requests"]["counts"]
    figures = sent_figures(figures_of_config(config), counts)
    part = assumed_part(figures, total["phases_ms"], counts)
    share = 0.0 if part is None else part.share
    caveats = [Caveat(text, share) for text in assumption_warnings(figures, total["phases_ms"], counts)]
    notes = [text for code, text in caveats_of_config(config) if not code.startswith(_UNSAID)]
    return [*(Caveat(note, _CERTAIN) for note in notes), *caveats]


def _is_delta_spark(config: SimulationConfig) -> bool:
    return config.table.format == "delta" and config.delta.client == "spark"


def _of_log_work(config: SimulationConfig, samples: Sequence[Sample]) -> list[Caveat]:
    """What Delta Spark works to read its log was measured on one machine."""
    work_ms = config.delta.log_replay_ms
    if not _is_delta_spark(config) or work_ms != LOG_REPLAY_MS["spark"]:
        return []
    total = pooled_figures(samples, ALL, "")
    latency_ms = total["commit_latency_ms"]["mean"]
    part = (total["phases_ms"]["log_update"] or 0.0) / latency_ms if latency_ms else 0.0
    if part < LOG_WORK_PART:
        return []
    text = (
        f"What Delta Spark does after a commit makes up {100 * part:.0f} % of its latency. If the checksum before its "
        f"own is not written yet it reads the log, and works {work_ms:g} ms each time, as it did on two cores: measure "
        "yours and give delta.log_replay_ms."
    )
    return [Caveat(text, part)]


def _log_store_note(config: SimulationConfig) -> str | None:
    """Delta Spark creates no file on S3 if it is absent, though S3 could."""
    is_on_s3 = config.catalog.type == "put_if_absent" and config.storage.provider in ("s3", "s3x")
    if not _is_delta_spark(config) or not is_on_s3:
        return None
    return (
        "Open-source Delta Spark has no LogStore that creates a commit on S3 only if it is absent: this is what one "
        'would give. Several drivers need catalog.type = "dynamodb", one driver alone "single_driver".'
    )


def _answers_note(config: SimulationConfig) -> str | None:
    """A REST server's answers grow with the list of snapshots, and are as fast as ever unless they are charged."""
    service, table = config.catalog.service, config.table
    is_rest = config.catalog.type == "service" and service.flavour == "rest" and table.format == "iceberg"
    if not is_rest or service.answer_ms_per_mib is not None:
        return None
    made = sum(expected_by_source(config).values()) / config.catalog.num_tables
    kept = min(table.initial_snapshots + made, table.snapshots_kept_max or math.inf)
    list_mib = (table.metadata_base_bytes + table.metadata_bytes_per_snapshot * kept) / 2**20
    if list_mib < ANSWER_MIB:
        return None
    return (
        f"A REST server's answers carry the whole list of snapshots, up to {list_mib:.1f} MiB here, and are taken to "
        "be as fast as short ones. Set catalog.service.answer_ms_per_mib (Iceberg's own server takes about "
        f"{REST_ANSWER_MS_PER_MIB:g}; endive measure catalog tells yours), or keep fewer (table.snapshots_kept_max)."
    )


def _one_driver_note(config: SimulationConfig) -> str | None:
    """Its lock is known to one process."""
    if config.catalog.type != "single_driver" or len(config.sources) < 2:
        return None
    names = ", ".join(source.name for source in config.sources)
    return (
        f"catalog.type = 'single_driver' holds within one process: {names} have to run in one driver. A second would "
        "overwrite commits unnoticed, which no figure here shows."
    )


def _isolation_note(config: SimulationConfig) -> str | None:
    """Levels that open source does not let anyone set."""
    lax = [
        f"{source.name} ({source.isolation})"
        for source in config.sources
        if config.table.format == "delta" and source.isolation != "serializable"
    ]
    if not lax:
        return None
    return (
        f"Open-source Delta Spark refuses every isolation level but serializable: what {', '.join(lax)} gives here "
        "holds of a table whose delta.isolationLevel a writer of another make has set."
    )
