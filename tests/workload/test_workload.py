"""Laws of a workload of several sources."""

import pytest
from tests.workload.conftest import weighing

from endive.distributions import ExponentialLatency, FixedLatency
from endive.errors import ConfigError, EngineError
from endive.workload import NEVER_US, Closed, Periodic, Renewal, Workload, WorkloadConfig, draw_transaction


def workload(*sources, num_tables=1, num_partitions=0):
    return Workload(WorkloadConfig(num_tables=num_tables, num_partitions=num_partitions, sources=sources))


def renewal(gap, **span):
    return Renewal(**({"start_us": 0, "stop_us": NEVER_US, "gap": gap} | span))


def periodic(period_us, **span):
    span = {"start_us": 0, "stop_us": NEVER_US, "offset_us": 0, "jitter_us": 0} | span
    return Periodic(period_us=period_us, **span)


def test_a_second_source_leaves_the_first_one_as_it_was(make_source):
    appends = make_source(name="appends")
    compaction = make_source(name="compaction", index=1, arrivals=renewal(ExponentialLatency(300.0)))
    alone, together = workload(appends), workload(appends, compaction)

    expected = [(us, index) for us, _, index in alone.generate(60_000_000)]
    found = [(us, index) for us, source, index in together.generate(60_000_000) if source.name == "appends"]

    assert len(expected) > 30
    assert expected == found
    assert [alone.draft(appends, i) for i in range(50)] == [together.draft(appends, i) for i in range(50)]


def test_submissions_come_in_order_of_time_then_of_source(make_source):
    first = make_source(name="z", arrivals=periodic(1000, start_us=1000))
    second = make_source(name="a", index=1, arrivals=periodic(1000, stop_us=2001))

    found = [(us, source.name, index) for us, source, index in workload(first, second).generate(3000)]

    assert [(0, "a", 0), (1000, "z", 0), (1000, "a", 1), (2000, "z", 1), (2000, "a", 2)] == found


def test_a_compaction_every_five_minutes_competes_with_a_stream_of_appends(make_source):
    """The fidelity report section 4.5."""
    appends = make_source(name="appends", arrivals=renewal(FixedLatency(1000.0)))
    compaction = make_source(
        name="compaction",
        index=1,
        arrivals=periodic(300_000_000, offset_us=300_000_000),
        kind_weights=weighing(0.0, 0.0, 0.0, 1.0),
        runtime=FixedLatency(180_000.0),
    )
    both = workload(appends, compaction)
    of_compaction = [
        (us, both.draft(source, index)) for us, source, index in both.generate(3_600_000_000) if source is compaction
    ]

    assert [300_000_000 * n for n in range(1, 12)] == [us for us, _ in of_compaction]
    assert {(3, 180_000_000)} == {(txn.kind, txn.runtime_us) for _, txn in of_compaction}


def test_a_closed_loop_cannot_be_generated_without_a_simulation(make_source):
    loop = Closed(start_us=0, stop_us=NEVER_US, client_count=2, think=FixedLatency(1.0))

    with pytest.raises(EngineError) as refusal:
        next(workload(make_source(arrivals=loop)).generate(1000))

    assert (
        "source 'default' is a closed loop: its arrivals depend on when txns end. "
        "Run a simulation to see them." == str(refusal.value)
    )


def test_a_users_workload_decides_its_txns_and_runs_on_the_reference_engine(make_source):
    class EverySecondIsARewrite(Workload):
        def create_transaction(self, source, index, key):
            by_kind = make_source(kind_weights=weighing(0.0, 0.0, 0.0, 1.0)) if index % 2 else source
            return draw_transaction(by_kind, index, key)

    source = make_source()
    own = EverySecondIsARewrite(workload(source).config)

    assert workload(source).is_built_in
    assert not own.is_built_in
    assert [0, 3, 0, 3] == [own.draft(source, index).kind for index in range(4)]
    assert workload(source).draft(source, 2) == own.draft(source, 2)


def test_two_sources_of_one_name_and_none_at_all_are_refused(make_source):
    with pytest.raises(ConfigError, match=r"^two sources are named 'default': give each a name of its own\.$"):
        workload(make_source(), make_source(index=1))
    with pytest.raises(ConfigError, match=r"^a workload needs at least one source\.$"):
        workload()


def test_sources_share_one_topology(make_source, make_partitions):
    with pytest.raises(AssertionError, match="every source sees the same tables"):
        workload(make_source(), num_tables=2)
    with pytest.raises(AssertionError, match="every source sees the same partitions"):
        workload(make_source(partitions=make_partitions()), num_partitions=9)
