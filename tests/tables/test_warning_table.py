"""Warnings, from rows made by hand."""

import json

import pytest

from endive.answers.warnings import from_texts
from endive.config import parse_config
from endive.tables.warning_table import assumption_rows, warnings

RUN = {
    "study": "s",
    "point": 0,
    "seed": 42,
    "run_id": "r0",
    "status": "ok",
    "error": None,
    "txns_submitted": 1000,
    "txns_committed": 990,
    "txns_in_flight_executing": 0,
    "txns_in_flight_committing": 10,
    "success_rate": 1.0,
}
POINT = {
    "study": "s",
    "point": 0,
    "seeds": 3,
    "success_rate": 1.0,
    "retries_mean": 0.39,
    "commit_latency_p50_ms": 100.0,
    "commit_latency_p95_ms": 150.0,
    "commit_latency_drift": 0.25,
    "commits_half_min": 400,
}


def told(run=None, point=None, planned=1):
    rows = warnings([{**RUN, **(run or {})}], [{**POINT, **(point or {})}], {"s": planned}).to_pylist()
    return [(row["warning"], row["point"], row["seed"], row["value"]) for row in rows]


def test_a_run_at_every_limit_is_worth_no_warning():
    assert [] == told()


@pytest.mark.parametrize(
    ("run", "point", "expected"),
    [
        ({"txns_in_flight_committing": 11}, {}, ("still_committing", 0, 42, 0.011)),
        ({"txns_submitted": 0, "txns_in_flight_committing": 0}, {}, ("nothing_measured", 0, 42, 0.0)),
        ({"success_rate": None, "txns_in_flight_committing": 0}, {}, ("none_ended", 0, 42, 1000.0)),
        ({"status": "failed", "txns_submitted": None}, {}, ("failed_run", 0, 42, None)),
        ({}, {"commit_latency_drift": 0.26}, ("unsteady_window", 0, None, 0.26)),
        ({}, {"commit_latency_drift": -0.26}, ("unsteady_window", 0, None, -0.26)),
        ({}, {"seeds": 1}, ("single_seed", None, None, 1.0)),
        ({}, {"retries_mean": 0.4, "seeds": 15}, ("few_seeds", None, None, 1.0)),
    ],
)
def test_a_run_or_a_configuration_beyond_a_limit_is_worth_one(run, point, expected):
    assert [expected] == told(run, point)


def test_seeds_that_differ_in_what_commits_are_few_until_256():
    """Sixteen that agree are enough; half of these commit nothing."""

    def kinds(*committed):
        runs = [{**RUN, "seed": seed, "txns_committed": committed[seed % 2]} for seed in range(16)]
        point = {**POINT, "seeds": 16, "retries_mean": 0.4}
        return [row["text"] for row in warnings(runs, [point], {"s": 16}).to_pylist()]

    assert [] == kinds(900, 900)
    (text,) = kinds(900, 0)
    assert (
        "1 of 1 configurations. With retries, some runs collapse permanently; 16 runs can miss what up to 17 % of runs "
        "do, and the intervals do not cover it. Take 256 runs or more (--seeds 256)." == text
    )


def test_too_few_commits_do_not_tell_drift_from_chance():
    assert [] == told(point={"commit_latency_drift": 9.0, "commits_half_min": 399})
    assert [] == told(point={"commit_latency_drift": None, "commits_half_min": None})


def test_a_sweep_that_has_not_finished_is_worth_one():
    assert [("unfinished_sweep", None, None, 2.0)] == told(planned=3)


def test_a_warning_says_what_was_found():
    (row,) = warnings([{**RUN, "txns_in_flight_committing": 25}], [POINT], {"s": 1}).to_pylist()
    assert row["text"].startswith("2.5% of the window's txns (25 of 1,000) were still committing")


# ---- what is assumed ---------------------------------------------------------------------------------


def rows(scope="all", study="s", point=0, manifest_list_ms=100.0):
    here = {"study": study, "point": point, "scope": scope, "name": None}
    phases = [{**here, "phase": phase, "mean_ms": mean_ms} for phase, mean_ms in PHASES.items()]
    phases.append({**here, "phase": "manifest_list", "mean_ms": manifest_list_ms})
    requests = [{**here, "object": "manifest_list", "operation": "write", "per_committed_txn": 1.5}]
    requests.append({**here, "object": "catalog", "operation": "cas", "per_committed_txn": 1.5})
    return phases, requests


ARRIVALS = {"kind": "poisson", "per_s": 1.0}
STREAM = {"name": "stream", "arrivals": ARRIVALS}
MERGE = {"name": "merge", "arrivals": ARRIVALS, "operation_types": {"validated_overwrite": 1.0}}
PHASES = {"commit": 60.0, "backoff": 40.0, "runtime": 900.0}


def config(**sections):
    return json.dumps(parse_config(sections).to_dict())


@pytest.mark.parametrize(
    ("provider", "catalog", "given", "expected"),
    [
        ("s3", {}, {}, []),
        ("azure", {}, {}, [("assumed_figures", 0, 0.5)]),
        ("s3", {"profile": "jdbc"}, {}, [("assumed_figures", 0, 0.3)]),
        ("s3", {"profile": "glue"}, {}, []),
        ("azure", {}, {"manifest_list_ms": 11.0}, []),  # a tenth is not worth a warning
        ("azure", {}, {"scope": "source"}, []),  # figures of one source do not count for the whole
    ],
)
def test_a_configuration_says_what_share_of_its_latency_is_assumed(provider, catalog, given, expected):
    found = assumption_rows({("s", 0): config(storage={"provider": provider}, catalog=catalog)}, *rows(**given))

    assert [(row["warning"], row["point"], row["value"]) for row in found] == expected


def test_a_catalog_of_unsaid_latency_is_told_once_for_the_study():
    unsaid = config(catalog={"type": "service"})
    (phases_0, requests_0), (phases_1, requests_1) = rows(point=0), rows(point=1)

    found = assumption_rows({("s", 0): unsaid, ("s", 1): unsaid}, phases_0 + phases_1, requests_0 + requests_1)

    assert [(row["warning"], row.get("point")) for row in found if row["warning"] == "unsaid_catalog_latency"] == [
        ("unsaid_catalog_latency", None)
    ]


def test_a_profile_that_is_gone_says_nothing():
    gone = json.loads(config())
    gone["storage"]["provider"] = "/nowhere/gone.toml"

    assert assumption_rows({("s", 0): json.dumps(gone)}, *rows()) == []


@pytest.mark.parametrize(
    ("sections", "code"),
    [
        ({"source": [STREAM, MERGE]}, "unsaid_reading"),
        ({"catalog": {"profile": "polaris"}}, "borrowed_latency"),
        ({"catalog": {"type": "service", "service": {"flavour": "rest", "server_retries": 3}}}, "hypothetical_catalog"),
        ({"table": {"format": "delta"}, "catalog": {"type": "put_if_absent"}}, "missing_log_store"),
        (
            {
                "catalog": {"type": "service", "service": {"flavour": "rest"}},
                "table": {"initial_snapshots": 1000, "snapshots_kept_max": 1000},
            },
            "uncharged_answers",
        ),
    ],
)
def test_a_study_has_the_warnings_of_every_other_answer(sections, code):
    told = dict(from_texts(parse_config(sections)))
    found = assumption_rows({("s", point): config(**sections) for point in range(2)}, *rows())

    assert [told[code]] == [row["text"] for row in found if row["warning"] == code]
