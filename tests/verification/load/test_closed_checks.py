"""A closed loop is judged with the sampling error that its clusters of latencies and its few txns have."""

from __future__ import annotations

from verification.suites.load.closed_checks import closed_checks

CLUSTERS_MS = (300.0, 1500.0)


def runs(count: int, txns: int, late_percent: int) -> list[list[tuple[float, bool, int]]]:
    """Equal runs of committed txns, so many of them in the late cluster, with three attempts."""
    early, late = CLUSTERS_MS
    of_late = txns * late_percent // 100
    return [[(early, True, 1)] * (txns - of_late) + [(late, True, 3)] * of_late] * count


def verdict(what: str, real, simulated) -> str:
    return next(check.verdict for check in closed_checks("loop", {}, real, simulated, 15.0) if what in check.name)


def test_a_percentile_at_the_edge_of_two_clusters_is_unclear_from_few_commits_and_wrong_from_many():
    simulated = [run for _ in range(8) for run in runs(4, 50, 6)]

    assert "unclear" == verdict("P95", runs(4, 50, 4), simulated)
    assert "wrong" == verdict("P95", runs(4, 5_000, 4), simulated)


def test_a_percentile_within_a_cluster_is_not_excused_by_the_next_one():
    simulated = [run for _ in range(8) for run in runs(4, 200, 30)]

    assert "wrong" == verdict("P95", runs(4, 200, 0), simulated)


def test_attempts_that_differ_by_what_equal_runs_of_the_model_differ_are_unclear():
    uneven = [run for _ in range(8) for run in (*runs(4, 4, 50), *runs(4, 4, 0))]

    assert "unclear" == verdict("law of attempts", runs(4, 4, 0), uneven)
    assert "wrong" == verdict("law of attempts", runs(4, 400, 0), [run for _ in range(8) for run in runs(4, 400, 25)])
