"""A catalog's profile reproduces what was measured: loads, commits, and how those slow down with clients."""

import pytest

from endive.config import parse_config
from endive.errors import ConfigError
from endive.observation.measurement.catalog_probe import CatalogMeasured, LongAnswers
from endive.observation.measurement.catalog_profile import (
    catalog_document,
    check_profile,
    commits_of,
    curve_of,
    fit_workers,
)


def measured(commits: dict[int, float], *, load=30.0, read=10.0, write=12.0) -> CatalogMeasured:
    return CatalogMeasured(
        load_ms=[load] * 20,
        metadata_read_ms=[read] * 20,
        metadata_write_ms=[write] * 20,
        commit_ms={count: [ms] * 20 for count, ms in commits.items()},
        refused_ms={count: [] for count in commits},
    )


def test_load_and_commit_are_kept_apart_and_parts_never_exceed_the_whole():
    found = catalog_document(measured({1: 550.0, 2: 560.0}, load=130.0, read=400.0), kind="sql")

    assert {"type", "latency", "service"} == found["catalog"].keys()
    middle = dict(map(tuple, found["catalog"]["latency"]["quantiles"]))[0.5]
    swap = dict(map(tuple, found["catalog"]["service"]["commit_latency"]["quantiles"]))[0.5]
    assert (13.0, 550.0 - 130.0 - 12.0) == (pytest.approx(middle), pytest.approx(swap))
    assert [0.0, 0.0] == [pytest.approx(row.misfit_percent, abs=0.01) for row in check_profile(found, "x")[:2]]
    parse_config({"catalog": found["catalog"], "source": [{"name": "a", "arrivals": {"kind": "poisson", "per_s": 1}}]})


@pytest.mark.parametrize("kind", ["sql", "rest"])
@pytest.mark.parametrize("workers", [1, 2])
def test_workers_that_made_a_curve_are_found_again(kind, workers):
    curve = curve_of(measured({1: 120.0, 2: 1.0, 4: 1.0, 8: 1.0}), kind=kind)
    planted = commits_of(curve, workers, 15.0)

    found = fit_workers(curve_of(measured(planted), kind=kind))

    assert (workers, pytest.approx(15.0, rel=0.1)) == found


def test_commits_that_do_not_slow_down_have_no_workers():
    found = catalog_document(measured({1: 100.0, 2: 101.0, 4: 99.0, 8: 102.0}), kind="rest")

    assert "workers" not in found["catalog"]["service"]


def test_a_curve_that_was_measured_is_given_back_and_the_misfit_told():
    """Commits of 550 to 2,737 ms at 1 to 8 clients, as a REST server over Postgres was measured to make them."""
    found = catalog_document(measured({1: 550.0, 2: 780.0, 4: 1450.0, 8: 2737.0}, load=130.0, write=20.0), kind="rest")

    rows = check_profile(found, "x")

    assert ["load", "commit, 1 client", "commit, 2 clients", "commit, 4 clients", "commit, 8 clients"] == [
        row.what for row in rows
    ]
    assert all(abs(row.misfit_percent) < 1.0 for row in rows[:2])
    assert 780.0 == rows[2].measured_ms


@pytest.mark.parametrize(("kind", "told"), [("rest", 180.0), ("sql", None)])
def test_a_longer_answer_takes_longer_and_only_a_rest_server_sends_it(kind, told):
    """45 ms more for 256 KiB; the first three of each are slow because the server was not warm."""
    curve = measured({1: 100.0, 2: 101.0})
    curve.long_answers = LongAnswers(
        list_bytes=256 * 1024,
        long_ms=[900.0, 500.0, 300.0, 70.0, 75.0, 400.0],
        short_ms=[90.0, 80.0, 70.0, 30.0, 31.0, 29.0],
        parse_ms=[99.0, 98.0, 97.0, 20.0, 10.0, 15.0],
    )

    assert told == catalog_document(curve, kind=kind)["catalog"]["service"].get("answer_ms_per_mib")


def test_a_profile_without_what_was_measured_is_refused():
    with pytest.raises(ConfigError, match=r"'old.toml' does not say what was measured"):
        check_profile({"catalog": {"type": "service", "latency_ms": 3.0}}, "old.toml")
