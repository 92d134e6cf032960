"""The registry of warnings: what a reader must know before trusting an answer.

Every warning has a code, one sentence, its effect on this answer, and the key that resolves it. W1xx are about
statistics, W2xx about inputs that are not set, W3xx about assumed values, W4xx about options that are not available.
``REGISTRY`` generates the reference page; ``collect`` finds the warnings of an answer.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from endive.answers.estimates import pooled_figures, pooled_window
from endive.answers.run_count import RUNS, RUNS_MOST, do_runs_differ, runs_note
from endive.answers.sample import Sample
from endive.config import SimulationConfig
from endive.config.availability import hypothetical_notes
from endive.config.catalog_profile import REST_ANSWER_MS_PER_MIB, UNSAID, borrowed_note
from endive.config.sections.simulation import LOG_REPLAY_MS
from endive.config.unsaid import overlap_sources, partition_sources, reading_sources
from endive.objectives.duration import duration_text
from endive.objectives.names import ALL, SOURCE
from endive.results.knowledge import ASSUMED_SHARE_MAX, assumed_part, sent_figures
from endive.results.summary import COMMITTING_SHARE_MAX
from endive.simulation.knowledge import figures_of_config
from endive.workload.expected_txns import arrivals_by_source, expected_by_source

RETRIES_TIPPING: Final = 0.4  # per transaction, on average: tables that collapse now and then have more
ANSWER_MIB: Final = 0.25  # of a list of snapshots, from which on its transfer takes noticeable time
LOG_WORK_PART: Final = 0.05  # of the commit latency, from which on reading the log matters
CERTAIN: Final = 2.0  # the weight of what makes an answer wrong, whatever it is


@dataclass(frozen=True, slots=True)
class Entry:
    """A kind of warning, as the reference page shows it."""

    code: str
    name: str
    meaning: str
    remedy: str


REGISTRY: Final[Mapping[str, Entry]] = {
    entry.code: entry
    for entry in (
        Entry("W101", "nothing_measured", "No transaction fell into the measurement window.", "simulation.duration_ms"),
        Entry("W102", "still_committing", "Transactions were still committing at the end.", "simulation.cooldown_ms"),
        Entry("W103", "none_ended", "No transaction of the window ended.", "simulation.duration_ms"),
        Entry("W104", "unknown_commits", "Commits were applied whose writers never learned it.", "failures"),
        Entry("W105", "single_seed", "One run shows no spread between runs, so there are no intervals.", "--seeds"),
        Entry("W106", "absent_source", "A source had no transaction in the window.", "simulation.duration_ms"),
        Entry("W107", "few_seeds", "With retries, some runs collapse permanently; few runs can miss that.", "--seeds"),
        Entry("W108", "growing_metadata", "Nothing expires snapshots in a long run.", "table.snapshots_kept_max"),
        Entry("W201", "unsaid_reading", "What an overwrite reads is not set.", "source.NAME.read"),
        Entry(
            "W202", "unsaid_overlap", "How many data files a source touches is not set.", "source.NAME.touched_files"
        ),
        Entry("W203", "unsaid_partitions", "Which partitions sources pick is not set.", "source.NAME.partitions"),
        Entry(
            "W204",
            "uncharged_answers",
            "A REST server's answers grow with the snapshots, and their size is not charged.",
            "catalog.service.answer_ms_per_mib",
        ),
        Entry("W205", "unsaid_catalog_latency", "The catalog's latency is not set.", "catalog.profile"),
        Entry("W301", "assumed_figures", "Part of the commit latency rests on assumed values.", "storage.provider"),
        Entry("W302", "borrowed_latency", "A catalog's latency is that of another product.", "catalog.latency"),
        Entry("W303", "log_replay", "The time to read Delta's log was measured on one machine.", "delta.log_replay_ms"),
        Entry("W401", "hypothetical_catalog", "An option that no release or service has.", "none"),
        Entry("W402", "missing_log_store", "Delta Spark has no LogStore that creates files on S3.", "catalog.type"),
        Entry("W403", "one_driver", "The lock of one driver protects one driver only.", "catalog.type"),
        Entry("W404", "refused_isolation", "Open-source Delta Spark refuses this isolation level.", "source.isolation"),
    )
}
CODES: Final = {entry.name: entry.code for entry in REGISTRY.values()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """A warning of one answer; its weight is the share of the answer that depends on it, above 1 if all does."""

    code: str
    text: str
    effect: str = ""
    remedy: str = ""
    weight: float = CERTAIN

    @property
    def sentence(self) -> str:
        """Return text, effect and remedy in one line."""
        parts = (self.text, self.effect, self.remedy)
        return " ".join(part for part in parts if part)

    @property
    def line(self) -> str:
        """Return the sentence with its code in front."""
        return f"{self.code} {self.sentence}"

    def to_dict(self) -> dict[str, Any]:
        """Return the warning as plain values."""
        return {"code": self.code, "text": self.text, "effect": self.effect, "remedy": self.remedy}


def collect(
    config: SimulationConfig, samples: Sequence[Sample], *, is_one_run_meant: bool = False, unset: bool = True
) -> tuple[Warned, ...]:
    """Return the warnings of these runs, the weightiest first; those on unset inputs only if asked for."""
    found = [
        *_of_runs(config, samples, is_one_run_meant),
        *(_of_unset(config) if unset else ()),
        *_of_configuration(config),
        *_of_assumptions(config, samples),
        *_of_log_work(config, samples),
    ]
    return sort(found)


def sort(found: Iterable[Warned]) -> tuple[Warned, ...]:
    """Return warnings, each once, the weightiest first."""
    unique = {(each.code, each.text): each for each in found}
    return tuple(sorted(unique.values(), key=lambda each: -each.weight))


def join_sides(ours: Sequence[Warned], theirs: Sequence[Warned]) -> tuple[Warned, ...]:
    """Return the warnings of two sides, those of one side only marked with A or B."""
    sides = {"A": {(w.code, w.text): w for w in ours}, "B": {(w.code, w.text): w for w in theirs}}
    shared = sides["A"].keys() & sides["B"].keys()
    joined = [warned for key, warned in sides["A"].items() if key in shared]
    for side, found in sides.items():
        joined += [replace(w, text=f"{side}: {w.text}") for key, w in found.items() if key not in shared]
    return sort(joined)


def notes_as_warnings(notes: Sequence[str]) -> tuple[Warned, ...]:
    """Return notes on a run that is long because nothing says how long it is."""
    return tuple(Warned(code="W108", text=note, weight=0.0) for note in notes)


def from_texts(config: SimulationConfig) -> tuple[tuple[str, str], ...]:
    """Return what a configuration leaves unset or assumes, whatever its runs show: name and sentence of each."""
    found = [*_of_unset(config), *_of_configuration(config)]
    return tuple((REGISTRY[each.code].name, each.sentence) for each in found)


def reference_page() -> str:
    """Return the reference page of all warnings, as Markdown."""
    kinds = {
        "W1": "Statistics",
        "W2": "Inputs that are not set",
        "W3": "Assumed values",
        "W4": "Options that are not available",
    }
    lines = [
        "# Warnings",
        "",
        "A warning has a code, one sentence, its effect on the answer, and the key that resolves it. Answers show the "
        "three that matter most, `--details` shows all. Inputs that are not set (W2xx) are simulated at both ends: if "
        "that turns the verdict, the answer shows every case; if it changes nothing, there is no warning.",
        "",
        "This page is written by `python -m endive.answers.warnings`.",
    ]
    for prefix, title in kinds.items():
        lines += ["", f"## {title}", "", "| code | meaning | resolve it with |", "|---|---|---|"]
        own = [entry for entry in REGISTRY.values() if entry.code.startswith(prefix)]
        lines += [f"| {entry.code} | {entry.meaning} | `{entry.remedy}` |" for entry in own]
    return "\n".join(lines) + "\n"


# --- W1xx: statistics ---------------------------------------------------------------------------------


def _of_runs(config: SimulationConfig, samples: Sequence[Sample], is_one_run_meant: bool) -> list[Warned]:
    total = pooled_figures(samples, ALL, "")
    txns, found = total["txns"], []
    submitted, committing = txns["submitted"], txns["in_flight"]["committing"]
    if not submitted:
        window = pooled_window([sample.window for sample in samples])
        found.append(
            Warned(
                code="W101",
                text=f"No transaction was submitted in the window ({duration_text(window.length_us / 1000.0)}).",
                remedy="Raise simulation.duration_ms, or lower simulation.warmup_ms and cooldown_ms.",
            )
        )
    elif committing > COMMITTING_SHARE_MAX * submitted:
        found.append(
            Warned(
                code="W102",
                text=f"{committing / submitted:.1%} of the transactions ({committing:,} of {submitted:,}) were still "
                "committing at the end: latencies are too low and the success rate is uncertain.",
                remedy="Raise simulation.cooldown_ms, or lower the load.",
            )
        )
    if submitted and total["success_rate"] is None:
        found.append(
            Warned(
                code="W103",
                text=f"None of the {submitted:,} transactions ended before the simulation did.",
                remedy="Raise simulation.duration_ms and simulation.cooldown_ms.",
            )
        )
    history = samples[0].history
    if history is not None and history.commits_untold:
        found.append(
            Warned(
                code="W104",
                text=f"{history.commits_untold:,} commits were applied although their writers saw "
                "CommitStateUnknownException; a writer that repeats them writes its data twice.",
            )
        )
    if not is_one_run_meant and (note := runs_note(samples)) is not None:
        found.append(Warned(code="W105", text=note))
    found += _absent_sources(config, samples) if submitted else []
    if (few := few_runs(total, len(samples), do_differ=do_runs_differ(samples, config))) is not None:
        found.append(Warned(code="W107", text=few, weight=1.0))
    return found


def _absent_sources(config: SimulationConfig, samples: Sequence[Sample]) -> list[Warned]:
    names = [source.name for source in config.sources]
    absent = [name for name in names if not pooled_figures(samples, SOURCE, name)["txns"]["submitted"]]
    if not absent:
        return []
    return [
        Warned(
            code="W106",
            text=f"{', '.join(absent)}: no transaction in the measurement window, so no result.",
            remedy=_long_enough_for(config, absent),
        )
    ]


def _long_enough_for(config: SimulationConfig, absent: Sequence[str]) -> str:
    expected = arrivals_by_source(config)
    gaps = [config.simulation.duration_ms / expected[name] for name in absent if expected.get(name)]
    margins_ms = config.simulation.warmup_ms + config.simulation.cooldown_ms
    if not gaps:
        return "Raise simulation.duration_ms."
    return f"Raise simulation.duration_ms to about {duration_text(2.0 * max(gaps) + margins_ms)}."


def few_runs(total: Mapping[str, Any], runs: int, *, do_differ: bool = False) -> str | None:
    """Return a sentence where so few runs can miss a collapse that other runs show.

    Runs that differ are few for longer: of a table that collapses in one run of fifty, 16 have mostly seen none.
    """
    enough = RUNS_MOST if do_differ else RUNS
    if not 1 < runs < enough or (total["retries_mean"] or 0.0) < RETRIES_TIPPING:
        return None
    unseen = 1.0 - 0.05 ** (1.0 / runs)
    return (
        f"With retries, some runs collapse permanently; {runs} runs can miss what up to {100 * unseen:.0f} % of runs "
        f"do, and the intervals do not cover it. Take {enough} runs or more (--seeds {enough})."
    )


# --- W2xx: inputs that are not set --------------------------------------------------------------------


def _of_unset(config: SimulationConfig) -> list[Warned]:
    plain = config.to_dict()
    found = []
    if names := reading_sources(plain):
        found.append(
            Warned(
                code="W201",
                text=f"What {_listed(names)} read{_s(names)} is not set; appends elsewhere are taken not to match.",
                remedy=f"Set source.{names[0]}.read to 'table' (ON t.id = s.id), 'partitions' or 'files'.",
                weight=1.0,
            )
        )
    if names := overlap_sources(plain):
        is_by_files = plain["conflict"]["detector"] == "files"
        keys = "touched_files" if is_by_files else "table.data_files and touched_files"
        found.append(
            Warned(
                code="W202",
                text=f"How many data files {_listed(names)} touch{_es(names)} is not set; they never meet here.",
                remedy=f"Set {keys}.",
                weight=1.0,
            )
        )
    names = partition_sources(plain)
    if len(names) > 1:
        found.append(
            Warned(
                code="W203",
                text=f"Which partitions {_listed(names)} pick is not set; each transaction picks at random.",
                remedy=f"Set source.{names[0]}.partitions to 'newest', 'previous' or weights.",
                weight=1.0,
            )
        )
    return found


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _s(names: Sequence[str]) -> str:
    return "s" if len(names) == 1 else ""


def _es(names: Sequence[str]) -> str:
    return "es" if len(names) == 1 else ""


def answer_mib(config: SimulationConfig) -> float | None:
    """Return the size of a REST server's answers at the end of a run if it matters and is not charged."""
    service, table = config.catalog.service, config.table
    is_rest = config.catalog.type == "service" and service.flavour == "rest" and table.format == "iceberg"
    if not is_rest or service.answer_ms_per_mib is not None:
        return None
    made = sum(expected_by_source(config).values()) / config.catalog.num_tables
    kept = min(table.initial_snapshots + made, table.snapshots_kept_max or math.inf)
    mib = (table.metadata_base_bytes + table.metadata_bytes_per_snapshot * kept) / 2**20
    return None if mib < ANSWER_MIB else mib


# --- W3xx: assumed values -----------------------------------------------------------------------------


def _of_assumptions(config: SimulationConfig, samples: Sequence[Sample]) -> list[Warned]:
    total = pooled_figures(samples, ALL, "")
    counts = total["requests"]["counts"]
    figures = tuple(sent_figures(figures_of_config(config), counts))
    part = assumed_part(figures, total["phases_ms"], counts)
    found = []
    if part is not None and part.share > ASSUMED_SHARE_MAX:
        found.append(Warned(code="W301", text=part.sentence(), weight=part.share))
    if any(figure.of == UNSAID for figure in figures):
        found.append(
            Warned(
                code="W205",
                text="The catalog's latency is not set; 1 ms is assumed.",
                remedy="Set catalog.profile (`endive catalogs` lists them) or catalog.latency.",
                weight=0.0 if part is None else part.share,
            )
        )
    return found


def _of_log_work(config: SimulationConfig, samples: Sequence[Sample]) -> list[Warned]:
    work_ms = config.delta.log_replay_ms
    if not _is_delta_spark(config) or work_ms != LOG_REPLAY_MS["spark"]:
        return []
    total = pooled_figures(samples, ALL, "")
    latency_ms = total["commit_latency_ms"]["mean"]
    part = (total["phases_ms"]["log_update"] or 0.0) / latency_ms if latency_ms else 0.0
    if part < LOG_WORK_PART:
        return []
    return [
        Warned(
            code="W303",
            text=f"{100 * part:.0f} % of the commit latency is Delta Spark reading its log: {work_ms:g} ms each time, "
            "as measured on two cores.",
            remedy="Measure yours and set delta.log_replay_ms.",
            weight=part,
        )
    ]


# --- W2xx to W4xx that follow from the configuration alone --------------------------------------------


def _of_configuration(config: SimulationConfig) -> list[Warned]:
    found = []
    if (note := borrowed_note(config.catalog)) is not None:
        found.append(Warned(code="W302", text=note))
    found += [Warned(code="W401", text=note) for note in hypothetical_notes(config)]
    if (mib := answer_mib(config)) is not None:
        found.append(
            Warned(
                code="W204",
                text=f"A REST server's answers carry the list of snapshots, up to {mib:.1f} MiB here, and are taken to "
                "be as fast as short ones.",
                remedy="Set catalog.service.answer_ms_per_mib (Iceberg's own server takes about "
                f"{REST_ANSWER_MS_PER_MIB:g}) or keep fewer snapshots (table.snapshots_kept_max).",
            )
        )
    is_on_s3 = config.catalog.type == "put_if_absent" and config.storage.provider in ("s3", "s3x")
    if _is_delta_spark(config) and is_on_s3:
        found.append(
            Warned(
                code="W402",
                text="Open-source Delta Spark has no LogStore that creates a commit on S3 only if it is absent.",
                remedy='Use catalog.type = "dynamodb" for several drivers, "single_driver" for one.',
            )
        )
    if config.catalog.type == "single_driver" and len(config.sources) > 1:
        names = ", ".join(source.name for source in config.sources)
        found.append(
            Warned(
                code="W403",
                text=f"catalog.type = 'single_driver' holds within one process: {names} must run in one driver. A "
                "second one overwrites commits unnoticed, which is not simulated.",
            )
        )
    lax = [f"{source.name} ({source.isolation})" for source in config.sources if source.isolation != "serializable"]
    if config.table.format == "delta" and lax:
        found.append(
            Warned(
                code="W404",
                text=f"Open-source Delta Spark refuses every isolation level but serializable; {', '.join(lax)} "
                "applies only to tables whose delta.isolationLevel was set by another writer.",
            )
        )
    return found


def _is_delta_spark(config: SimulationConfig) -> bool:
    return config.table.format == "delta" and config.delta.client == "spark"


if __name__ == "__main__":
    sys.stdout.write(reference_page())
