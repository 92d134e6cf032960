"""Two calls that cost time: what every kind of catalog promises, whichever it is.

Each kind is driven by a hand clock. What a kind asks of storage on the way is in ``test_append`` and, for the txns
that use them, in the tests of ``endive.transaction``.
"""

import pytest
from tests.catalog.calls import LATENCY_MS, LATENCY_US, commit, finished, intend, make_catalog
from tests.clock import HandClock

from endive.catalog import AppendCatalog, CASCatalog, Catalog, CatalogState
from endive.catalog.rules import SCOPE_TABLE
from endive.distributions import FixedLatency
from endive.errors import UnsupportedOperationError
from endive.storage import FifoQueueProvider, S3StorageProvider
from endive.storage.client import Client, count_sent
from endive.vocabulary import CAS, CATALOG, METADATA, READ, WRITE

KINDS = ("cas", "instant", "pointer", "rest", "append log", "append append_design")


@pytest.fixture(params=KINDS)
def catalog(request: pytest.FixtureRequest, clock: HandClock) -> Catalog:
    return make_catalog(request.param, clock)


# ---- one winner per version --------------------------------------------------------------------------


@pytest.mark.parametrize(("first_at_us", "second_at_us"), [(0, 0), (1, 0)])
def test_of_two_attempts_on_the_same_version_the_one_that_reaches_the_server_first_commits(
    clock, catalog, first_at_us, second_at_us
):
    base = catalog.state.snapshot(0)
    calls = [
        clock.start(commit(catalog, clock, intend(txn, base, 0)), at_us=at_us)
        for txn, at_us in enumerate((first_at_us, second_at_us))
    ]
    clock.run()

    is_first = first_at_us <= second_at_us
    assert [is_first, not is_first] == [call.value.success for call in calls]
    assert 1 == catalog.state.seq


def test_a_commit_moves_the_sequence_number_by_one_and_its_tables_by_one_each(clock, catalog):
    call = finished(clock, commit(catalog, clock, intend(1, catalog.state.snapshot(0), 0, 1)))

    after = catalog.state.snapshot(0)
    assert call.value.success
    assert (1, [1, 1]) == (after.seq, [table.version for table in after.tables])


def test_commits_to_different_tables_do_not_meet(clock, catalog):
    base = catalog.state.snapshot(0)
    calls = [clock.start(commit(catalog, clock, intend(t, base, t))) for t in (0, 1)]
    clock.run()

    assert ([True, True], 2) == ([call.value.success for call in calls], catalog.state.seq)


# ---- what an answer tells ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["instant", "pointer", "rest"])
@pytest.mark.parametrize("tells", [True, False])
def test_a_service_tells_its_state_on_refusal_if_it_is_told_to(clock, kind, tells):
    catalog = make_catalog(kind, clock, refusal_returns_snapshot=tells)
    base = catalog.state.snapshot(0)
    clock.start(commit(catalog, clock, intend(1, base, 0)))
    lost = clock.start(commit(catalog, clock, intend(2, base, 0)))
    clock.run()

    assert (1 if tells else None) == (lost.value.snapshot and lost.value.snapshot.seq)


def test_success_tells_no_state_and_only_a_catalog_that_says_so_tells_it_on_refusal(clock, catalog):
    base = catalog.state.snapshot(0)
    won, lost = (clock.start(commit(catalog, clock, intend(txn, base, 0))) for txn in (1, 2))
    clock.run()

    assert won.value.snapshot is None
    assert catalog.refusal_returns_snapshot == (lost.value.snapshot is not None)


def test_every_kind_answers_with_the_same_two_types(clock, catalog):
    read = finished(clock, catalog.read())
    call = finished(clock, commit(catalog, clock, intend(1, read.value, 0)))

    assert ("CatalogSnapshot", "CommitResult") == (type(read.value).__name__, type(call.value).__name__)


def test_a_catalog_answers_no_question_about_its_topology(catalog):
    """Tables and partitions are the workload's to know; a txn learns of them only what a snapshot shows."""
    public = {name for name in dir(Catalog) if not name.startswith("_")}

    assert {"attach", "commit", "distributions", "is_built_in", "is_current", "read"} == public


# ---- when the server looks ---------------------------------------------------------------------------


@pytest.mark.parametrize(("moved_at_us", "seen"), [(4_999, 1), (5_001, 0)])
def test_a_read_tells_the_state_of_the_servers_instant_not_of_its_arrival(clock, catalog, moved_at_us, seen):
    read = clock.start(catalog.read(client=Client(1, 1, clock)))
    clock.run(until_us=moved_at_us)
    catalog.state.apply(intend(9, catalog.state.snapshot(0), 0))
    clock.run()

    assert LATENCY_US == read.end_us
    assert (seen, LATENCY_US // 2) == (read.value.seq, read.value.timestamp_us)


@pytest.mark.parametrize(("moved_at_us", "success"), [(4_999, False), (5_001, True)])
@pytest.mark.parametrize("kind", ["cas", "instant", "pointer"])
def test_a_swap_is_decided_at_the_servers_instant(clock, kind, moved_at_us, success):
    catalog = make_catalog(kind, clock)
    call = clock.start(commit(catalog, clock, intend(1, catalog.state.snapshot(0), 0)))
    clock.run(until_us=moved_at_us)
    catalog.state.apply(intend(9, catalog.state.snapshot(0), 0))
    clock.run()

    assert success == call.value.success
    assert (LATENCY_US, LATENCY_US // 2) == (call.end_us, call.value.evaluated_us)
    assert LATENCY_MS == call.value.latency_ms


def test_a_snapshot_never_changes(clock, catalog):
    before = catalog.state.snapshot(0)
    image = (before.seq, tuple(before.tables), before.versions, before.log)
    for txn_id in range(3):
        finished(clock, commit(catalog, clock, intend(txn_id, catalog.state.snapshot(0), 0, 1)))

    assert image == (before.seq, tuple(before.tables), before.versions, before.log)
    with pytest.raises(AttributeError):
        before.seq = 7


# ---- a server with workers ---------------------------------------------------------------------------


@pytest.mark.parametrize(("workers", "ends_ms"), [(0, [15, 15, 15]), (1, [15, 20, 25]), (2, [15, 15, 20])])
def test_requests_queue_for_a_free_worker(clock, workers, ends_ms):
    """Half of 10 ms there, 5 ms of a worker's time, half of 10 ms back."""
    catalog = make_catalog("pointer", clock, workers=workers, service_time=FixedLatency(5.0))
    calls = [clock.start(catalog.read(client=Client(t, t, clock))) for t in range(3)]
    clock.run()

    assert ends_ms == [call.end_us // 1_000 for call in calls]


def test_a_commit_may_take_longer_than_a_read(clock):
    catalog = make_catalog("pointer", clock, commit_latency=FixedLatency(70.0))
    read = clock.start(catalog.read(client=Client(0, 0, clock)))
    swap = clock.start(catalog.commit(intend(1, catalog.state.snapshot(0), 0), client=Client(1, 1, clock)))
    clock.run()

    assert (10_000, 70_000) == (read.end_us, swap.end_us)


def test_a_queued_read_tells_the_state_of_when_it_was_served(clock):
    catalog = make_catalog("pointer", clock, workers=1, service_time=FixedLatency(5.0))
    calls = [clock.start(catalog.read(client=Client(t, t, clock))) for t in range(2)]
    clock.run(until_us=12_000)  # the first was served at 10 ms, the second will be at 15 ms
    catalog.state.apply(intend(9, catalog.state.snapshot(0), 0))
    clock.run()

    assert [(0, 10_000), (1, 15_000)] == [(call.value.seq, call.value.timestamp_us) for call in calls]


# ---- REST --------------------------------------------------------------------------------------------


def test_a_rest_server_writes_the_metadata_between_check_and_swap(clock):
    catalog = make_catalog("rest", clock)
    client = Client(1, 1, clock)
    record = intend(1, catalog.state.snapshot(0), 0, server_bytes=5_730)
    call = finished(clock, catalog.commit(record, client=client))

    assert call.value.success
    assert (2 * LATENCY_US, LATENCY_US // 2 + LATENCY_US) == (call.end_us, call.value.evaluated_us)
    assert (1, 5_730) == (count_sent(client.row, METADATA, WRITE), client.row.bytes_written)


@pytest.mark.parametrize(
    ("moved_at_us", "metadata_writes"), [(4_000, 0), (6_000, 1)], ids=["before the check", "after it"]
)
def test_a_rest_server_that_refuses_has_written_metadata_only_if_the_rival_came_after_its_check(
    clock, moved_at_us, metadata_writes
):
    catalog = make_catalog("rest", clock)
    client = Client(1, 1, clock)
    call = clock.start(catalog.commit(intend(1, catalog.state.snapshot(0), 0), client=client))
    clock.run(until_us=moved_at_us)
    catalog.state.apply(intend(9, catalog.state.snapshot(0), 0))
    clock.run()

    assert not call.value.success
    assert metadata_writes == count_sent(client.row, METADATA, WRITE)


@pytest.mark.parametrize(("commutes", "success"), [(True, True), (False, False)])
def test_a_rest_server_rebases_what_commutes(clock, commutes, success):
    catalog = make_catalog("rest", clock, server_retries=1)
    base = catalog.state.snapshot(0)
    catalog.state.apply(intend(9, base, 0))
    client = Client(1, 1, clock)
    call = finished(clock, catalog.commit(intend(1, base, 0, commutes=commutes), client=client))
    assert success == call.value.success
    assert (1 + success) == catalog.state.snapshot(0).tables[0].version
    assert (LATENCY_US // 2 if success else None) == call.value.rebased_us
    assert 1 == count_sent(client.row, CATALOG, CAS)


@pytest.mark.parametrize("server_retries", [0, 1, 3])
def test_a_rest_server_gives_up_after_its_own_retries(clock, server_retries):
    """A rival lands during every metadata write: each try has written one for nothing."""
    catalog = make_catalog("rest", clock, server_retries=server_retries)
    client = Client(1, 1, clock)
    record = intend(1, catalog.state.snapshot(0), 0, commutes=True)
    call = clock.start(catalog.commit(record, client=client))
    for tried in range(10):
        clock.run(until_us=LATENCY_US + tried * LATENCY_US)
        catalog.state.apply(intend(9, catalog.state.snapshot(0), 0))
    clock.run()

    assert not call.value.success
    assert server_retries + 1 == count_sent(client.row, METADATA, WRITE)


# ---- the bill, and what storage cannot do ------------------------------------------------------------


@pytest.mark.parametrize("kind", ["cas", "instant", "pointer", "rest"])
def test_a_read_and_a_commit_are_one_request_each(clock, kind):
    catalog = make_catalog(kind, clock)
    client = Client(1, 1, clock)
    finished(clock, catalog.read(client=client))
    finished(clock, catalog.commit(intend(1, catalog.state.snapshot(0), 0), client=client))

    assert (1, 1) == (count_sent(client.row, CATALOG, READ), count_sent(client.row, CATALOG, CAS))


def test_a_catalog_refuses_a_store_that_cannot_carry_it():
    state = CatalogState(scope=SCOPE_TABLE, has_log=True)
    with pytest.raises(UnsupportedOperationError, match="'s3' lacks one of them"):
        AppendCatalog(S3StorageProvider(), state)
    with pytest.raises(UnsupportedOperationError, match="'fifo' has none"):
        CASCatalog(FifoQueueProvider(), CatalogState())
