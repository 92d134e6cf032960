"""The counts of a run are what its transactions say, one by one."""

from collections import Counter

import pytest

import endive
from endive.results.window import Window
from endive.tables.tally import tally_outcomes, tally_time

CONFIG = {
    "simulation": {"duration_ms": 20_000.0, "warmup_ms": 3_000.0, "cooldown_ms": 2_000.0, "seed": 3},
    "source": [
        {
            "name": "a",
            "arrivals": {"kind": "poisson", "mean_ms": 60.0},
            "runtime": {"distribution": "lognormal", "mean_ms": 500.0, "sigma": 0.5},
            "operation_types": {"fast_append": 0.7, "merge_append": 0.3},
        },
        {
            "name": "b",
            "arrivals": {"kind": "periodic", "period_ms": 500.0},
            "runtime": {"distribution": "fixed", "ms": 900.0},
            "operation_types": {"validated_overwrite": 1.0},
        },
    ],
}
WINDOW = Window.of_ms(duration_ms=20_000.0, warmup_ms=3_000.0, cooldown_ms=2_000.0)


@pytest.fixture(scope="module")
def txns():
    return endive.simulate(CONFIG).transactions_as_ended()


def us(value_ms):
    return int((value_ms or 0.0) * 1000 + 0.5)


def low(value):
    return value if value < 4 else value >> (value.bit_length() - 2) << (value.bit_length() - 2)


def test_every_transaction_is_counted_where_it_was_submitted_and_where_it_ended(txns):
    expected = Counter()
    for row in txns.to_pylist():
        place, end = (row["source"], row["kind"]), min(us(row["end_ms"]) * 60 // 20_000_000, 59)
        start = min(us(row["submit_ms"]) * 60 // 20_000_000, 59)
        expected[(*place, start, "submitted")] += 1
        if row["status"] == "committed":
            expected[(*place, start, "latency_us")] += us(row["commit_latency_ms"])
            expected[(*place, start, "latency_txns")] += 1
        if row["status"] != "in_flight":
            expected[(*place, end, row["status"])] += 1

    found = Counter()
    for row in tally_time(txns, WINDOW).to_pylist():
        for name in ("submitted", "committed", "aborted", "latency_us", "latency_txns"):
            found[row["source"], row["kind"], row["bin"], name] += row[name]

    assert expected == +found
    assert {"committed", "aborted", "in_flight"} == set(txns["status"].to_pylist())


def test_every_transaction_of_the_window_that_ended_is_counted_by_its_outcome(txns):
    expected: dict = {}
    for row in txns.to_pylist():
        if row["status"] != "in_flight" and 3_000_000 <= us(row["submit_ms"]) < 18_000_000:
            behind = row["n_behind_first"]
            reads = row["history_lists"] > 0 and behind is not None and behind >= 0
            key = (row["source"], row["kind"], int(row["status"] == "committed"), low(row["attempts"]))
            key = (*key, low(behind) if reads else -1)
            sums = [1, row["attempts"], max(behind or 0, 0), row["history_lists"]]
            sums += [us(row["phase_history_ms"]), us(row["commit_latency_ms"])]
            expected[key] = [a + b for a, b in zip(expected.get(key, [0] * 6), sums, strict=True)]

    found = {}
    for row in tally_outcomes(txns, WINDOW).to_pylist():
        values = list(row.values())
        found[tuple(values[:5])] = values[5:]

    assert expected == found
    assert any(key[4] > 3 for key in expected)


def test_a_run_without_transactions_has_no_counts(txns):
    assert 0 == tally_time(txns.slice(0, 0), WINDOW).num_rows == tally_outcomes(txns.slice(0, 0), WINDOW).num_rows
