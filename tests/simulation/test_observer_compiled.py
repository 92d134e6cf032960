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

from endive.config import parse_config
from endive.errors import HistoryError
from endive.results.schema import ROW_STATUS, STATUS_ABORTED
from endive.simulation.build import OwnParts, build_parts
from endive.simulation.compiled import CompiledEngine, engine
from endive.simulation.compiled import layout as at
from endive.verification.planted import configurations

SCOPES = ("cas, catalog", "instant, group", "instant, table", "cas, partition", "service, pointer", "append, log")
Corruption = Callable[["Corrupted"], None]


class Corrupted(CompiledEngine):
    """An engine whose memory is corrupted between two events."""

    corrupt: Corruption

    def _raise_violation(self) -> None:
        super()._raise_violation()
        self.corrupt(self)

    @property
    def m(self) -> Any:
        return self._m

    def records(self) -> list[Any]:
        """The records of all txns in flight."""
        size = int(self._m[at.G + at.G_HEAP_SIZE])
        who = self._h[at.H_ROOT : at.H_ROOT + size * at.N_H].reshape(size, at.N_H)[:, at.H_WHO]
        return [self._x[int(place) // self._record_places] for place in who if place >= 0]

    def next_record(self) -> Any:
        """The record of the txn whose event comes next; None if somebody submits."""
        place = int(self._h[at.H_ROOT + at.H_WHO])
        return self._x[place // self._record_places] if place >= 0 else None

    def expect_the_newest(self, record: Any) -> None:
        """As if a check of what the txn watches were skipped: it always finds what it expects."""
        m = self._m
        for j in range(record[at.X_N_WATCHED]):
            unit = record[at.B + m[at.C_B_WATCHED] + j]
            record[at.B + m[at.C_B_EXPECTED] + j] = m[m[at.C_V] + unit]


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
    m = runner.m
    first, last = m[at.C_V], m[at.C_Q]
    versions = m[first:last]
    if not hasattr(runner, "truth"):
        runner.truth = runner.newer = versions.copy()
    if (versions > runner.newer).any():
        runner.truth, runner.newer = runner.newer, versions.copy()
    following = runner.next_record()
    is_read = following is not None and following[at.X_STAGE] == at.STAGE_READ
    versions[:] = runner.truth if is_read else runner.newer


def retry_after_success(runner: Corrupted) -> None:
    """A txn that has heard of its success swaps once more, on the newest state."""
    for record in runner.records():
        if record[at.X_STAGE] == at.STAGE_END and record[at.R + ROW_STATUS] != STATUS_ABORTED:
            runner.expect_the_newest(record)
            record[at.X_BASE_COMMIT] = np.iinfo(np.int64).max
            record[at.X_STAGE] = at.STAGE_COMMIT


def report_an_abort(runner: Corrupted) -> None:
    for record in runner.records():
        if record[at.X_STAGE] == at.STAGE_END:
            record[at.R + ROW_STATUS] = STATUS_ABORTED


def install_twice(runner: Corrupted) -> None:
    """The first commit to a table counts twice."""
    tables = runner.m[runner.m[at.C_V] + 1 + runner.m[at.C_GROUPS] :][: runner.m[at.C_TABLES]]
    tables[tables == 1] = 2


@pytest.mark.parametrize("name", SCOPES)
def test_a_skipped_check_is_a_lost_update(monkeypatch, name):
    with pytest.raises(HistoryError, match="an update is lost"):
        run_corrupted(monkeypatch, name, skip_the_check)


@pytest.mark.parametrize("name", ["cas, catalog", "instant, group", "instant, table", "cas, partition"])
def test_a_read_that_shows_an_older_state_is_caught(monkeypatch, name):
    with pytest.raises(HistoryError, match=r"was shown version \d+ of .*, where version \d+ stood"):
        run_corrupted(monkeypatch, name, read_an_older_state)


@pytest.mark.parametrize("name", ["cas, catalog", "instant, table", "service, pointer"])
def test_a_txn_that_swaps_again_after_its_success_is_caught(monkeypatch, name):
    with pytest.raises(HistoryError, match="was applied for the second time"):
        run_corrupted(monkeypatch, name, retry_after_success)


@pytest.mark.parametrize("name", SCOPES)
def test_a_commit_reported_as_an_abort_is_caught(monkeypatch, name):
    with pytest.raises(HistoryError, match=r"told at .* that it did not commit, and had been applied"):
        run_corrupted(monkeypatch, name, report_an_abort)


@pytest.mark.parametrize("name", ["instant, group", "instant, table", "append, log"])
def test_a_version_that_moves_by_two_is_caught(monkeypatch, name):
    with pytest.raises(HistoryError, match=r"left table \d|shown version \d+ of (table|group)"):
        run_corrupted(monkeypatch, name, install_twice)


@pytest.mark.parametrize("name", SCOPES)
def test_an_engine_that_is_stopped_after_every_event_and_left_alone_passes(monkeypatch, name):
    run_corrupted(monkeypatch, name, lambda runner: None)
