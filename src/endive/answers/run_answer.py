"""The answer of a run: sources with their intervals, the verdict on the objective, and why transactions fail.

Why most transactions of a source fail is a sentence on what they lose to. How a single one fails is a trace
(``endive.answers.stories``); which change removes a cause is advice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from endive.answers.answer import UNSURE, Answer, Fact
from endive.answers.cases import Assessment, Cases, assess
from endive.answers.estimates import estimate_of, judge_samples, pooled_figures, pooled_window, subject_of
from endive.answers.format_words import protocol_of
from endive.answers.headline import TONES, headline_of
from endive.answers.run_tables import detail_parts, part_table, provenance_of, run_facts
from endive.answers.sample import Sample
from endive.answers.warnings import Warned, notes_as_warnings
from endive.config import SimulationConfig
from endive.config.sections.distribution import Distribution
from endive.config.sections.source import SourceConfig
from endive.config.slo import names_of
from endive.distributions import from_table
from endive.objectives import CANNOT_TELL, MET, Estimate, Objective, Verdict, duration_text
from endive.objectives.certainty import certainty_text
from endive.objectives.names import ALL, KIND, SOURCE, TABLE
from endive.objectives.verdict_text import figure_text

SHOWN: Final = ("success_rate", "committed_per_s", "p50_commit", "p95_commit", "p99_commit")
OF_STREAMS: Final = ("p50_freshness", "p95_freshness", "p99_freshness", "stale_share", "lost_share")
_BLOCKS: Final = ((SOURCE, "by_source"), (KIND, "by_operation"), (TABLE, "by_table"))


TABLES_SHOWN_MAX: Final = 20
MOST: Final = 0.5  # of the transactions that ended
BUSY: Final = 0.8  # of the calls that a catalog takes: beyond it they wait for twice as long as one takes, and more
READ_TABLE: Final = (
    "reads the whole table (ON t.id = s.id), so any file added after its scan makes it fail{pace}. Iceberg does not "
    "retry this"
)
READ_TABLE_DELETES: Final = (
    "reads the whole table and is merge-on-read, so rows deleted anywhere after its scan make it fail at either "
    "isolation level. Copy-on-write checks its own files only"
)
READ_PARTITIONS: Final = "another commit wrote to a partition it had read. Iceberg does not retry this"
SENTENCES: Final = {
    "validation_exception": "another commit changed what it had read or rewrites. Iceberg does not retry this",
    "retries_exhausted": "each of its {attempts:,} attempts lost to a commit that landed while it was being built",
    "timeout": "its attempts lost to other commits until its time was up",
    "history_expired": "a snapshot between its start and the newest one had expired",
    "storage_failed": "the store throttled a request at every try",
    "concurrent_append": "another commit added files where it had read. Delta Lake does not retry this",
    "concurrent_delete_read": "another commit removed files it had read. Delta Lake does not retry this",
    "concurrent_delete_delete": "another commit removed files it removes too. Delta Lake does not retry this",
    "log_cleaned_up": "commits it had not seen were cleaned up, so it has to load the table again",
}


@dataclass(frozen=True)
class RunAnswer:
    """Runs of one configuration with one or several seeds, judged by an objective."""

    config: SimulationConfig
    samples: Sequence[Sample]
    objective: Objective
    name: str
    notes: tuple[str, ...] = ()  # what was chosen that the configuration does not say
    assessment: Assessment | None = None  # with other ends of unset inputs, if those were simulated

    @cached_property
    def _assessed(self) -> Assessment:
        return self.assessment or assess(self.config, self.objective, self.samples)

    @property
    def cases(self) -> tuple[Cases, ...]:
        """Return the unset inputs that decide the verdict."""
        return self._assessed.cases

    @cached_property
    def warnings(self) -> tuple[Warned, ...]:
        """Return everything to know before the answer is trusted, the weightiest first."""
        return (*self._assessed.warnings, *notes_as_warnings(self.notes[1:]))

    @cached_property
    def why(self) -> list[str]:
        """Return a sentence for each source most of whose transactions fail, and one on a limited catalog."""
        figures = [(source, self.figures(SOURCE, source.name)) for source in self.config.sources]
        sentences = [
            why_it_fails(source, each["txns"], self._pace_next_to(source.name))
            for source, each in figures
            if each is not None
        ]
        length_us = pooled_window([sample.window for sample in self.samples]).length_us
        total = pooled_figures(self.samples, ALL, "")
        sentences.append(how_busy_is_catalog(self.config, total, length_us))
        if undone := total["counters"]["compactions_undone"]:
            sentences.append(f"catalog: {undone:,} compactions were undone for commits that were built before them.")
        return [sentence for sentence in sentences if sentence is not None]

    def _pace_next_to(self, name: str) -> str:
        """Return how often the busiest other source commits: ``; streams add one every 2 s``."""
        rates = {
            other: (self.figures(SOURCE, other) or {}).get("committed_per_s") or 0.0
            for other in self.parts(SOURCE)
            if other != name
        }
        busiest = max(rates, key=lambda other: rates[other], default=None)
        if busiest is None or not rates[busiest]:
            return ""
        verb = "add" if busiest.endswith("s") else "adds"
        return f"; {busiest} {verb} one every {duration_text(1000.0 / rates[busiest])}"

    def to_answer(self, file: str = "FILE", identity: str = "") -> Answer:
        """Return what the renderers show; ``file`` is how the next command names the configuration."""
        total = pooled_figures(self.samples, ALL, "")
        names = self.parts(SOURCE)
        tables = [part_table(self, SOURCE, names)] if names else []
        if self.cases:
            tables = [each.table for each in self.cases]
        if self.parts(TABLE):
            tables.append(part_table(self, TABLE, self.parts(TABLE)[:TABLES_SHOWN_MAX]))
        is_fine = self.verdict.outcome == MET and not self.cases
        why = [] if self.cases else self.why
        if self.cases:
            facts = []
        elif len(names) == 1:
            facts = run_facts(self, total)
        else:
            facts = [fact for fact in run_facts(self, total) if fact.label == "restarts"]
        return Answer(
            question="run",
            headline=self.headline,
            tone=UNSURE if self.cases else TONES.get(self.verdict.outcome, ""),
            tables=tuple(tables),
            facts=tuple(facts),
            why=as_sentences(why),
            paste=tuple(line for each in self.cases for line in each.paste),
            next="" if self.cases else self._next(file, is_fine),
            warnings=self.warnings,
            provenance=provenance_of(self.config, self.seeds),
            details=(*detail_parts(self, total, identity), *(Fact("length", note) for note in self.notes[:1])),
        )

    @property
    def headline(self) -> str:
        """Return who commits how often, against which objective; or on which unset input that depends."""
        if self.cases:
            return _headline_of_cases(self.cases)
        return headline_of(self.verdict, self.parts(SOURCE), self._success)

    def _success(self, name: str) -> float | None:
        return self.estimate(SOURCE, name, "success_rate").value

    def _next(self, file: str, is_met: bool) -> str:
        if is_met:
            return f"endive limit {file} --vary {_varied_key(self.config)}"
        if self.verdict.outcome == CANNOT_TELL:
            return f"endive run {file} --seeds {4 * len(self.samples)}"
        return f"endive advise {file}"

    @cached_property
    def verdict(self) -> Verdict:
        """Return whether the objective is met."""
        return judge_samples(self.objective, self.samples)

    @property
    def seeds(self) -> list[int]:
        """Return the seeds that ran."""
        return [sample.seed for sample in self.samples]

    def estimate(self, scope: str, name: str, field_name: str) -> Estimate:
        """Return one figure of a part of the runs, with its interval."""
        return estimate_of(self.samples, subject_of(scope, name, field_name))

    def parts(self, scope: str) -> tuple[str, ...]:
        """Return the sources, kinds or tables that had txns."""
        if scope == TABLE and not self.samples[0].tables:
            return ()
        return tuple(name for name in names_of(self.config).of_scope(scope) if self.figures(scope, name))

    def figures(self, scope: str, name: str) -> dict[str, Any] | None:
        """Every figure of a part, all seeds taken together; None if it had no txn and no commit in the windows."""
        figures = pooled_figures(self.samples, scope, name)
        return figures if figures["txns"]["submitted"] or figures["committed_in_window_per_s"] else None

    def to_json_dict(self) -> dict[str, Any]:
        """Return what ``endive run --json`` prints about objective, estimates and, with several seeds, their totals."""
        total = pooled_figures(self.samples, ALL, "")
        requests = total.pop("requests")
        window = self.samples[0].window
        return {
            "config_hash": self.config.config_hash(),
            "window": window.to_dict(),
            "summary": total,
            **self._by_part(self.figures),
            "requests": requests,
            **self.judgement(),
        }

    def judgement(self) -> dict[str, Any]:
        """Verdict and estimates alone, and the seeds they rest on."""
        return {
            "seeds": self.seeds,
            "protocol": protocol_of(self.config),
            "warnings": [
                *(f"{case.unset.code} {case.sentence}" for case in self.cases),
                *(w.line for w in self.warnings),
            ],
            "cases": [case.to_dict() for case in self.cases],
            "why": self.why,
            "objective": verdict_json(self.verdict),
            "estimates": {"summary": self._estimates(ALL, ""), **self._by_part(self._estimates)},
        }

    def _by_part(self, make: Callable[[str, str], object]) -> dict[str, object]:
        """Return what ``make`` says of every source, kind and table that had txns."""
        parts = {scope: self.parts(scope) for scope, _ in _BLOCKS}
        return {block: {name: make(scope, name) for name in parts[scope]} for scope, block in _BLOCKS if parts[scope]}

    def _estimates(self, scope: str, name: str) -> dict[str, object]:
        is_stream = scope == SOURCE and name in names_of(self.config).streams
        shown = (*SHOWN, *OF_STREAMS) if is_stream else SHOWN
        return {field_name: estimate_json(self.estimate(scope, name, field_name)) for field_name in shown}


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as plain values."""
    return {
        "text": verdict.objective.text,
        "outcome": verdict.outcome,
        "parts": [
            {
                "comparison": str(part.comparison),
                "outcome": part.outcome,
                "certainty": certainty_text(part),
                **estimate_json(part.found),
            }
            for part in verdict.parts
        ],
    }


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as plain values; an end that nothing bounds is null."""
    high = None if estimate.high == float("inf") else estimate.high
    return {"value": estimate.value, "low": estimate.low, "high": high}


def _headline_of_cases(cases: Sequence[Cases]) -> str:
    """Return the values that an unset input decides between: ``merge: 0 % or 100 % of commits succeed, ...``."""
    first = cases[0]
    subject = first.cases[0].subject
    values = sorted({case.found.value for case in first.cases if case.found.value is not None})
    shown = (
        list(dict.fromkeys(figure_text(subject.field, value) for value in (values[0], values[-1]))) if values else []
    )
    told = " or ".join(shown)
    is_success = subject.field.path == ("success_rate",)
    clause = f"{told} of commits succeed" if is_success else f"{subject.field.name} is {told}"
    names = " and ".join(dict.fromkeys(each.unset.name for each in cases))
    return f"{subject.name or 'the run'}: {clause}, depending on {names} (not set)"


def as_sentences(why: Sequence[str]) -> str:
    """Return reasons as one text; ``merge: reads ...`` becomes a sentence."""
    parts = [sentence.partition(": ") for sentence in why]
    return " ".join(f"{name}{' ' if rest.startswith('reads ') else colon}{rest}" for name, colon, rest in parts)


def _varied_key(config: SimulationConfig) -> str:
    """Return the key that says how much load the busiest source offers."""
    if len(config.sources) != 1:
        return "load"
    source = config.sources[0]
    leaf = {"closed": "clients", "poisson": "per_s", "jobs": "jobs"}.get(source.arrivals.kind)
    return "load" if leaf is None else f"source.{source.name}.arrivals.{leaf}"


# --- why most txns of a source fail, and whether the catalog is the bottleneck --------------------------


def why_it_fails(source: SourceConfig, txns: Mapping[str, Any], pace: str = "") -> str | None:
    """Return a sentence on the commonest way to fail if most transactions of a source do."""
    aborted: Mapping[str, int] = txns["aborted"]
    failed = sum(aborted.values())
    if failed <= MOST * (failed + txns["committed"]):
        return None
    reason = max(aborted, key=lambda name: aborted[name])
    sentence = _failed_validation(source) if reason == "validation_exception" else SENTENCES.get(reason)
    return None if sentence is None else f"{source.name}: {sentence.format(attempts=source.retry + 1, pace=pace)}."


def _failed_validation(source: SourceConfig) -> str:
    """Return what fails it, as far as what it has read says so."""
    is_serializable = source.isolation == "serializable"
    if source.read == "table" and is_serializable:
        return READ_TABLE
    if source.read == "table" and source.overwrite == "row_delta" and source.checks == "all":
        return READ_TABLE_DELETES
    if source.read == "partitions" and is_serializable:
        return READ_PARTITIONS
    return SENTENCES["validation_exception"]


def calls_taken_per_s(config: SimulationConfig) -> float | None:
    """Return how many calls a second the catalog takes, of all tables together; None if nothing limits them."""
    service = config.catalog.service
    if config.catalog.type != "service" or service.calls_per_s is not None or not service.workers:
        return service.calls_per_s if config.catalog.type == "service" else None
    time_ms = _mean_ms(service.time)
    return 1000.0 * service.workers / time_ms if time_ms else None


def _mean_ms(table: Distribution | None) -> float:
    return 0.0 if table is None else from_table(table.to_table(), "catalog").mean()


def _waited_share(config: SimulationConfig, figures: Mapping[str, Any], per_txn: float) -> float:
    """At least so much of the mean commit latency is spent waiting for the catalog's turn, not for its work."""
    service, latency_ms = config.catalog.service, figures["commit_latency_ms"]["mean"]
    call_ms = max(_mean_ms(config.catalog.latency), _mean_ms(service.commit_latency))
    call_ms += _mean_ms(service.time) if service.calls_per_s is None else 1000.0 / service.calls_per_s
    at_catalog_ms = sum(figures["phases_ms"][phase] for phase in ("catalog_read", "commit"))
    return max(0.0, at_catalog_ms - per_txn * call_ms) / latency_ms if latency_ms else 0.0


def how_busy_is_catalog(config: SimulationConfig, figures: Mapping[str, Any], length_us: int) -> str | None:
    """Return whether the catalog is the bottleneck, in a sentence, if it takes so many calls a second and no more."""
    taken, txns = calls_taken_per_s(config), figures["txns"]
    ended = txns["committed"] + sum(txns["aborted"].values())
    calls = sum(figures["requests"]["counts"].get("catalog", {}).values())
    if taken is None or not ended or not calls or not length_us:
        return None
    per_txn = calls / ended
    asked = per_txn * txns["submitted"] / (length_us / 1e6)
    share, waited = asked / taken, _waited_share(config, figures, per_txn)
    busy = f"catalog: asked for {asked:.3g} calls a second of the {taken:.3g} it takes ({100 * share:.0f} %)"
    room = f"A txn makes {per_txn:.1f} calls, so there is room for {taken / per_txn:.3g} txns a second"
    if share < BUSY and waited >= MOST:
        return (
            f"{busy}, and yet it is the bottleneck: they come at once, and {100 * waited:.0f} % of the commit latency "
            f"is waiting for it. {room}; begin fewer of them together."
        )
    return f"{busy}: it is {'' if share >= BUSY else 'not '}the bottleneck. {room}, on however many tables."
