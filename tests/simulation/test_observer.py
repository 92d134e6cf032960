"""The observer: sound runs pass and say so, every planted bug is caught, and each violation in its own words."""

from __future__ import annotations

from typing import Any

import pytest
from tests.clock import HandClock

from endive import Simulation, simulate
from endive.catalog import AppendCatalog, Catalog, CatalogState, CommitResult, IntentionRecord
from endive.errors import HistoryError
from endive.simulation.observer import ObservedCatalog, unit_name
from endive.storage import ConstantStorageProvider
from endive.storage.client import Client
from verification.suites.planted import BUGS, configurations, run_planted

CONFIGURATIONS = configurations()


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_sound_run_passes_and_its_commits_add_up(name, engine):
    result = simulate(CONFIGURATIONS[name], seed=3, engine=engine)

    statuses = result.transactions.column("status").to_pylist()
    assert statuses.count("committed") == result.history.commits_reported
    assert result.history.commits_applied == result.history.commits_reported + result.history.commits_unanswered
    assert 0 == result.history.commits_untold
    assert result.to_json_dict()["history_checked"] is True


@pytest.mark.parametrize(("before_end_ms", "counts"), [(3.0, (0, 0, 0)), (1.0, (1, 0, 1)), (-1.0, (1, 1, 0))])
def test_a_commit_whose_answer_is_under_way_when_the_clock_stops_is_counted(engine, before_end_ms, counts):
    """The swap takes 4 ms, and the server evaluates it after 2."""

    def run(duration_ms: float) -> Any:
        return simulate(
            {
                "simulation": {"duration_ms": duration_ms, "warmup_ms": 0.0, "cooldown_ms": 0.0},
                "storage": {"provider": "constant", "latency_ms": 6.0},
                "catalog": {"type": "instant", "latency_ms": 4.0},
                "commit": {"protocol": "merge"},
                "transaction": {"runtime": {"distribution": "fixed", "ms": 73.0}},
                "source": [{"name": "one", "arrivals": {"kind": "fixed", "ms": 100.0}, "stop_ms": 150.0}],
            },
            engine=engine,
        )

    end_ms = run(1_000.0).transactions.column("end_ms").to_pylist()[0]
    history = run(end_ms - before_end_ms).history

    assert counts == (history.commits_applied, history.commits_reported, history.commits_unanswered)


@pytest.mark.parametrize("name", CONFIGURATIONS)
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_caught(bug, name):
    told = run_planted(bug, CONFIGURATIONS[name])

    assert told is not None
    assert told.startswith("the history is not serial: ")
    assert bug.is_caught_by(told), told


class Scripted(Catalog):
    """A catalog of 10 us a call that does what a test says, 4 us after it was asked."""

    def __init__(self, state: CatalogState, **lies: Any) -> None:
        super().__init__(state, refusal_returns_snapshot=False)
        self.lies = lies

    def read(self, **_: Any) -> Any:
        yield 4
        if self.lies.get("reading_commits"):
            self.state.apply(IntentionRecord(9, self.state.snapshot(0), (0,), 1))
        snapshot = self.state.snapshot(self._clock.now_us + self.lies.get("stamp_us", 0))
        yield 6
        return snapshot

    def commit(self, intention: IntentionRecord, **_: Any) -> Any:
        if self.lies.get("at_once"):
            self.state.apply(intention)
        yield 4
        evaluated_us = self._clock.now_us
        if not self.lies.get("at_once"):
            self.state.apply(intention)
        yield 6
        rebased_us = evaluated_us if self.lies.get("rebases") else None
        return CommitResult(True, None, 0.01, evaluated_us, rebased_us)


@pytest.fixture
def clock():
    return HandClock()


def observed(clock: HandClock, **lies: Any) -> ObservedCatalog:
    catalog = ObservedCatalog(Scripted(CatalogState(num_tables=2), **lies))
    catalog.attach(clock)
    return catalog


def client(clock: HandClock, txn_id: int) -> Client:
    return Client(1, txn_id, clock)


def read(clock: HandClock, catalog: Catalog, txn_id: int) -> Any:
    started = clock.start(catalog.read(client=client(clock, txn_id)))
    clock.run()
    return started.value


def commit(clock: HandClock, catalog: Catalog, txn_id: int, base: Any, *, commutes: bool = True) -> Any:
    intention = IntentionRecord(txn_id, base, (1,), 1, commutes=commutes)
    started = clock.start(catalog.commit(intention, client=client(clock, txn_id)))
    clock.run()
    return started.value


def test_a_serial_history_is_accepted(clock):
    catalog = observed(clock)
    for txn_id in range(3):
        assert commit(clock, catalog, txn_id, read(clock, catalog, txn_id)).success
        catalog.end(txn_id, is_committed=True)

    history = catalog.close(3)
    assert (3, 3, 0) == (history.commits_applied, history.commits_reported, history.commits_unanswered)


def test_a_commit_on_an_old_base_is_a_lost_update(clock):
    catalog = observed(clock)
    first, second = read(clock, catalog, 0), read(clock, catalog, 1)
    commit(clock, catalog, 0, first)

    with pytest.raises(HistoryError, match=r"txn 1 was applied at 0\.034 ms on the state after commit 0, but commit 1"):
        commit(clock, catalog, 1, second)


def test_a_server_may_rebase_what_commutes_if_it_says_when_and_nothing_else(clock):
    catalog = observed(clock, rebases=True)
    bases = [read(clock, catalog, txn_id) for txn_id in range(3)]
    commit(clock, catalog, 0, bases[0])

    assert commit(clock, catalog, 1, bases[1]).success
    with pytest.raises(HistoryError, match="an update is lost"):
        commit(clock, catalog, 2, bases[2], commutes=False)


def test_a_base_that_the_txn_was_never_shown_is_refused(clock):
    catalog = observed(clock)
    base = read(clock, catalog, 0)

    told = r"txn 1 was applied .* on the state after commit 0, which it was never shown"
    with pytest.raises(HistoryError, match=told):
        commit(clock, catalog, 1, base)


@pytest.mark.parametrize("stamp_us", [-4, -1, 1, 7])
def test_a_read_is_stamped_with_an_instant_at_which_it_was_at_the_server(clock, stamp_us):
    told = rf"txn 0 was shown the catalog of 0\.00{4 + stamp_us} ms, but its request was at the server at 0\.004 ms"
    if stamp_us == 7:
        told = r"txn 0 was shown the catalog of 0\.011 ms"

    with pytest.raises(HistoryError, match=told):
        read(clock, observed(clock, stamp_us=stamp_us), 0)


def test_a_read_changes_nothing(clock):
    with pytest.raises(HistoryError, match=r"went from commit 0 to 1 before 0\.010 ms, and nobody committed"):
        read(clock, observed(clock, reading_commits=True), 0)


def test_a_commit_is_not_applied_before_its_request_arrives(clock):
    catalog = observed(clock, at_once=True)
    base = read(clock, catalog, 0)

    with pytest.raises(HistoryError, match=r"applied at 0\.010 ms, and its request reached the server at 0\.014 ms"):
        commit(clock, catalog, 0, base)


def test_rows_that_hide_a_commit_are_noticed(clock):
    catalog = observed(clock)
    commit(clock, catalog, 0, read(clock, catalog, 0))
    catalog.end(0, is_committed=True)

    with pytest.raises(HistoryError, match="1 commits were applied, and 0 reported or under way"):
        catalog.close(0)


def test_a_record_that_is_applied_is_in_the_log(clock):
    store = ConstantStorageProvider(1.0)
    inner = AppendCatalog(store, CatalogState(num_tables=2, scope=2, has_log=True))
    catalog = ObservedCatalog(inner)
    store.attach(clock)
    catalog.attach(clock)
    inner._land = inner._apply_once  # type: ignore[method-assign]
    base = read(clock, catalog, 0)

    with pytest.raises(HistoryError, match=r"and its record is not in the log, which ends at 0 bytes"):
        commit(clock, catalog, 0, base)


@pytest.mark.parametrize(
    ("unit", "name"),
    [
        (0, "the catalog"),
        (2, "group 1"),
        (3, "table 0"),
        (5, "table 2"),
        (6, "partition 0 of table 0"),
        (11, "partition 1 of table 2"),
    ],
)
def test_a_unit_is_called_by_its_name(unit, name):
    assert name == unit_name(unit, num_groups=2, num_tables=3, num_partitions=2)


def test_what_else_a_catalog_of_ones_own_offers_is_still_there():
    class Chatty(Scripted):
        def greeting(self) -> str:
            return "hello"

    assert "hello" == ObservedCatalog(Chatty(CatalogState())).greeting()


def test_the_observer_forgets_txns_that_ended(clock):
    catalog = observed(clock)
    for txn_id in range(50):
        commit(clock, catalog, txn_id, read(clock, catalog, txn_id))
        catalog.end(txn_id, is_committed=True)

    assert (0, 0, 0) == (len(catalog._shown), len(catalog._applied), len(catalog._rebased))


def test_a_history_that_is_not_serial_leaves_no_result():
    with pytest.raises(HistoryError, match="there is none"):
        Simulation(CONFIGURATIONS["instant, table"], catalog=lambda storage, state: Scripted(state)).run()
