"""How numbers are written, and how values of an axis are said in a sentence."""

import pytest

from endive.report.axes import Axis, make_axis
from endive.report.words import log_ticks, number, percent, round_ticks, with_interval

NUMBERS = {0: "0", None: "-", 1234.5: "1,234", 9.999: "10.0", 0.0123: "0.0123", 3.0: "3.00", 1.5e-9: "1.50e-09"}
SHARES = {1.0: "100 %", 0.99999: "99.999 %", 0.9999999: "> 99.99 %", 0.5: "50.0 %", 0.0: "0.0 %", None: "-"}


def test_numbers_keep_three_digits_and_a_share_is_a_hundred_percent_only_if_it_is():
    assert NUMBERS == {value: number(value) for value in NUMBERS}
    assert SHARES == {value: percent(value) for value in SHARES}


@pytest.mark.parametrize(
    ("figure", "ends", "text"),
    [
        ("success_rate", (1.0, 1.0, 1.0), "100 %"),  # an interval without width is left out
        ("committed_per_s", (0.0, 0.0, 0.0001), "0 per hour [0, 0.360]"),  # even if it is none
    ],
)
def test_an_interval_stands_in_brackets(figure, ends, text):
    columns = (figure, f"{figure}_ci95_low", f"{figure}_ci95_high")

    assert text == with_interval(dict(zip(columns, ends, strict=True)), figure)


@pytest.mark.parametrize(
    ("most", "ticks"),
    [(2.2, [0, 0.5, 1, 1.5, 2]), (6, [0, 1, 2, 3, 4, 5, 6]), (7, [0, 2, 4, 6]), (0.123, [0, 0.05, 0.1])],
)
def test_ticks_from_zero_are_round(most, ticks):
    assert ticks == pytest.approx(round_ticks(most))


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.5, 8, [0.5, 1, 2, 5]),
        (3, 4, [3, 4]),
        (0.75, 2.4, [1, 1.2, 1.5, 2]),
        (1, 10_000, [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000]),
    ],
)
def test_ticks_of_a_logarithmic_axis_are_few(low, high, ticks):
    assert ticks == log_ticks(low, high)


@pytest.mark.parametrize(
    ("say", "key", "value", "said"),
    [
        (Axis.named, "catalog.num_tables", 1, "1 table"),
        (Axis.named, "catalog.num_tables", 50, "50 tables"),
        (Axis.named, "table.snapshots_kept_max", 30_000, "30,000 snapshots kept"),
        (Axis.named, "transaction.retry", 4, "at most 4 retries"),
        (Axis.named, "transaction.real_conflict_probability", 0.5, "real-conflict probability 0.5"),
        (Axis.named, "source.compaction.runtime.ms", 60_000, "runtime of compaction 1 min"),
        (Axis.named, "storage.provider", "s3x", "S3 Express"),
        (Axis.named, "catalog.scope", "table", "conflicts by table"),
        (Axis.named, "transaction.retry_backoff.policy", "none", "no pause"),
        (Axis.named, "catalog.table_metadata_inlined", True, "table metadata inlined yes"),
        (Axis.place, "load_per_s", 2, "2 txns/s"),
        (Axis.place, "source.stream.arrivals.per_s", 0.5, "0.5 txns/s of stream"),
        (Axis.place, "source.writers.arrivals.clients", 20, "20 writers"),
        (Axis.place, "source.nightly.arrivals.clients", 1, "1 client of nightly"),
        (Axis.place, "catalog.partitions.num_partitions", 1, "1 partition"),
    ],
)
def test_a_value_is_said_as_one_would_say_it(say, key, value, said):
    axis = make_axis(key, [value])

    assert said == say(axis, axis.label(value))
