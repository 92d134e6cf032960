"""The observer of the compiled engine: corrupt arrays under the real kernel, and see what it says.

A bug cannot be planted in machine code by a subclass. But what it would leave behind in the arrays can: here the kernel
is stopped after every event, and a test does to its memory what the bug would have done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.properties.recording import RawRows

from endive.catalog.ledger import Ledger
from endive.config import parse_config
from endive.errors import HistoryError
from endive.simulation.build import OwnParts, build_parts
from endive.simulation.compiled import CompiledEngine, engine, heap
from endive.simulation.compiled.moments import (
    MOMENT_COMMIT,
    MOMENT_DISCOVERY,
    MOMENT_END,
    MOMENT_POINTER_CHECK,
    MOMENT_READ_BACK,
    MOMENT_REFRESH,
    MOMENT_START_READ,
)
from endive.vocabulary import ABORTED
from verification.suites.planted import configurations

SCOPES = ("cas, catalog", "instant, group", "instant, table", "cas, partition", "service, pointer", "append, log")
READS = (MOMENT_START_READ, MOMENT_REFRESH, MOMENT_POINTER_CHECK, MOMENT_DISCOVERY, MOMENT_READ_BACK)
Corruption = Callable[["Corrupted"], None]


class Corrupted(CompiledEngine):
    """An engine whose memory is corrupted between two events."""

    corrupt: Corruption

    def _raise_violation(self, ledger: Ledger) -> None:
        super()._raise_violation(ledger)
        self.corrupt(self)

    @property
    def versions(self) -> Any:
        """The server's versions."""
        return self._arrays["server.versions"]

    @property
    def world(self) -> Any:
        """Settings and state."""
        return self._world

    def records(self) -> list[Any]:
        """The records of all txns in flight."""
        who = self._arrays["loop.heap"]["who"][heap.ROOT : heap.ROOT + int(self._world["loop"]["heap_size"])]
        return [self._arrays["flight.txns"][place] for place in who if place >= 0]

    def next_record(self) -> Any:
        """The record of the txn whose event comes next; None if somebody submits."""
        place = int(self._arrays["loop.heap"]["who"][heap.ROOT])
        return self._arrays["flight.txns"][place] if place >= 0 else None

    def expect_the_newest(self, record: Any) -> None:
        """As if a check of what the txn watches were skipped: it always finds what it expects."""
        room = int(self._world["flight"]["watched_max"])
        first = int(record["place"]) * room
        watched = self._arrays["flight.watched"][first : first + int(record["n_watched"])]
        self._arrays["flight.expected"][first : first + len(watched)] = self.versions[watched]


def run_corrupted(monkeypatch: pytest.MonkeyPatch, name: str, corrupt: Corruption) -> None:
    monkeypatch.setattr(engine, "EVENTS_PER_TURN", 1)
    config = parse_config(configurations()[name])
    runner = Corrupted(build_parts(config, 1, OwnParts()), RawRows())  # type: ignore[arg-type]
    runner.corrupt = corrupt
    runner.run()


def skip_the_check(runner: Corrupted) -> None:
    for record in runner.records():
        runner.expect_the_newest(record)


def read_an_older_state(runner: Corrupted) -> None:
    """While a read is under way the server shows what stood there before the last commit."""
    versions = runner.versions
    if not hasattr(runner, "truth"):
        runner.truth = runner.newer = versions.copy()
    if (versions > runner.newer).any():
        runner.truth, runner.newer = runner.newer, versions.copy()
    following = runner.next_record()
    is_read = following is not None and int(following["moment"]) in READS
    versions[:] = runner.truth if is_read else runner.newer


def retry_after_success(runner: Corrupted) -> None:
    """A txn that has heard of its success swaps once more, on the newest state."""
    for record in runner.records():
        if record["moment"] == MOMENT_END and record["row"]["status"] != ABORTED:
            runner.expect_the_newest(record)
            record["base_commit"] = np.iinfo(np.int64).max
            record["moment"] = MOMENT_COMMIT


def report_an_abort(runner: Corrupted) -> None:
    for record in runner.records():
        if record["moment"] == MOMENT_END:
            record["row"]["status"] = ABORTED


def install_twice(runner: Corrupted) -> None:
    """The first commit to a table counts twice."""
    catalog = runner.world["catalog"]
    tables = runner.versions[1 + catalog["num_groups"] :][: catalog["num_tables"]]
    tables[tables == 1] = 2


OBJECTS = ("cas, catalog", "instant, group", "instant, table", "cas, partition")
CORRUPTIONS: dict[Corruption, tuple[tuple[str, ...], str]] = {
    skip_the_check: (SCOPES, "an update is lost"),
    read_an_older_state: (OBJECTS, r"was shown version \d+ of .*, where version \d+ stood"),
    retry_after_success: (
        ("cas, catalog", "instant, table", "service, pointer"),
        "was applied for the second time",
    ),
    report_an_abort: (SCOPES, r"told at .* that it did not commit, and had been applied"),
    install_twice: (
        ("instant, group", "instant, table", "append, log"),
        r"left table \d|shown version \d+ of (table|group)",
    ),
}


@pytest.mark.parametrize(
    ("corrupt", "name"), [(corrupt, name) for corrupt, (names, _) in CORRUPTIONS.items() for name in names]
)
def test_what_a_bug_would_leave_in_memory_is_caught(monkeypatch, corrupt, name):
    with pytest.raises(HistoryError, match=CORRUPTIONS[corrupt][1]):
        run_corrupted(monkeypatch, name, corrupt)


@pytest.mark.parametrize("name", SCOPES)
def test_an_engine_that_is_stopped_after_every_event_and_left_alone_passes(monkeypatch, name):
    run_corrupted(monkeypatch, name, lambda runner: None)
