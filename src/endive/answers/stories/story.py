"""The story of one txn: what it read, what it paid, who overtook it, and why it ended.

This file turns a journal into attempts and attempts into sentences; the journal lives in ``journal``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from endive.answers.format_words import phase_name
from endive.answers.stories.journal import Journal, Look, Swap
from endive.objectives import duration_text
from endive.rng import POINTER_READ, REFRESH, START_READ, STATUS_READ
from endive.vocabulary import DELETE, KINDS_OF, OBJECTS, OPERATIONS, PHASES

RIVALS_TOLD: Final = 3
_GIVEN_UP: Final = "gives up a request that the store throttled at every try"
_LOCK_WORDS: Final = {"catalog create": "call for the table's lock", "catalog delete": "release of the lock"}
FAILURES: Final = {
    "validation_exception": "finds that a rival changed the same data: a real conflict",
    "history_expired": "finds that part of the history it must look through was expired",
    "concurrent_append": "finds that a winner added files that it should have read (ConcurrentAppendException)",
    "concurrent_delete_read": "finds that a winner removed files that it has read (ConcurrentDeleteReadException)",
    "concurrent_delete_delete": "finds that a winner removed files that it removes (ConcurrentDeleteDeleteException)",
    "log_cleaned_up": "finds that a commit file it must look into was cleaned up",
}


@dataclass(frozen=True, slots=True)
class Rival:
    """A commit of another txn that landed in a hazard window."""

    txn_id: int
    source: str
    kind: str
    landed_us: int


@dataclass(frozen=True, slots=True)
class Step:
    """Requests of one sort, sent one after another."""

    begin_us: int
    end_us: int
    what: str
    count: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try: from its first request to the answer that ended it."""

    number: int
    begin_us: int
    end_us: int
    base_us: int  # the instant of the state it built on
    decided_us: int  # when the server refused or installed it
    is_installed: bool
    failed_of: str | None  # what its validation found, which no retry mends
    is_given_up: bool  # the store throttled one of its requests as often as it was tried
    steps: tuple[Step, ...]
    rivals: tuple[Rival, ...]  # in its hazard window; if its validation failed, since the txn began
    seq: int | None
    given_up_us: int | None  # when the txn stopped waiting for an answer that was lost
    checks: int  # whether its commit is in the history


@dataclass(frozen=True, slots=True)
class Story:
    """A txn as its record says, with its attempts as the journal says."""

    record: Mapping[str, Any]
    attempts: tuple[Attempt, ...]
    throttled_loading: int  # throttled tries before its first attempt
    moved_by: tuple[Rival, ...] = ()  # who committed between the load and the look that found the table moved

    @property
    def lines(self) -> list[str]:
        """The story, line by line; times count from the txn's submission."""
        record = self.record
        head = f"txn {record['txn_id']}: {record['kind']} of {record['source']}"
        head += f", submitted at {record['submit_ms'] / 1000:,.3f} s"
        return [head, *_work(self), *_attempt_lines(self), *_moved(self), _end(record), *_bill(record)]


class Stories:
    """Tells the stories of one run's txns."""

    def __init__(self, journal: Journal, records: Mapping[int, Mapping[str, Any]]) -> None:
        self._records = records
        installed = sorted((swap for swap in journal.swaps if swap.is_installed), key=lambda swap: swap.evaluated_us)
        self._by_table: dict[int, list[Swap]] = {}
        for swap in installed:
            for table in swap.tables:
                self._by_table.setdefault(table, []).append(swap)
        self._instants = {table: [swap.evaluated_us for swap in swaps] for table, swaps in self._by_table.items()}
        self._of_txn: dict[int, tuple[list[Look], list[Swap], list[Any]]] = {}
        for look in journal.looks:
            self._of_txn.setdefault(look.txn_id, ([], [], []))[0].append(look)
        for swap in journal.swaps:
            self._of_txn.setdefault(swap.txn_id, ([], [], []))[1].append(swap)
        for request in journal.requests:
            self._of_txn.setdefault(request[1], ([], [], []))[2].append(request)

    def of(self, txn_id: int) -> Story:
        """The story of one txn."""
        record = self._records[txn_id]
        looks, swaps, requests = self._of_txn.get(txn_id, ([], [], []))
        numbers = range(1, max((entry[2] for entry in requests), default=0) + 1)
        tries = [self._attempt(n, record, looks, swaps, requests) for n in numbers]
        throttled = sum(entry[5] for entry in requests if entry[2] == 0 and entry[6])
        attempts = tuple(attempt for attempt in tries if attempt is not None)
        return Story(record, attempts, throttled, self._moved_by(record, looks))

    def _moved_by(self, record: Mapping[str, Any], looks: list[Look]) -> tuple[Rival, ...]:
        if record["reason"] != "table_moved":
            return ()
        loaded_us = next((look.seen_us for look in reversed(looks) if look.step == START_READ), looks[0].seen_us)
        return self._rivals(record["txn_id"], tuple(record["tables_written"]), loaded_us, looks[-1].seen_us)

    def _attempt(
        self, number: int, record: Mapping[str, Any], looks: list[Look], swaps: list[Swap], requests: list[Any]
    ) -> Attempt | None:
        sent = [entry for entry in requests if entry[2] == number]
        own_looks = [look for look in looks if look.attempt == number]
        swap = next((swap for swap in swaps if swap.attempt == number), None)
        check = next((look for look in own_looks if look.step == POINTER_READ), None)
        base = next((look for look in reversed(own_looks) if look.step == REFRESH), None)
        checks = [look for look in own_looks if look.step == STATUS_READ]
        is_given_up = number == record["attempts"] and record["reason"] == "storage_failed"
        failed_of = record["reason"] if swap is None and check is None and record["reason"] in FAILURES else None
        if swap is None and check is None and failed_of is None and not is_given_up:
            return None
        tables = tuple(record["tables_written"])
        shown = base or next(iter(looks), None)
        base_us = swap.base_us if swap is not None else shown.seen_us if shown is not None else sent[0][0]
        last_us = max((entry[0] for entry in sent), default=base_us)
        decided_us = swap.evaluated_us if swap is not None else check.seen_us if check is not None else last_us
        end_us = swap.answered_us if swap is not None else check.answered_us if check is not None else last_us
        rivals_since_us = base_us
        if failed_of is not None:
            end_us = round(record["end_ms"] * 1000.0) if number == record["attempts"] else last_us
            decided_us = min((entry[0] for entry in sent if entry[4] == DELETE), default=end_us)
            rivals_since_us = looks[0].seen_us
        if is_given_up:
            decided_us = end_us = round(record["end_ms"] * 1000.0)
        given_up_us = _given_up_us(number, record, checks)
        if given_up_us is not None:
            end_us = checks[-1].answered_us if checks else given_up_us
        return Attempt(
            number=number,
            begin_us=min([look.sent_us for look in own_looks] + [entry[0] for entry in sent]),
            end_us=end_us,
            base_us=base_us,
            decided_us=decided_us,
            is_installed=swap is not None and swap.is_installed,
            failed_of=failed_of,
            is_given_up=is_given_up,
            steps=_steps(sent, _over_us(number, record, end_us)),
            rivals=self._rivals(record["txn_id"], tables, rivals_since_us, base_us if failed_of else decided_us),
            seq=base.seq if base is not None else None,
            given_up_us=given_up_us,
            checks=len(checks),
        )

    def _rivals(self, txn_id: int, tables: Sequence[int], from_us: int, to_us: int) -> tuple[Rival, ...]:
        rivals: dict[int, Rival] = {}
        for table in tables:
            instants = self._instants.get(table, [])
            first, last = bisect_right(instants, from_us), bisect_right(instants, to_us)
            for swap in self._by_table.get(table, [])[first:last]:
                if swap.txn_id != txn_id:
                    record = self._records.get(swap.txn_id, {"source": "?", "kind": "?"})
                    rivals[swap.txn_id] = Rival(swap.txn_id, record["source"], record["kind"], swap.evaluated_us)
        return tuple(sorted(rivals.values(), key=lambda rival: rival.landed_us))


def _given_up_us(number: int, record: Mapping[str, Any], checks: list[Look]) -> int | None:
    """When an attempt stopped waiting for an answer that was lost: at its first check, or at the end of the txn."""
    if checks:
        return checks[0].sent_us
    is_last = number == record["attempts"] and record["reason"] == "commit_state_unknown"
    return round(record["end_ms"] * 1000.0) if is_last else None


def _over_us(number: int, record: Mapping[str, Any], end_us: int) -> int:
    """When the last request of an attempt is over: what a txn reads or deletes after its last attempt ends with it."""
    is_last = number == record["attempts"] and record["end_ms"] is not None
    return max(end_us, round(record["end_ms"] * 1000.0)) if is_last else end_us


def _steps(sent: list[Any], end_us: int) -> tuple[Step, ...]:
    """Requests grouped while object and operation stay the same; a group lasts until the next one begins."""
    groups: list[tuple[int, str, int]] = []
    for now_us, _, _, obj, op, count, is_throttled in sent:
        what = f"{OBJECTS[obj]} {OPERATIONS[op]}".replace("_", " ") + " throttled" * is_throttled
        if groups and groups[-1][1] == what:
            groups[-1] = (groups[-1][0], what, groups[-1][2] + count)
        else:
            groups.append((now_us, what, count))
    ends = [group[0] for group in groups[1:]] + [max(end_us, groups[-1][0] if groups else 0)]
    return tuple(Step(begin, end, what, count) for (begin, what, count), end in zip(groups, ends, strict=True))


# --- sentences ----------------------------------------------------------------------------------------


def _at(story_us: int, record: Mapping[str, Any]) -> str:
    return f"+{(story_us / 1000.0 - record['submit_ms']) / 1000.0:,.3f} s"


def _work(story: Story) -> list[str]:
    record = story.record
    tries = f"{story.throttled_loading} tr{'y' if story.throttled_loading == 1 else 'ies'}"
    lines = [f"  the store throttles {tries} of its requests while it loads"] if story.throttled_loading else []
    if record["commit_start_ms"] is not None:
        worked_ms = record["commit_start_ms"] - record["submit_ms"]
        return [*lines, f"  loads the table and works for {duration_text(worked_ms)}, then begins to commit"]
    if record["status"] == "in_flight":
        return [*lines, "  still at work when the simulation ended"]
    if record["reason"] == "table_moved":
        return [*lines, "  loads the table and works, and never begins to commit"]
    return [*lines, f"  {_GIVEN_UP}, before it has loaded the table"]


def _moved(story: Story) -> list[str]:
    """What a copy-on-write statement finds before it commits, if that is its end."""
    record = story.record
    if record["reason"] != "table_moved":
        return []
    who = ", ".join(f"txn {rival.txn_id} ({rival.kind} of {rival.source})" for rival in story.moved_by[:RIVALS_TOLD])
    words = "filters its files, and the table has moved since it was planned (Runtime file filtering is not possible)"
    return [f"  {_at(round(record['end_ms'] * 1000.0), record)}  {words}: committed meanwhile by {who or 'a rival'}"]


def _attempt_lines(story: Story) -> list[str]:
    lines: list[str] = []
    record, last_end_us = story.record, None
    lines += _wait_for_turn(story)
    for attempt in story.attempts:
        if last_end_us is not None:
            pause_ms = (attempt.begin_us - last_end_us) / 1000.0
            waits = f"waits {duration_text(pause_ms)} before it tries again" if pause_ms else "tries again at once"
            lines.append(f"  {_at(last_end_us, record)}  {waits}")
        lines.append(f"  {_at(attempt.begin_us, record)}  attempt {attempt.number}{_built_on(attempt, record)}")
        told = [*_missing_checksum(attempt), *((step.begin_us, _step(step)) for step in attempt.steps)]
        told.append((attempt.decided_us, _verdict(attempt, record)))
        if attempt.given_up_us is not None:
            told.append((attempt.given_up_us, _lost(attempt)))
        lines += [f"  {_at(begin_us, record)}    {text}" for begin_us, text in sorted(told, key=lambda line: line[0])]
        last_end_us = attempt.end_us
    return lines


def _wait_for_turn(story: Story) -> list[str]:
    """What lies between its work and its first attempt: a queue, or a coordinator."""
    record = story.record
    if record["commit_start_ms"] is None or record["end_ms"] is None:
        return []
    start_us = round(record["commit_start_ms"] * 1000.0)
    if not story.attempts:
        return [f"  {_at(start_us, record)}  hands its files over: the commit of another txn carries them"]
    waited_ms = (story.attempts[0].begin_us - start_us) / 1000.0
    carried = f", and carries the files of {record['gathered']:,} others" if record["gathered"] else ""
    if not 0.0 < waited_ms <= record["phase_backoff_ms"] + 0.001:
        return [f"  {_at(start_us, record)}  it is its turn to commit{carried}"] if carried else []
    return [f"  {_at(start_us, record)}  waits {duration_text(waited_ms)} for its turn to commit{carried}"]


def _step(step: Step) -> str:
    what = _LOCK_WORDS.get(step.what, step.what)
    return f"{step.count:,} x {what}, {duration_text((step.end_us - step.begin_us) / 1000.0)}"


def _missing_checksum(attempt: Attempt) -> list[tuple[int, str]]:
    """When a writer of Delta Spark that has committed begins to read the log for its own checksum, if it does."""
    after = [step for step in attempt.steps if attempt.is_installed and step.begin_us >= attempt.decided_us]
    written = next((place for place, step in enumerate(after) if step.what == "checksum write"), 0)
    reads = (step for step in after[:written] if step.what in ("commit file read", "checkpoint read"))
    text = "the checksum of the version before is not there yet: it reads the log to make its own"
    return [(step.begin_us, text) for step in islice(reads, 1)]


def _built_on(attempt: Attempt, record: Mapping[str, Any]) -> str:
    if attempt.seq is None and attempt.is_given_up:
        return ""
    if attempt.seq is None:
        return f", builds on the state of {_at(attempt.base_us, record)}"
    if record["kind"] in KINDS_OF["delta"]:
        return f", behind the last winner in the log, as listed at {_at(attempt.base_us, record)}"
    return f", builds on catalog version {attempt.seq}, as the server had it at {_at(attempt.base_us, record)}"


def _verdict(attempt: Attempt, record: Mapping[str, Any]) -> str:
    window = duration_text((attempt.decided_us - attempt.base_us) / 1000.0)
    if attempt.is_given_up:
        return f"{_GIVEN_UP}; nothing was swapped, and what it has written stays"
    if attempt.failed_of is not None:
        counts = Counter((rival.kind, rival.source) for rival in attempt.rivals)
        since = ", ".join(f"{count:,} {kind} of {source}" for (kind, source), count in counts.most_common())
        return f"{FAILURES[attempt.failed_of]}, which no retry mends; committed since it began: {since or 'nothing'}"
    if attempt.is_installed:
        is_delta = record["kind"] in KINDS_OF["delta"]
        how = "the commit file is created" if is_delta else "the server installs the commit"
        return f"{how}; nobody came between in the {window} since its base"
    lost = duration_text((attempt.end_us - attempt.begin_us) / 1000.0)
    if not attempt.rivals:
        return f"refused after a hazard window of {window}; {lost} lost"
    told = ", ".join(
        f"txn {rival.txn_id} ({rival.kind} of {rival.source}, "
        f"{duration_text((rival.landed_us - attempt.base_us) / 1000.0)} into it)"
        for rival in attempt.rivals[:RIVALS_TOLD]
    )
    more = len(attempt.rivals) - RIVALS_TOLD
    others = f" and {more} more" if more > 0 else ""
    return f"refused: overtaken in its hazard window of {window} by {told}{others}; {lost} lost"


def _lost(attempt: Attempt) -> str:
    begin = "the answer never arrives; it stops waiting, not knowing whether it has committed"
    if not attempt.checks:
        return f"{begin}, and does not check"
    checks = "once" if attempt.checks == 1 else f"{attempt.checks} times"
    return f"{begin}, and looks {checks} for its commit in the table's history"


def _end(record: Mapping[str, Any]) -> str:
    if record["status"] == "in_flight":
        return f"  still {record['in_flight_stage']} when the simulation ended"
    reason = "" if record["reason"] is None else f": {record['reason'].replace('_', ' ')}"
    tries = f"{record['attempts']} attempt{'s' if record['attempts'] != 1 else ''}"
    if record["commit_start_ms"] is not None and not record["attempts"]:
        tries = "no attempt of its own"
    took = duration_text(record["commit_latency_ms"] or 0.0)
    when = f"+{record['total_latency_ms'] / 1000:,.3f} s"
    return f"  {when}  {record['status']}{reason}, after {tries} and {took} of committing"


def _bill(record: Mapping[str, Any]) -> list[str]:
    phases = {phase: record[f"phase_{phase}_ms"] for phase in PHASES if phase != "runtime"}
    spent = sorted(((ms, phase) for phase, ms in phases.items() if ms), reverse=True)
    if not spent:
        return []
    is_delta = record["kind"] in KINDS_OF["delta"]
    told = ", ".join(f"{phase_name(phase, is_delta)} {duration_text(ms)}" for ms, phase in spent)
    return [f"  where the time went: {told}"]
