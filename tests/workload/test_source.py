"""Laws of a source: what is drawn for a txn, and that nothing else changes it."""

import math
from collections import Counter

import numpy as np
import pytest
from tests.workload.conftest import weighing

from endive.distributions import FixedLatency, LatencyDistribution
from endive.errors import ConfigError
from endive.rng import OPERATION, RUNTIME, slot, stream_key, substream, uniform
from endive.vocabulary import KINDS, N_KINDS
from endive.workload import (
    NEVER_US,
    NOT_GIVEN,
    Trace,
    TraceLog,
    UniformTableSelector,
    ZipfTableSelector,
    draw_kind,
    draw_transaction,
)

DRAWS = 40_000


def draft(source, index):
    return draw_transaction(source, index, source.transaction_key(index))


class Instant(LatencyDistribution):
    """A user's distribution."""

    def quantile(self, p: float) -> float:
        return 0.0


def test_a_source_draws_from_streams_of_its_own_name(make_source):
    source = make_source(name="maintenance", seed=7)

    assert stream_key(7, "source/maintenance") == source.key
    assert stream_key(7, "source/maintenance/arrivals") == source.arrivals_key
    assert substream(source.key, 12) == source.transaction_key(12)


def test_runtime_has_the_mean_its_key_names_and_the_floor_of_its_minimum(make_source):
    """Shifted lognormal: its logarithm above the minimum is normal with sigma 1.5."""
    source = make_source()
    runtimes_ms = np.array([draft(source, index).runtime_us for index in range(DRAWS)]) / 1000.0

    sigma = 1.5
    mu = math.log(150_000.0) - sigma**2 / 2.0
    logs = np.log(runtimes_ms - 30_000.0)
    error_of_mean = 150_000.0 * math.sqrt((math.exp(sigma**2) - 1.0) / DRAWS)
    assert 180_000.0 == pytest.approx(runtimes_ms.mean(), abs=4.0 * error_of_mean)
    assert mu == pytest.approx(logs.mean(), abs=4.0 * sigma / math.sqrt(DRAWS))
    assert sigma**2 == pytest.approx(logs.var(), abs=4.0 * sigma**2 * math.sqrt(2.0 / DRAWS))
    assert 30_000.0 < runtimes_ms.min()


def test_operation_types_come_by_their_weights_whatever_their_sum(make_source):
    source = make_source(kind_weights=weighing(7.0, 2.0, 0.0, 1.0))
    counts = Counter(draft(source, index).kind for index in range(10_000))

    assert {0, 1, 3} == set(counts)
    assert [7000, 2000, 1000] == pytest.approx([counts[0], counts[1], counts[3]], abs=4.0 * 46.0)


def test_operation_type_and_runtime_are_drawn_under_names_of_their_own(make_source):
    source = make_source(kind_weights=weighing(*[1.0] * 6))

    for index in range(100):
        key = source.transaction_key(index)
        txn = draft(source, index)
        assert 5 - int(6.0 * uniform(key, slot(0, OPERATION, 0))) == txn.kind
        assert source.runtime.sample_us(key, slot(0, RUNTIME, 0)) == txn.runtime_us


@pytest.mark.parametrize("kind", range(6))
def test_an_only_operation_type_is_what_drawing_it_would_give(make_source, kind):
    weights = [0.0] * N_KINDS
    weights[kind] = 0.3
    source = make_source(kind_weights=tuple(weights))

    for index in range(100):
        key = source.transaction_key(index)
        assert kind == draft(source, index).kind == draw_kind(source.kind_tails, 0, key)


def test_a_draft_holds_tables_and_the_partitions_of_each(make_source, make_tables, make_partitions):
    source = make_source(
        runtime=FixedLatency(12.0),
        tables=make_tables(total=9, count=3, selector=ZipfTableSelector(1.5, 0.67)),
        partitions=make_partitions(total=10, count=4),
    )

    for index in range(200):
        txn = draft(source, index)
        assert (12_000, 3, 2) == (txn.runtime_us, len(txn.tables_read), txn.n_tables_written)
        assert txn.tables_read[:2] == txn.tables_written
        assert [(4, 2), (4, 2), (4, 0)] == [(len(items), written) for items, written in txn.partitions]


def test_a_trace_decides_what_it_gives_and_leaves_the_rest_to_be_drawn(make_source, make_tables, make_partitions):
    log = TraceLog(
        submit_us=(0, 10, 20),
        kinds=(3, NOT_GIVEN, NOT_GIVEN),
        runtimes_us=(NOT_GIVEN, 0, NOT_GIVEN),
        tables=(NOT_GIVEN, NOT_GIVEN, 4),
    )
    drawn = {"tables": make_tables(total=5, count=2), "partitions": make_partitions(), "kind_weights": (1,) * N_KINDS}
    source = make_source(arrivals=Trace(start_us=0, stop_us=NEVER_US, log=log), **drawn)
    by_chance = [draft(make_source(**drawn), index) for index in range(3)]
    given = [draft(source, index) for index in range(3)]

    assert [3, by_chance[1].kind, by_chance[2].kind] == [txn.kind for txn in given]
    assert [by_chance[0].runtime_us, 0, by_chance[2].runtime_us] == [txn.runtime_us for txn in given]
    assert [by_chance[0].tables_read, by_chance[1].tables_read, (4,)] == [txn.tables_read for txn in given]
    assert [2, 2, 1] == [txn.n_tables_written for txn in given]
    assert by_chance[2].partitions[:1] == given[2].partitions


def test_a_source_is_built_in_if_every_part_of_it_is(make_source, make_tables):
    class OwnSelector(UniformTableSelector):
        pass

    assert make_source().is_built_in
    assert not make_source(runtime=Instant()).is_built_in
    assert not make_source(tables=make_tables(total=2, selector=OwnSelector(1.0))).is_built_in


@pytest.mark.parametrize("weights", [(1.0,), (0.0,) * N_KINDS, weighing(2.0, -1.0), weighing(math.inf, 1.0)])
def test_impossible_weights_are_refused(make_source, weights):
    with pytest.raises(ConfigError) as refusal:
        make_source(kind_weights=weights)

    expected = (
        f"source 'default': operation weights {weights}. Give {N_KINDS} numbers, 0 or above and not all 0, for "
        f"{', '.join(KINDS)}."
    )
    assert expected == str(refusal.value)
