"""How well a run's figures are known: gathered from store and catalog, carried to the result."""

import pytest

import endive
from endive.config import parse_config
from endive.simulation.knowledge import figures_of_config

RUN = {
    "simulation": {"duration_ms": 60_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0},
    "transaction": {"inter_arrival": {"distribution": "fixed", "ms": 5_000.0}, "runtime": {"mean": 100, "min": 50}},
}


def run(**sections):
    return endive.simulate(parse_config({**RUN, **sections}))


def known(result):
    return {f"{figure['object']}.{figure['operation']}": figure["known"] for figure in result.to_json_dict()["figures"]}


def test_a_run_on_measured_figures_says_nothing_and_carries_their_sources():
    result = run(storage={"provider": "s3"})

    lists = ("manifest_list.read", "manifest_list.write", "manifest_list.head")
    assert known(result) == dict.fromkeys(("catalog.read", "catalog.cas", *lists, "manifest.write"), "measured")
    assert not [line for line in result.warnings if "ssumed" in line]


def test_a_run_on_google_says_that_most_of_its_latency_is_assumed():
    result = run(storage={"provider": "gcp"})

    lines = [line for line in result.warnings if line.startswith("Assumed figures make up about ")]
    assert len(lines) == 1
    assert "gcp read and write (by Endive: within one coarse published range, 100 to 400 ms (C))" in lines[0]


def test_a_named_catalog_travels_to_the_result():
    figures = run(catalog={"profile": "glue"}).to_json_dict()["figures"]

    assert [(each["of"], each["operation"], each["known"]) for each in figures if each["object"] == "catalog"] == [
        ("catalog glue", "read", "published"),
        ("catalog glue", "cas", "published"),
    ]


def test_a_server_answers_after_its_latency_and_its_time_of_service():
    service = {
        "time": {"distribution": "fixed", "ms": 4.0},
        "commit_latency": {"distribution": "fixed", "ms": 30.0},
    }
    catalog = {"type": "service", "latency_ms": 10.0, "service": service}

    figures = figures_of_config(parse_config({**RUN, "catalog": catalog}))

    assert {"read": 14.0, "cas": 34.0} == {each.operation: each.mean_ms for each in figures if each.object == "catalog"}


@pytest.mark.parametrize(
    ("catalog", "count"),
    [({"type": "service"}, 1), ({"type": "service", "latency_ms": 5.0}, 0), ({"profile": "jdbc"}, 0)],
)
def test_a_service_without_a_latency_is_said(catalog, count):
    assert count == sum("so 1 ms is assumed" in line for line in run(catalog=catalog).warnings)


def test_latencies_of_the_users_own_are_given():
    read = {"manifest_list": {"read": {"distribution": "fixed", "ms": 5}}}
    found = known(run(storage={"provider": "gcp", "objects": read}))

    assert ("given", "assumed") == (found["manifest_list.read"], found["manifest_list.write"])
    constant = known(run(storage={"provider": "constant", "latency_ms": 10.0}))
    assert {"given"} == set(constant.values())
