"""Inputs that are not set and could turn the answer: both ends of each are simulated, and shown if they matter.

``unset_inputs`` is the table of such inputs with their plausible ends. A few runs with the same seeds decide: an end
that changes the verdict becomes a case, one that changes a number by more than its interval becomes a warning with that
effect, and one that changes nothing is not mentioned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from endive.answers.answer import BAD, GOOD, RIGHT, Cell, Column, Row, Table
from endive.answers.estimates import estimate_of, judge_samples, subject_of
from endive.answers.replicate import Replicator
from endive.answers.sample import Sample
from endive.answers.warnings import Warned, answer_mib, collect, sort
from endive.config import SimulationConfig, apply_overrides, parse_config
from endive.config.catalog_profile import REST_ANSWER_MS_PER_MIB
from endive.config.unsaid import (
    failing_sources,
    overlap_sources,
    partition_readers,
    partition_sources,
    reading_sources,
)
from endive.errors import EndiveError
from endive.objectives import CANNOT_TELL, MET, NOT_MET, Estimate, Objective, Subject, Verdict
from endive.objectives.fields import SHARE
from endive.objectives.names import SOURCE
from endive.objectives.verdict_text import figure_text

RUNS_MIN: Final = 2
RUNS_PART: Final = 0.5  # of the runs of the answer, for all ends together
SHARE_NOTICED: Final = 0.01  # of transactions, from which on a change of success is worth a word
PART_NOTICED: Final = 0.1  # of a latency
FILES_MET: Final = 1_000  # of a table whose files everybody touches; groups of one compaction have shares of them


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One plausible value of an input that is not set."""

    words: str
    values: Mapping[str, Any]
    paste: tuple[str, ...] = ()
    typical: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unset:
    """An input that is not set: its warning, what it is called, how it is simulated, and its other ends."""

    code: str
    name: str
    simulated: str
    ends: tuple[End, ...]
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What one end makes of the figure that matters."""

    words: str
    subject: Subject
    found: Estimate
    outcome: str
    typical: str = ""
    paste: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """An input that decides the answer, and the answer at each of its ends; the first is the one that was simulated."""

    unset: Unset
    cases: tuple[Case, ...]

    @property
    def table(self) -> Table:
        """Return one row per case."""
        columns = (
            Column(name="case"),
            Column(name="figure"),
            Column(name="value", align=RIGHT),
            Column(name="note", priority=1),
        )
        rows = tuple(
            Row(
                cells=(
                    Cell(f"  {case.words}"),
                    Cell(_figure_name(case.subject)),
                    Cell(
                        figure_text(case.subject.field, case.found.value),
                        case.found.value,
                        _TONES.get(case.outcome, ""),
                    ),
                    Cell(f" typical: {case.typical}" if case.typical else ""),
                )
            )
            for case in self.cases
        )
        return Table(columns=columns, rows=rows, has_header=False)

    @property
    def paste(self) -> tuple[str, ...]:
        """Return the lines that set the typical case, or the first one that can be set."""
        typical = [case.paste for case in self.cases if case.typical and case.paste]
        return next(iter([*typical, *(case.paste for case in self.cases if case.paste)]), ())

    @property
    def sentence(self) -> str:
        """Return the cases in one line."""
        told = "; ".join(
            f"{case.words}: {_figure_name(case.subject)} {figure_text(case.subject.field, case.found.value)}"
            for case in self.cases
        )
        return f"It depends on {self.unset.name} (not set). {told}."

    def to_dict(self) -> dict[str, Any]:
        """Return the cases as plain values."""
        return {
            "code": self.unset.code,
            "input": self.unset.name,
            "cases": [
                {
                    "case": case.words,
                    "figure": str(case.subject),
                    "value": case.found.value,
                    "outcome": case.outcome,
                    "typical": bool(case.typical),
                    "set": list(case.paste),
                }
                for case in self.cases
            ],
        }


_TONES: Final = {MET: GOOD, NOT_MET: BAD}


def _figure_name(subject: Subject) -> str:
    success = subject.field.path == ("success_rate",)
    return (subject.name or "success") if success else str(subject)


# --- the table of inputs ------------------------------------------------------------------------------


def unset_inputs(config: SimulationConfig) -> tuple[Unset, ...]:
    """Return the inputs that nothing sets and that could decide the answer."""
    return tuple(_unset_inputs(config, config.to_dict()))


def _unset_inputs(config: SimulationConfig, plain: Mapping[str, Any]) -> Iterator[Unset]:
    if names := reading_sources(plain):
        keys = {f'source."{name}".read': "table" for name in names}
        paste = tuple(f'[[source]] name = "{name}"   read = "table"' for name in names)
        yield Unset(
            code="W201",
            name=f"what {_listed(names)} read{'s' if len(names) == 1 else ''}",
            simulated="the predicate matches only its own files (simulated)",
            ends=(End(words="no predicate on the target (ON t.id = s.id)", values=keys, paste=paste),),
            sources=names,
        )
    if overlap_sources(plain) and (end := _all_meet(config)) is not None:
        names = failing_sources(plain)
        yield Unset(
            code="W202",
            name="how many data files each source touches",
            simulated="they never touch the same files (simulated)",
            ends=(end,),
            sources=names,
        )
    names = partition_sources(plain)
    if len(names) > 1:
        yield Unset(
            code="W203",
            name="which partitions each source writes",
            simulated="all sources pick partitions at random (simulated)",
            ends=tuple(_partition_ends(plain, names)),
            sources=tuple(partition_readers(plain)),
        )
    if (mib := answer_mib(config)) is not None:
        end = End(
            words=f"{REST_ANSWER_MS_PER_MIB:g} ms per MiB, as Iceberg's own server",
            values={"catalog.service.answer_ms_per_mib": REST_ANSWER_MS_PER_MIB},
            paste=(f"[catalog.service] answer_ms_per_mib = {REST_ANSWER_MS_PER_MIB:g}",),
        )
        yield Unset(
            code="W204",
            name=f"how fast the catalog sends its answers (up to {mib:.1f} MiB)",
            simulated="as fast as short answers (simulated)",
            ends=(end,),
        )


def _all_meet(config: SimulationConfig) -> End | None:
    """Return the end at which all touch the files of the table, so that only who minds whom decides.

    A probability of 1 would also fail those who do not mind: a compaction next to an upsert's deletes by key.
    """
    table = config.table.data_files or FILES_MET
    values: dict[str, Any] = {"table.data_files": table, "conflict.detector": "files"}
    by_files = with_values(config, values)
    if by_files is None:
        return None
    names = overlap_sources(by_files.to_dict())
    values |= {f'source."{name}".touched_files': table for name in names}
    paste = tuple(_never_line(config, name) for name in names)
    return End(words="they always touch the same files", values=values, paste=paste)


def _never_line(config: SimulationConfig, name: str) -> str:
    """Return the line that says a source never touches the files of others; one that the configuration accepts."""
    key = "real_conflict_probability"
    accepted = with_values(config, {f'source."{name}".{key}': 0.0}) is not None
    return f'[[source]] name = "{name}"   {key if accepted else "touched_files"} = 0   # if they never do'


def _partition_ends(plain: Mapping[str, Any], names: Sequence[str]) -> Iterator[End]:
    sources = {source["name"]: source for source in plain["source"]}
    choices = {name: sources[name]["partitions"] for name in names}

    def values(shift: Mapping[str, int]) -> dict[str, Any]:
        made = {}
        for name, choice in choices.items():
            weights = [0.0] * shift.get(name, 0) + [1.0] * choice["count"]
            rest = {key: value for key, value in choice.items() if key != "selection"}
            made[f'source."{name}".partitions'] = {**rest, "weights": weights}
        return made

    yield End(words="all write the same partition", values=values({}))
    readers = set(partition_readers(plain))
    apart = [name for name in names if name in readers]
    others = [name for name in names if name not in readers]
    if not apart or not others:
        return
    shift = max(choices[name]["count"] for name in others)
    are_streams = all(_kinds(sources[name]) <= {"fast_append", "merge_append"} for name in others)
    is_one_each = all(choice["count"] == 1 for choice in choices.values())
    yield End(
        words=f"{_listed(others)} and {_listed(apart)} never share a partition",
        values=values(dict.fromkeys(apart, shift)),
        typical="the stream writes today, the MERGE yesterday" if are_streams else "",
        paste=tuple(
            f'[[source]] name = "{name}"   partitions = '
            + (f'"{"previous" if name in apart else "newest"}"' if is_one_each else "{ weights = [...] }")
            for name in names
        ),
    )


def _kinds(source: Mapping[str, Any]) -> set[str]:
    return {kind for kind, weight in source["operation_types"].items() if weight}


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def with_values(config: SimulationConfig, values: Mapping[str, object]) -> SimulationConfig | None:
    """Return the configuration with other values; None if it cannot have them."""
    try:
        return parse_config(apply_overrides(config.to_dict(), values))
    except EndiveError:
        return None


# --- what depends on them -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """Everything to know before an answer is trusted: warnings, and cases that change its verdict."""

    warnings: tuple[Warned, ...]
    cases: tuple[Cases, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """Return cases and warnings as sentences, the cases first."""
        return (*(f"{each.unset.code} {each.sentence}" for each in self.cases), *(each.line for each in self.warnings))

    @property
    def all_warnings(self) -> tuple[Warned, ...]:
        """Return the warnings, with the cases as the first of them."""
        told = [Warned(code=each.unset.code, text=each.sentence) for each in self.cases]
        return (*told, *self.warnings)


def assess(
    config: SimulationConfig,
    objective: Objective,
    samples: Sequence[Sample],
    replicator: Replicator | None = None,
    *,
    is_one_run_meant: bool = False,
) -> Assessment:
    """Return warnings and cases of these runs; without a replicator nothing is simulated at other ends."""
    if replicator is None or not samples:
        return Assessment(warnings=collect(config, samples, is_one_run_meant=is_one_run_meant))
    warnings = list(collect(config, samples, is_one_run_meant=is_one_run_meant, unset=False))
    inputs = unset_inputs(config)
    runs = _runs_each(len(samples), sum(len(each.ends) for each in inputs))
    texts = {each.code: each for each in collect(config, samples)}
    verdict = judge_samples(objective, samples)
    cases = []
    for unset in inputs:
        warnings = [each for each in warnings if each.code != unset.code]
        found = _Ends(config, objective, samples, verdict, unset, replicator, runs)
        if found.are_cases:
            cases.append(found.cases)
        elif found.effect and unset.code in texts:
            warnings.append(replace(texts[unset.code], effect=found.effect, weight=found.weight))
    return Assessment(warnings=sort(warnings), cases=tuple(cases))


def _runs_each(runs: int, ends: int) -> int:
    return max(RUNS_MIN, min(runs, round(RUNS_PART * runs / max(1, ends)))) if runs > 1 else 1


class _Ends:
    """The ends of one input, simulated."""

    def __init__(
        self,
        config: SimulationConfig,
        objective: Objective,
        samples: Sequence[Sample],
        verdict: Verdict,
        unset: Unset,
        replicator: Replicator,
        runs: int,
    ) -> None:
        self._unset, self._samples, self._verdict = unset, samples, verdict
        self._ends: list[tuple[End, list[Sample], Verdict]] = []
        for end in unset.ends:
            other = with_values(config, end.values)
            if other is None:
                continue
            taken = replicator.take(other, runs)
            judged = judge_samples(objective, taken)
            if judged.outcome == CANNOT_TELL and _differs(judged, verdict):
                taken = replicator.take(other, len(samples))
                judged = judge_samples(objective, taken)
            self._ends.append((end, taken, judged))
        self._subjects = [part.subject for part in verdict.parts]
        self._subjects += [subject_of(SOURCE, name, "success_rate") for name in unset.sources]
        if unset.code == "W204":
            self._subjects += [subject_of(SOURCE, source.name, "p50_commit") for source in config.sources]

    @property
    def are_cases(self) -> bool:
        """Return whether an end turns the verdict."""
        return any(self._is_turned(verdict) for _, _, verdict in self._ends)

    def _is_turned(self, verdict: Verdict) -> bool:
        if {verdict.outcome, self._verdict.outcome} == {MET, NOT_MET}:
            return True
        return _differs(verdict, self._verdict) and any(
            ours.holds != theirs.holds
            and ours.found.value is not None
            and not _is_within(theirs.found, ours.found.value)
            for ours, theirs in zip(self._verdict.parts, verdict.parts, strict=True)
        )

    @property
    def cases(self) -> Cases:
        """Return the answer at every end."""
        turned = next(verdict for _, _, verdict in self._ends if self._is_turned(verdict))
        pairs = zip(self._verdict.parts, turned.parts, strict=True)
        subject = next((ours.subject for ours, theirs in pairs if ours.holds != theirs.holds), self._subjects[0])

        def outcome(verdict: Verdict) -> str:
            return next((part.outcome for part in verdict.parts if part.subject == subject), "")

        first = Case(
            words=self._unset.simulated,
            subject=subject,
            found=estimate_of(self._samples, subject),
            outcome=outcome(self._verdict),
        )
        others = tuple(
            Case(
                words=end.words,
                subject=subject,
                found=estimate_of(taken, subject),
                outcome=outcome(verdict),
                typical=end.typical,
                paste=end.paste,
            )
            for end, taken, verdict in self._ends
        )
        return Cases(unset=self._unset, cases=(first, *others))

    @property
    def _changes(self) -> list[tuple[float, str]]:
        """Return every figure that an end changes by more than its interval: by how much, and a sentence."""
        found = {}
        for end, taken, _ in self._ends:
            for subject in self._subjects:
                before, after = estimate_of(self._samples, subject), estimate_of(taken, subject)
                if before.value is None or after.value is None or _is_within(before, after.value):
                    continue
                is_share = subject.field.unit == SHARE
                change = abs(after.value - before.value) / (1.0 if is_share else before.value or 1.0)
                if change < (SHARE_NOTICED if is_share else PART_NOTICED):
                    continue
                field = subject.field
                text = f"{figure_text(field, after.value)} instead of {figure_text(field, before.value)}"
                sentence = f"If {_lowered(end.words)}: {_figure_name(subject)} {text}."
                found[(end.words, subject)] = (change, sentence)
        return sorted(found.values(), key=lambda item: -item[0])

    @property
    def effect(self) -> str:
        """Return the largest change in words; empty if there is none."""
        return next((text for _, text in self._changes), "")

    @property
    def weight(self) -> float:
        """Return the largest change."""
        return next((change for change, _ in self._changes), 0.0)


def _differs(ours: Verdict, theirs: Verdict) -> bool:
    """Return whether the estimates meet the objective on one side only."""
    return None not in (ours.holds, theirs.holds) and ours.holds != theirs.holds


def _is_within(estimate: Estimate, value: float) -> bool:
    return estimate.low is not None and estimate.high is not None and estimate.low <= value <= estimate.high


def _lowered(words: str) -> str:
    return words if words.startswith(("60", "no ")) else words[0].lower() + words[1:]
