"""A catalog of the user's own, written as the refactoring specification writes one (section 2).

It has ``read()`` and ``commit(expected_seq, writes, intention)``, generators that yield milliseconds. The engine keeps
the state of the tables beside it: after every step of a commit it looks at the user's catalog, and installs the commit
at the instant at which the sequence number has moved.
"""

import copy
import inspect
from collections.abc import Generator
from typing import Any, NamedTuple

from endive.catalog.catalog import Catalog
from endive.catalog.snapshot import CatalogSnapshot, CommitResult, IntentionRecord
from endive.catalog.state import CatalogState
from endive.errors import EngineError
from endive.rng import START_READ
from endive.storage.client import Client
from endive.storage.provider import delay_us_of


class SpecifiedIntention(NamedTuple):
    """What a transaction writes, and the versions it has read, as a catalog of the user's own is given it."""

    txn_id: int
    tables_written: dict[int, int]
    tables_read: dict[int, int]
    size_bytes: int = 100


def check_catalog(own: object) -> None:
    """Reject a catalog of the user's own that lacks a method, or has one that is no generator."""
    name = type(own).__name__
    for method, arguments in (("read", ""), ("commit", "expected_seq, writes, intention")):
        function = getattr(type(own), method, None)
        if function is None or getattr(function, "__isabstractmethod__", False):
            raise EngineError(f"{name} has no {method}({arguments}): a catalog needs read() and commit().")
        if not inspect.isgeneratorfunction(function):
            raise EngineError(
                f"{name}.{method} must be a generator: it yields milliseconds and returns "
                f"{'a snapshot' if method == 'read' else 'a CommitResult'}."
            )
    if len(inspect.signature(own.commit).parameters) not in (2, 3):  # type: ignore[attr-defined]
        raise EngineError(f"{name}.commit must take expected_seq, writes and intention.")


class Shown:
    """The states that were the newest while a request was under way, from when it had left."""

    def __init__(self) -> None:
        self.by_seq: dict[int, CatalogSnapshot] = {}
        self._has_left = False

    def note(self, snapshot: CatalogSnapshot) -> None:
        """Keep the first snapshot of each state; what is seen before the first delay has not left the client."""
        if self._has_left:
            self.by_seq.setdefault(snapshot.seq, snapshot)
        self._has_left = True


class OwnCatalog(Catalog):
    """The engine's side of a catalog of the user's own."""

    def __init__(self, own: Any, state: CatalogState) -> None:
        super().__init__(state, refusal_returns_snapshot=True)
        self._own = copy.deepcopy(own)  # a run begins with the catalog as it was made
        self._name = type(own).__name__
        self._takes_intention = len(inspect.signature(own.commit).parameters) == 3
        self._first_seq = self._look()
        self._snapshots: list[CatalogSnapshot] = []  # by commits since the beginning

    @property
    def is_built_in(self) -> bool:
        """Never: the compiled engine cannot ask it."""
        return False

    def read(
        self, *, client: Client | None = None, step: int = START_READ, expected_size_bytes: int | None = None
    ) -> Generator[int, None, CatalogSnapshot]:
        """Read the user's catalog; the snapshot is that of the sequence number it tells."""
        process, seen = self._own.read(), Shown()
        while True:
            try:
                delay_ms = next(process)
            except StopIteration as ended:
                seen.note(self._snapshot())
                return self._snapshot_of(ended.value, "read", seen)
            seen.note(self._snapshot())
            yield delay_us_of(delay_ms, f"{self._name}.read")

    def commit(self, intention: IntentionRecord, *, client: Client | None = None) -> Generator[int, None, CommitResult]:
        """Commit to the user's catalog, and install what it has accepted."""
        begun_us = self._clock.now_us
        writes = dict(intention.tables_written)
        given = SpecifiedIntention(intention.txn_id, writes, dict(intention.tables_read), intention.size_bytes)
        expected_seq = intention.base.seq + self._first_seq
        arguments = (expected_seq, writes, given) if self._takes_intention else (expected_seq, writes)
        process = self._own.commit(*arguments)
        evaluated_us, is_installed, seen = begun_us, False, Shown()
        while True:
            try:
                delay_ms = next(process)
            except StopIteration as ended:
                told = ended.value
                is_installed, evaluated_us = self._install(intention, is_installed, evaluated_us)
                seen.note(self._snapshot())
                break
            is_installed, evaluated_us = self._install(intention, is_installed, evaluated_us)
            seen.note(self._snapshot())
            yield delay_us_of(delay_ms, f"{self._name}.commit")
        success = getattr(told, "success", None)
        if not isinstance(success, bool) or success is not is_installed:
            state = "has moved" if is_installed else "has not moved"
            raise EngineError(
                f"{self._name}.commit returned {told!r}, and the sequence number that read() shows {state} during it; "
                "it must return a CommitResult whose success says so."
            )
        shown = None if success or told.snapshot is None else self._snapshot_of(told.snapshot, "commit", seen)
        if shown is not None:
            evaluated_us = shown.timestamp_us
        left = self._snapshot() if success and intention.keeps_table else None
        return CommitResult(success, shown, (self._clock.now_us - begun_us) / 1000.0, evaluated_us, installed=left)

    def _install(self, intention: IntentionRecord, is_installed: bool, evaluated_us: int) -> tuple[bool, int]:
        """Install the commit if the user's catalog has just accepted it."""
        moved = self._look() - self._first_seq - self.state.seq
        if moved == 0:
            return is_installed, evaluated_us if is_installed else self._clock.now_us
        if moved != 1 or is_installed:
            raise EngineError(f"{self._name}.commit moved the sequence number by {moved}; a commit moves it by 1.")
        self._keep()
        self.state.apply(intention, self._clock.now_us)
        return True, self._clock.now_us

    def _keep(self) -> None:
        """Keep the state before a commit, for whoever is still shown it."""
        while len(self._snapshots) <= self.state.seq:
            self._snapshots.append(self._snapshot())

    def _snapshot_of(self, told: Any, method: str, seen: "Shown") -> CatalogSnapshot:
        """Return the state that a snapshot of the user's catalog stands for, as of the instant it was the newest."""
        seq = getattr(told, "seq", None)
        if not isinstance(seq, int):
            raise EngineError(f"{self._name}.{method} returned {told!r}; it must return a snapshot with a seq.")
        commits = seq - self._first_seq
        if commits in seen.by_seq:
            return seen.by_seq[commits]
        if not 0 <= commits < len(self._snapshots):
            raise EngineError(f"{self._name}.{method} returned seq {seq}, which no commit has made.")
        return self._snapshots[commits]

    def _look(self) -> int:
        """Return the sequence number of the user's catalog at this instant, in no time."""
        process = self._own.read()
        while True:
            try:
                next(process)
            except StopIteration as ended:
                seq = getattr(ended.value, "seq", None)
                if not isinstance(seq, int):
                    raise EngineError(
                        f"{self._name}.read returned {ended.value!r}; it must return a snapshot with a seq."
                    ) from None
                return seq
