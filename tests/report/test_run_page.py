"""The charts of one run, and how late data are: the txns that its table counts, the ages that its figures tell."""

import re

import numpy as np
import pyarrow as pa
import pytest
from tests.report.synthetic import SyntheticStudy, section_of

import endive
from endive.report.charts.run_chart import CURVE_POINTS, Late, attempt_spec, freshness_spec, lateness_spec
from endive.report.run_page import ages_by_source, in_window, late_by_source

JOBS = {"kind": "jobs", "jobs": 4, "period_ms": 3_000.0}
CONFIG = {
    "simulation": {"duration_ms": 120_000.0, "warmup_ms": 10_000.0, "cooldown_ms": 5_000.0},
    "storage": {"provider": "s3"},
    "catalog": {"type": "service", "latency_ms": 4.0},
    "transaction": {"runtime": {"distribution": "fixed", "ms": 100.0}, "retry": 1},
    "source": [
        {"name": "stream", "arrivals": JOBS, "after_failure": "carried", "fresh_within_ms": 5_000.0},
        {"name": "other", "arrivals": {"kind": "poisson", "per_s": 1.0}, "operation_types": {"rewrite_files": 1.0}},
    ],
}


@pytest.fixture(scope="module")
def run():
    return endive.simulate(CONFIG, engine="reference")


def test_the_picture_shows_the_ages_that_the_figures_tell(run):
    ages = ages_by_source(endive.config.parse_config(CONFIG), run.transactions)
    told = run.to_json_dict()["by_source"]["stream"]["freshness_ms"]
    spec = freshness_spec(ages)

    assert ["stream"] == list(ages)
    shown = {round(value["share"], 6): value["age"] for value in spec["data"]["values"]}
    assert CURVE_POINTS + 1 == len(shown)
    assert told["p50"] / 1000.0 == pytest.approx(shown[0.5])
    assert told["p95"] / 1000.0 == pytest.approx(shown[0.95])
    assert told["max"] / 1000.0 == pytest.approx(shown[1.0])
    assert [{"age": 5.0}] == spec["layer"][1]["data"]["values"]


def test_over_time_a_job_whose_commits_fail_is_seen_to_fall_behind_and_the_worst_of_them_is_the_most_of_the_figures(
    run,
):
    config = endive.config.parse_config(CONFIG)
    late = late_by_source(config, run.transactions)["stream"]
    told = run.to_json_dict()["by_source"]["stream"]["freshness_ms"]
    in_window = late.ages_us[:, (late.moments_us >= 10_000_000) & (late.moments_us <= 115_000_000)]

    assert 4 == len(late.ages_us)
    assert told["mean"] == pytest.approx(in_window.mean() / 1000.0, rel=0.03)
    assert told["max"] == pytest.approx(in_window.max() / 1000.0, abs=2 * 120_000 / 300)
    assert 5_000_000 == late.bound_us


@pytest.mark.parametrize(("most_s", "unit", "shown"), [(40, "s", 40.0), (1_200, "min", 20.0), (36_000, "h", 10.0)])
def test_ages_are_shown_in_a_unit_that_people_would_choose(most_s, unit, shown):
    moments = np.array([1_000_000, 2_000_000])
    ages = np.array([[1_000_000, most_s * 1_000_000], [0, 0]])

    spec = lateness_spec({"stream": Late(moments, ages, None)})

    values = [(value["job"], value["age"]) for value in spec["data"]["values"]]
    assert ("furthest behind", shown) == values[1]
    assert ("the middle one", shown / 2) == values[3]
    assert f"age ({unit})" == spec["spec"]["layer"][0]["encoding"]["y"]["title"]
    assert 1 == len(spec["spec"]["layer"])  # nothing is asked for


class Streams(SyntheticStudy):
    """Data that are late by two minutes and a half for each unit of load."""

    def rows(self):
        found = super().rows()
        for row in found["configurations"]:
            row |= self.spread("freshness_p95_ms", 150_000.0 * row["load_per_s"])
        return found


@pytest.mark.parametrize(("objective", "asked"), [("p95_freshness <= 5min", [300_000.0]), ("success_rate >= 9 %", [])])
def test_in_a_study_ages_are_in_minutes_and_a_dashed_line_is_where_the_objective_asks(tmp_path, objective, asked):
    study = Streams("late", {"load_per_s": [1, 2, 4]}, objective=objective)
    charts = {chart.id: chart for chart in section_of(tmp_path, study).charts}
    layers = charts["freshness"].variants[0].spec["layer"]

    drawn = [layer["encoding"]["y"] for layer in layers if layer["encoding"]["y"]["field"] == "freshness_p95_ms"]
    assert {"age of the newest visible data P95 (min)"} == {channel["title"] for channel in drawn if "title" in channel}
    axis = next(channel["axis"] for channel in drawn if "axis" in channel)
    assert {0.0, 120_000.0} <= {round(tick, 6) for tick in axis["values"]}
    assert "datum.value" in axis["labelExpr"]
    assert asked == [value["level"] for layer in layers for value in layer.get("data", {}).get("values", [])]
    assert "age of the newest visible data P95" == charts["freshness"].variants[0].label
    assert bool(asked) == ("Dashed: the objective." in charts["freshness"].reading)


def test_beside_each_other_sources_and_phases_keep_their_colours(run):
    """A scale that both share has the sources alone, and the bars of the phases are not drawn."""
    pytest.importorskip("vl_convert")
    picture = run.plot()._repr_mimebundle_()["image/svg+xml"]

    assert {"stream", "catalog read", "manifest list"} <= set(re.findall(r">([^<>]+)</text>", picture))


def test_txns_of_warm_up_and_cool_down_do_not_count():
    txns = pa.table({"submit_ms": [0.0, 4.999, 5.0, 9.999, 10.0]})

    assert [5.0, 9.999] == in_window(txns, {"start_ms": 5.0, "end_ms": 10.0})["submit_ms"].to_pylist()


def test_an_outcome_has_its_colour_whichever_others_there_are():
    txns = pa.table({"source": ["merge"], "status": ["aborted"], "attempts": [1]})
    colour = attempt_spec(txns, ["merge"])["encoding"]["color"]

    assert {"committed": "var(--c0)", "aborted": "var(--c1)"} == dict(
        zip(colour["scale"]["domain"], colour["scale"]["range"], strict=True)
    )
