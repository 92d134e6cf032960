"""Warnings of an analysis about what is assumed, from rows made by hand."""

import json

import pytest

from endive.answers.caveats import caveats_of_config
from endive.config import parse_config
from endive.pipeline.analysis.warning_table import assumption_rows


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
def test_a_study_has_the_caveats_of_every_other_answer_in_their_words(sections, code):
    told = dict(caveats_of_config(parse_config(sections)))
    found = assumption_rows({("s", point): config(**sections) for point in range(2)}, *rows())

    assert [told[code]] == [row["text"] for row in found if row["warning"] == code]
