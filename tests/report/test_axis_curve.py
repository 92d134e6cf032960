"""How values of an axis are said in a sentence."""

import pytest

from endive.report.axes import make_axis
from endive.report.axis_curve import named_value, place_words


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("catalog.num_tables", 1, "1 table"),
        ("catalog.num_tables", 50, "50 tables"),
        ("table.snapshots_kept_max", 30_000, "30,000 snapshots kept"),
        ("transaction.retry", 4, "at most 4 retries"),
        ("transaction.real_conflict_probability", 0.5, "real-conflict probability 0.5"),
        ("source.compaction.runtime.ms", 60_000, "runtime of compaction 1 min"),
        ("storage.provider", "s3x", "S3 Express"),
        ("catalog.scope", "table", "conflicts by table"),
        ("transaction.retry_backoff.policy", "none", "no pause"),
        ("catalog.table_metadata_inlined", True, "table metadata inlined yes"),
    ],
)
def test_a_value_is_named_as_one_would_say_it(key, value, said):
    assert said == named_value(make_axis(key, [value]), value)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("load_per_s", 2, "2 txns/s"),
        ("source.stream.arrivals.per_s", 0.5, "0.5 txns/s of stream"),
        ("source.writers.arrivals.clients", 20, "20 writers"),
        ("source.nightly.arrivals.clients", 1, "1 client of nightly"),
        ("catalog.partitions.num_partitions", 1, "1 partition"),
    ],
)
def test_a_place_has_its_unit_or_its_noun(key, value, said):
    assert said == place_words(make_axis(key, [value]), value)
