"""Attempts and convoy, counted again from the txns themselves; percentiles of all seeds together, from counts."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from tests.pipeline.contents import txns

from endive.results.latency_grid import bin_high_us, bin_low_us, count_bins
from endive.tables.histograms import SHARES, latency_histogram, pooled_counts, pooled_percentiles


@pytest.fixture(scope="module")
def ended(swept):
    """Txns of the study ``mixed`` that were submitted in its window and ended, each with its point."""
    columns = ["point", "kind", "source", "status", "submit_ms", "attempts", "n_behind_first", "history_lists"]
    columns += ["commit_latency_ms", "phase_history_ms"]
    return [
        row
        for row in txns(swept, "mixed", columns)
        if row["status"] != "in_flight" and 7_500.0 <= row["submit_ms"] < 22_500.0
    ]


def low(value):
    return value if value < 4 else value >> (value.bit_length() - 2) << (value.bit_length() - 2)


def chosen(analysis, table, scope, name):
    rows = analysis.tables[table].to_pylist()
    return [row for row in rows if (row["study"], row["scope"], row["name"]) == ("mixed", scope, name)]


@pytest.mark.parametrize(("scope", "name"), [("all", "all"), ("operation", "merge_append"), ("source", "overwrites")])
def test_every_txn_that_ended_is_counted_at_its_attempts(analysis, ended, scope, name):
    key = {"operation": "kind"}.get(scope, scope)
    here = [row for row in ended if name in ("all", row.get(key))]
    expected = Counter((row["point"], low(row["attempts"]), row["status"]) for row in here)

    rows = chosen(analysis, "attempts", scope, name)

    found = Counter()
    for row in rows:
        found[row["point"], row["attempts_low"], "committed"] += row["txns_committed"]
        found[row["point"], row["attempts_low"], "aborted"] += row["txns_aborted"]
    assert expected == +found
    for point in range(4):
        shares = [row["share"] for row in rows if row["point"] == point]
        assert sum(shares) == pytest.approx(1.0, abs=1e-12)


def test_the_convoy_is_what_txns_read_by_how_far_they_were_behind(analysis, ended):
    readers = [row for row in ended if row["history_lists"] > 0]
    expected = {}
    for row in readers:
        expected.setdefault((row["point"], low(row["n_behind_first"])), []).append(row)

    rows = chosen(analysis, "convoy", "all", "all")

    assert set(expected) == {(row["point"], row["n_behind_low"]) for row in rows}
    for row in rows:
        here = expected[row["point"], row["n_behind_low"]]
        assert len(here) == row["txns"]
        for column, name in (
            ("n_behind_mean", "n_behind_first"),
            ("history_lists_mean", "history_lists"),
            ("history_mean_ms", "phase_history_ms"),
            ("attempts_mean", "attempts"),
            ("commit_latency_mean_ms", "commit_latency_ms"),
        ):
            assert sum(txn[name] for txn in here) / len(here) == pytest.approx(row[column], rel=1e-12)
        assert sum(txn["status"] == "committed" for txn in here) / len(here) == row["success_rate"]


def test_only_operation_types_that_read_history_are_in_the_convoy(analysis):
    rows = [row for row in analysis.tables["convoy"].to_pylist() if row["scope"] == "operation"]
    assert {"validated_overwrite"} == {row["name"] for row in rows}


TEXTS = dict.fromkeys(("study", "source", "kind", "latency"), "string")
COUNTS = pa.schema({**TEXTS, "point": "int32", "bin": "int64", "txns": "int64"})


def pooled(runs):
    """``{run_id: latencies in us}`` of one configuration, and its runs."""
    rows = [
        ("s", "stream", "fast_append", "commit", 0, int(place), int(count))
        for values in runs.values()
        for place, count in zip(*count_bins(np.asarray(values, np.int64)), strict=True)
    ]
    counts = pa.Table.from_pylist([dict(zip(COUNTS.names, row, strict=True)) for row in rows], COUNTS)
    known = pa.table({"study": ["s"] * len(runs), "point": pa.array([0] * len(runs), pa.int32()), "run_id": list(runs)})
    return pooled_counts(counts), known


def of_scope(table, scope):
    return [row for row in table.to_pylist() if row["scope"] == scope]


def test_pooled_percentiles_are_those_of_all_txns_to_within_a_bin():
    draws = np.random.default_rng(3).lognormal(13.0, 1.2, 30_000).astype(np.int64)
    counts, runs = pooled({"a": draws[:10_000], "b": draws[10_000:]})

    (row,) = of_scope(pooled_percentiles(counts, runs), "all")

    assert (2, 30_000) == (row["seeds"], row["txns"])
    for name, share in SHARES.items():
        exact_us = np.percentile(draws, 100 * share)
        assert abs(row[f"{name}_ms"] * 1000 - exact_us) <= exact_us / 128
    bins = count_bins(draws)[0]
    assert bin_low_us(bins)[0] / 1000 == row["low_ms"]
    assert bin_high_us(bins)[-1] / 1000 == row["high_ms"]


def test_values_that_have_bins_of_their_own_are_exact():
    (row,) = of_scope(pooled_percentiles(*pooled({"a": [3, 3, 7, 200, 255]})), "all")

    assert (0.003, 0.007, 0.255) == (row["low_ms"], row["p50_ms"], row["high_ms"])


def test_values_of_one_bin_are_taken_to_lie_in_it_evenly():
    """Of a bin from 65,536 to 66,047 us: one txn is in its middle, of four the median between the second and third."""
    (one,) = of_scope(pooled_percentiles(*pooled({"a": [65_600]})), "all")
    (four,) = of_scope(pooled_percentiles(*pooled({"a": [65_600, 65_600, 65_700, 65_700]})), "all")

    low, high = (
        int(bin_low_us(count_bins(np.array([65_600]))[0])[0]),
        int(bin_high_us(count_bins(np.array([65_600]))[0])[0]),
    )
    assert (low + high) / 2000 == one["p50_ms"] == four["p50_ms"] == one["p99_ms"]
    assert (low + (3 * 0.1 + 0.5) / 4 * (high - low)) / 1000 == pytest.approx(four["p10_ms"])


def test_the_histogram_holds_every_txn_once():
    draws = np.random.default_rng(4).lognormal(13.0, 1.2, 4_000).astype(np.int64)
    counts, _ = pooled({"a": draws})

    rows = of_scope(latency_histogram(counts), "source")

    assert 4_000 == sum(row["txns"] for row in rows)
    for row in rows:
        inside = (draws >= row["low_ms"] * 1000) & (draws <= row["high_ms"] * 1000)
        assert int(inside.sum()) == row["txns"]
        assert row["txns"] / 4_000 == row["share"]


def test_studies_with_and_without_txns_have_the_same_latencies(analysis):
    def of(study):
        rows = analysis.tables["latencies"].to_pylist()
        return [{**row, "study": None} for row in rows if row["study"] == study]

    assert of("bare") == of("sampled")
    assert len(of("bare")) == 3 * 3 * 2  # points, scopes, latencies
