"""Statistics over seeds, against Python's own."""

import math
import statistics

import numpy as np
import pytest

from endive.objectives.intervals import rate_estimate, score_ends, share_estimate
from endive.objectives.student import student_t
from endive.tables.across_seeds import STATISTICS, of_whole_txns, over_seeds, within_offered


def found(groups):
    """``{point: {seed: value}}``: its statistics, by point; points without a value have no row."""
    ordered = {point: [value for _, value in sorted(seeds.items())] for point, seeds in sorted(groups.items())}
    values = [math.nan if value is None else value for of_point in ordered.values() for value in of_point]
    sizes = [len(of_point) for of_point in ordered.values()]
    first = np.cumsum([0, *sizes])[:-1]
    one = over_seeds(np.array(values), first)
    columns = {"seeds": one.seeds.tolist(), **{name: one.column(name).to_pylist() for name in STATISTICS[1:]}}
    rows = {point: {name: column[place] for name, column in columns.items()} for place, point in enumerate(ordered)}
    return {point: row for point, row in rows.items() if row["seeds"]}


def test_mean_deviation_and_interval_are_those_of_the_textbook():
    given = [9.0, 10.0, 14.0, 11.5, 10.25]

    row = found({0: dict(enumerate(given))})[0]

    mean, stddev = statistics.fmean(given), statistics.stdev(given)
    away = [(value - mean) ** 2 for value in given]
    degrees = min(4.0, 2 * sum(away) ** 2 / sum(square * square for square in away) - 1)
    reach = student_t(degrees) * stddev / math.sqrt(5)
    assert (5, mean) == (row["seeds"], row["mean"])
    assert math.isclose(stddev, row["stddev"], rel_tol=1e-15)
    assert score_ends(mean, reach) == pytest.approx((row["ci95_low"], row["ci95_high"]), rel=1e-12)


def test_a_single_seed_has_a_mean_and_nothing_else():
    row = found({0: {42: 7.5}})[0]
    assert {"seeds": 1, "mean": 7.5, "stddev": None, "ci95_low": None, "ci95_high": None} == row


def test_seeds_without_a_value_do_not_count():
    rows = found({0: {1: None, 2: 3.0, 3: 5.0}, 1: {1: None}})
    assert (2, 4.0) == (rows[0]["seeds"], rows[0]["mean"])
    assert 1 not in rows


def test_values_are_added_in_the_order_of_seeds():
    """0.1 + 0.2 + 0.3 differs from 0.3 + 0.2 + 0.1 in the last bit."""
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    assert (0.1 + 0.2 + 0.3) / 3 == found({0: {1: 0.1, 2: 0.2, 3: 0.3}})[0]["mean"]
    assert (0.3 + 0.2 + 0.1) / 3 == found({0: {3: 0.1, 2: 0.2, 1: 0.3}})[0]["mean"]


def test_figures_of_a_configuration_are_the_means_of_its_runs(analysis):
    runs = [row for row in analysis.tables["runs"].to_pylist() if row["study"] == "mixed"]
    place = {"study": "mixed", "scope": "all", "figure": "commit_latency_p95_ms"}
    figures = [row for row in analysis.tables["figures"].to_pylist() if place.items() <= row.items()]
    for point in range(4):
        per_run = [row["commit_latency_p95_ms"] for row in runs if row["point"] == point and row["status"] == "ok"]
        (row,) = (row for row in figures if row["point"] == point)
        assert (len(per_run), "ms") == (row["seeds"], row["unit"])
        assert math.isclose(statistics.fmean(per_run), row["mean"], rel_tol=1e-15)
        assert math.isclose(statistics.stdev(per_run), row["stddev"], rel_tol=1e-14)


def test_shares_do_not_reach_beyond_one(analysis):
    rows = [row for row in analysis.tables["figures"].to_pylist() if row["figure"] == "success_rate"]
    assert max(row["ci95_high"] for row in rows if row["ci95_high"] is not None) == 1.0


def test_counts_stand_beside_their_ratios(analysis):
    runs = [row for row in analysis.tables["runs"].to_pylist() if (row["study"], row["point"]) == ("mixed", 0)]
    figures = {
        row["figure"]: row["mean"]
        for row in analysis.tables["figures"].to_pylist()
        if (row["study"], row["point"], row["scope"]) == ("mixed", 0, "all")
    }

    per_commit = [row["requests_catalog_cas"] / row["txns_committed"] for row in runs]
    assert math.isclose(statistics.fmean(per_commit), figures["requests_catalog_cas_per_committed_txn"], rel_tol=1e-15)
    assert statistics.fmean(row["requests_catalog_cas"] for row in runs) == figures["requests_catalog_cas"]
    assert not [figure for figure in figures if figure.startswith(("requests_log_", "append_"))]


def test_shares_of_equally_many_txns_have_the_interval_that_every_answer_has():
    hits = [40, 60, 45, 55, 100, 100, 100, 100]
    one = over_seeds(np.array(hits) / 100.0, np.array([0, 4]), of=np.full(8, 100.0))

    for place, of_group in enumerate((hits[:4], hits[4:])):
        expected = share_estimate(of_group, [100] * 4, 0, 0.95)
        assert (expected.low, expected.high) == pytest.approx((one.ci95_low[place], one.ci95_high[place]), rel=1e-9)


def test_rates_are_never_surer_than_whole_txns_allow_as_in_every_answer():
    counts = [0, 0, 0, 5, 5, 5, 3, 9, 6]
    per_s = over_seeds(np.array(counts) / 10.0, np.array([0, 3, 6]))
    one = of_whole_txns(per_s, np.full(3, 10.0))

    for place in range(3):
        expected = rate_estimate(counts[3 * place : 3 * place + 3], [10.0] * 3, 0.95)
        assert (expected.low, expected.high) == pytest.approx((one.ci95_low[place], one.ci95_high[place]), rel=1e-9)


def test_commits_are_at_most_what_is_offered():
    offered = over_seeds(np.array([10.0, 10.2, 9.9]), np.array([0]))
    committed = over_seeds(np.array([9.0, 10.2, 7.0]), np.array([0]))

    assert committed.ci95_high[0] > offered.ci95_high[0] == within_offered(committed, offered).ci95_high[0]
