"""Phases, requests and conflicts say what the figures say, part by part."""

import pyarrow as pa
import pytest

from endive.results import schema as s
from endive.tables.breakdown import drift

STATISTICS = {"mean": "", "stddev": "_stddev", "ci95_low": "_ci95_low", "ci95_high": "_ci95_high"}


@pytest.fixture(scope="module")
def figures(analysis):
    """(study, point, scope, name, figure) -> its row."""
    keys = ("study", "point", "scope", "name", "figure")
    return {tuple(row[key] for key in keys): row for row in analysis.tables["figures"].to_pylist()}


def group(row):
    return tuple(row[key] for key in ("study", "point", "scope", "name"))


def check(row, column, figure):
    """Whether a column and its statistics are those of a figure, or null where there is none."""
    for statistic, suffix in STATISTICS.items():
        assert (figure[statistic] if figure else None) == row[f"{column}{suffix}"]


def test_requests_are_given_per_txn_and_per_committed_txn(analysis, figures):
    rows = analysis.tables["requests"].to_pylist()
    for row in rows:
        slot = f"requests_{row['object']}_{row['operation']}"
        check(row, "per_txn", figures.get((*group(row), f"{slot}_per_txn")))
        check(row, "per_committed_txn", figures.get((*group(row), f"{slot}_per_committed_txn")))
    counted = {(*group(row), f"requests_{row['object']}_{row['operation']}") for row in rows}
    with_count = {key for key in figures if key[4] in {f"requests_{request}" for request in s.REQUESTS}}
    assert counted == {key for key in with_count if (*key[:4], f"{key[4]}_per_txn") in figures}


def test_conflicts_are_given_per_run_per_txn_and_per_committed_txn(analysis, figures):
    rows = analysis.tables["conflicts"].to_pylist()
    for row in rows:
        name = f"txns_{row['counter']}" if row["counter"].startswith("aborted_") else row["counter"]
        check(row, "per_run", figures.get((*group(row), name)))
        check(row, "per_txn", figures.get((*group(row), f"{name}_per_txn")))
        check(row, "per_committed_txn", figures.get((*group(row), f"{name}_per_committed_txn")))
    reasons = {f"aborted_{reason}" for reason in s.REASONS[1:]}
    assert {"false_conflicts", "history_lists", *reasons} == {row["counter"] for row in rows}


def test_phases_but_runtime_share_the_commit(analysis, figures):
    rows = analysis.tables["phases"].to_pylist()
    shares = {}
    for row in rows:
        check(row, "mean_ms", figures.get((*group(row), f"phase_{row['phase']}_mean_ms")))
        if row["phase"] == "runtime":
            assert row["share"] is None
        else:
            shares.setdefault(group(row), []).append(row["share"])
    assert shares
    for values in shares.values():
        assert sum(values) == pytest.approx(1.0, abs=1e-12)


def test_phases_come_in_the_order_of_a_commit(analysis):
    rows = [row["phase"] for row in analysis.tables["phases"].to_pylist()]
    assert list(s.PHASES) == rows[: len(s.PHASES)]


HALVES = ("first", "second")
COMMITS = {f"txns_committed_{half}_half": "int64" for half in HALVES}
MEANS = {f"commit_latency_{half}_half_mean_ms": "float64" for half in HALVES}
RUNS = pa.schema({"study": "string", "point": "int32", "status": "string", **COMMITS, **MEANS})


def drift_of(*runs, failed=()):
    rows = [("s", 3, "ok", *run) for run in runs] + [("s", 3, "failed", *run) for run in failed]
    (row,) = drift(pa.Table.from_pylist([dict(zip(RUNS.names, row, strict=True)) for row in rows], RUNS)).to_pylist()
    return row["commit_latency_drift"], row["commits_half_min"]


def test_drift_is_the_second_half_against_the_first_weighted_by_commits():
    # 1 x 10 ms and 3 x 20 ms: 70 / 4; 2 x 30 ms and 2 x 40 ms: 140 / 4
    assert (1.0, 4) == drift_of((1, 2, 10.0, 30.0), (3, 2, 20.0, 40.0))


def test_a_half_without_a_commit_has_no_drift_and_runs_that_failed_do_not_count():
    assert (None, 0) == drift_of((0, 5, None, 30.0))
    assert (-0.5, 2) == drift_of((2, 2, 10.0, 5.0), failed=[(None, None, None, None)])


def test_studies_with_and_without_txns_have_the_same_drift(analysis):
    rows = [row for row in analysis.tables["configurations"].to_pylist() if row["scope"] == "all"]
    bare, sampled = (
        [row["commit_latency_drift"] for row in rows if row["study"] == study] for study in ("bare", "sampled")
    )
    assert bare == sampled
    assert None not in bare
