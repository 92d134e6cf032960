"""The trace of one transaction: what it read, what it paid, which commits landed first, and why it ended.

This file turns a journal into attempts, and attempts into events; the journal is in ``journal``.
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
from endive.rng import POINTER_READ, REFRESH, STATUS_READ
from endive.vocabulary import DELETE, KINDS_OF, OBJECTS, OPERATIONS, PHASES

CONFLICTS_NAMED: Final = 3
VERBS: Final = {"read": "reads", "write": "writes", "head": "checks", "delete": "deletes"}
REASONS: Final = {
    "validation_exception": "conflict, not retryable",
    "retries_exhausted": "out of retries",
    "timeout": "out of time",
    "commit_state_unknown": "the answer to its commit was lost",
}
_GIVEN_UP: Final = "gives up a request that the store throttled at every try"
_LOCK_WORDS: Final = {"catalog create": "call for the table's lock", "catalog delete": "release of the lock"}
FAILURES: Final = {
    "validation_exception": "finds a conflicting change: ValidationException",
    "history_expired": "finds that part of the history it must validate has expired",
    "concurrent_append": "finds files added where it has read: ConcurrentAppendException",
    "concurrent_delete_read": "finds that files it has read were removed: ConcurrentDeleteReadException",
    "concurrent_delete_delete": "finds that files it removes were removed: ConcurrentDeleteDeleteException",
    "log_cleaned_up": "finds that a commit file it must read was cleaned up",
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

    @property
    def headline(self) -> str:
        """Return who, what became of it, after how many attempts, and why."""
        return _headline(self.record)

    @property
    def steps(self) -> list[tuple[str, str]]:
        """Return time and event of everything it did; times count from the start of its commit."""
        return [*_work(self), *_attempt_steps(self)]

    @property
    def phase_lines(self) -> list[str]:
        """Return where its time went, in one line; none if it sent nothing."""
        return _bill(self.record)

    @property
    def lines(self) -> list[str]:
        """Return the trace as text."""
        steps = [f"  {when:>9}  {event}" for when, event in self.steps]
        return [self.headline, *steps, *(f"  {line}" for line in self.phase_lines)]


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
        """Return the story of one txn."""
        record = self._records[txn_id]
        looks, swaps, requests = self._of_txn.get(txn_id, ([], [], []))
        numbers = range(1, max((entry[2] for entry in requests), default=0) + 1)
        tries = [self._attempt(n, record, looks, swaps, requests) for n in numbers]
        throttled = sum(entry[5] for entry in requests if entry[2] == 0 and entry[6])
        attempts = tuple(attempt for attempt in tries if attempt is not None)
        return Story(record, attempts, throttled)

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


Event = tuple[str, str]  # when, relative to the start of the commit, and what


def _headline(record: Mapping[str, Any]) -> str:
    tries = f"{record['attempts']} attempt{'s' if record['attempts'] != 1 else ''}"
    if record["commit_start_ms"] is not None and not record["attempts"]:
        tries = "no attempt of its own"
    who = f"transaction {record['txn_id']} ({record['source']})"
    if record["status"] == "in_flight":
        return f"{who} was still {record['in_flight_stage']} when the simulation ended"
    took = f" in {duration_text(record['commit_latency_ms'])}" if record["commit_latency_ms"] else ""
    if record["status"] == "committed":
        return f"{who} committed after {tries}{took}"
    return f"{who} failed after {tries}{took}: {REASONS.get(record['reason'], str(record['reason']).replace('_', ' '))}"


def _at(story_us: int, record: Mapping[str, Any]) -> str:
    start_ms = record["submit_ms"] if record["commit_start_ms"] is None else record["commit_start_ms"]
    return f"+ {duration_text(max(0.0, story_us / 1000.0 - start_ms))}"


def _work(story: Story) -> list[Event]:
    record = story.record
    tries = f"{story.throttled_loading} tr{'y' if story.throttled_loading == 1 else 'ies'}"
    events = [("", f"the store throttles {tries} of its requests while it loads")] if story.throttled_loading else []
    if record["commit_start_ms"] is not None:
        worked_ms = record["commit_start_ms"] - record["submit_ms"]
        return [*events, (duration_text(worked_ms), f"does its work, then starts to commit{_meanwhile(story)}")]
    if record["status"] == "in_flight":
        return [*events, ("", "still at work when the simulation ended")]
    return [*events, ("", f"{_GIVEN_UP}, before it has loaded the table")]


def _meanwhile(story: Story) -> str:
    """Return what landed while it worked, if its validation found that."""
    failed = [attempt for attempt in story.attempts if attempt.failed_of is not None]
    landed = len(failed[-1].rivals) if failed else 0
    return f"; {landed:,} commits have landed meanwhile" if landed else ""


def _attempt_steps(story: Story) -> list[Event]:
    events: list[Event] = []
    record, last_end_us = story.record, None
    events += _wait_for_slot(story)
    for attempt in story.attempts:
        if last_end_us is not None:
            pause_ms = (attempt.begin_us - last_end_us) / 1000.0
            waits = (
                f"waits {duration_text(pause_ms)} before attempt {attempt.number}"
                if pause_ms
                else "tries again at once"
            )
            events.append((_at(last_end_us, record), waits))
        timed = [(begin_us, text) for begin_us, text in _grouped(attempt)]
        timed += _missing_checksum(attempt)
        timed.append((attempt.decided_us, _verdict(attempt, record)))
        if attempt.given_up_us is not None:
            timed.append((attempt.given_up_us, _lost(attempt)))
        events += [(_at(at_us, record), text) for at_us, text in sorted(timed, key=lambda event: event[0])]
        last_end_us = attempt.end_us
    return events


def _grouped(attempt: Attempt) -> list[tuple[int, str]]:
    """Return the requests of an attempt, those on the same objects in one line, with how long they took."""
    groups: list[list[Step]] = []
    for step in attempt.steps:
        name = step.what.partition(" head")[0].partition(" read")[0] if step.what.endswith(("head", "read")) else ""
        last = groups[-1] if groups else None
        is_same = (
            last is not None
            and bool(name)
            and last[-1].what in (f"{name} head", f"{name} read")
            and last[-1].count == step.count
        )
        if is_same and last is not None:
            last.append(step)
        else:
            groups.append([step])
    return [(group[0].begin_us, _step(group)) for group in groups]


def _step(group: Sequence[Step]) -> str:
    step = group[-1]
    took = duration_text((step.end_us - group[0].begin_us) / 1000.0)
    what = _LOCK_WORDS.get(step.what, step.what)
    name, _, operation = what.rpartition(" ")
    if operation in VERBS and name:
        name = f"{step.count:,} {name}s" if step.count > 1 else name
        both = " (HEAD and GET each)" if len(group) > 1 else ""
        return f"{VERBS[operation]} {name}{both}: {took}"
    return f"{step.count:,} x {what}: {took}" if step.count > 1 else f"{what}: {took}"


def _wait_for_slot(story: Story) -> list[Event]:
    """Return what lies between its work and its first attempt: a queue, or a coordinator."""
    record = story.record
    if record["commit_start_ms"] is None or record["end_ms"] is None:
        return []
    start_us = round(record["commit_start_ms"] * 1000.0)
    if not story.attempts:
        return [(_at(start_us, record), "hands its files over: the commit of another transaction carries them")]
    waited_ms = (story.attempts[0].begin_us - start_us) / 1000.0
    carried = f", and carries the files of {record['gathered']:,} others" if record["gathered"] else ""
    if not 0.0 < waited_ms <= record["phase_backoff_ms"] + 0.001:
        return [(_at(start_us, record), f"its slot to commit comes{carried}")] if carried else []
    return [(_at(start_us, record), f"waits {duration_text(waited_ms)} for its slot to commit{carried}")]


def _missing_checksum(attempt: Attempt) -> list[tuple[int, str]]:
    """When a writer of Delta Spark that has committed begins to read the log for its own checksum, if it does."""
    after = [step for step in attempt.steps if attempt.is_installed and step.begin_us >= attempt.decided_us]
    written = next((place for place, step in enumerate(after) if step.what == "checksum write"), 0)
    reads = (step for step in after[:written] if step.what in ("commit file read", "checkpoint read"))
    text = "the checksum of the version before is not there yet: it reads the log to make its own"
    return [(step.begin_us, text) for step in islice(reads, 1)]


def _verdict(attempt: Attempt, record: Mapping[str, Any]) -> str:
    window = duration_text((attempt.decided_us - attempt.base_us) / 1000.0)
    if attempt.is_given_up:
        return f"{_GIVEN_UP}; nothing was committed, and the files it has written stay"
    if attempt.failed_of is not None:
        counts = Counter((rival.kind, rival.source) for rival in attempt.rivals)
        since = ", ".join(
            f"{count:,} {kind.replace('_', ' ')} of {source}" for (kind, source), count in counts.most_common()
        )
        return f"{FAILURES[attempt.failed_of]}; landed since it began: {since or 'nothing'}"
    if attempt.is_installed:
        is_delta = record["kind"] in KINDS_OF["delta"]
        how = "the commit file is created" if is_delta else "the catalog accepts the commit"
        return f"{how}; no other commit landed in its {window}"
    lost = duration_text((attempt.end_us - attempt.begin_us) / 1000.0)
    if not attempt.rivals:
        return f"refused after {window}; {lost} lost"
    named = ", ".join(f"transaction {rival.txn_id} ({rival.source})" for rival in attempt.rivals[:CONFLICTS_NAMED])
    more = len(attempt.rivals) - CONFLICTS_NAMED
    others = f" and {more} more" if more > 0 else ""
    return f"refused: {named}{others} landed while it was being built; {lost} lost"


def _lost(attempt: Attempt) -> str:
    begin = "the answer never arrives; it stops waiting without knowing whether it has committed"
    if not attempt.checks:
        return f"{begin}, and does not check"
    checks = "once" if attempt.checks == 1 else f"{attempt.checks} times"
    return f"{begin}, and checks {checks} for its commit in the table's history"


def _bill(record: Mapping[str, Any]) -> list[str]:
    phases = {phase: record[f"phase_{phase}_ms"] for phase in PHASES if phase != "runtime"}
    spent = sorted(((ms, phase) for phase, ms in phases.items() if ms), reverse=True)
    if not spent:
        return []
    is_delta = record["kind"] in KINDS_OF["delta"]
    told = ", ".join(f"{phase_name(phase, is_delta)} {duration_text(ms)}" for ms, phase in spent)
    return [f"time: {told}"]
