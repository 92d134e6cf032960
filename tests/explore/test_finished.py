"""A finished study: axes to choose, values to hold, points to begin with."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.explore.conftest import TOKEN
from tests.report.synthetic import SyntheticStudy, write_synthetic

from endive.config import parse_config
from endive.errors import ConfigError, OutputError
from endive.explore.finished import finished_in, start_of_point

AXES = {"load_per_s": (0.5, 1, 2), "commit.protocol": ("iceberg", "merge"), "catalog.num_tables": (1, 2)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("finished")
    write_synthetic(made, SyntheticStudy("grid", AXES))
    place = made / "runs" / "study=grid"
    place.mkdir(parents=True, exist_ok=True)
    config = json.dumps(parse_config({"catalog": {"num_tables": 2}}).to_dict())
    pq.write_table(pa.table({"point": [0, 1], "config": [config] * 2}), place / "runs.parquet")
    return made


@pytest.fixture(scope="module")
def grid(folder):
    (found,) = finished_in(folder)
    return found


def test_every_axis_and_every_point_is_offered(grid):
    label = grid.label()

    assert {"load_per_s", "commit.protocol", "catalog.num_tables"} == {axis["key"] for axis in label["axes"]}
    assert 12 == len(label["points"])
    assert "load_per_s" == label["roles"]["x"]


def test_axes_go_where_they_are_asked_for(grid):
    found = grid.charts({"x": "catalog.num_tables", "series": "commit.protocol"}, {"load_per_s": "2"})

    assert "catalog.num_tables" == found["roles"]["x"]
    assert "commit.protocol" == found["roles"]["series"]
    success = next(chart for chart in found["charts"] if chart["id"] == "success")
    assert {"1", "2"} == {row["xl"] for row in success["rows"]}


def test_a_value_that_is_held_is_the_only_one_drawn(grid):
    roles = {"x": "commit.protocol", "series": "catalog.num_tables", "panel": None}

    drawn = {
        load: [chart["rows"] for chart in grid.charts(roles, {"load_per_s": load})["charts"] if chart["id"] == "phases"]
        for load in ("0.5", "2")
    }

    assert drawn["0.5"] != drawn["2"]


def test_a_role_for_no_axis_is_refused_in_words(grid):
    with pytest.raises(ConfigError, match="x = 'nothing' is no axis of the study"):
        grid.charts({"x": "nothing"}, {})


def test_a_point_is_a_start_with_the_configuration_that_was_run(grid):
    start = start_of_point([grid], "point/grid/1")

    assert start is not None
    assert 2 == start.base.config.catalog.num_tables
    assert start_of_point([grid], "point/grid/99") is None
    assert start_of_point([grid], "point/grid/../1") is None
    assert start_of_point([grid], "point/other/1") is None


def test_a_folder_without_an_analysis_says_what_to_do(tmp_path):
    with pytest.raises(OutputError, match="is not a folder that 'endive sweep --out' has filled"):
        finished_in(tmp_path)


def test_the_server_draws_a_study_it_was_started_with_and_no_other(client, grid):
    client.app.state.studies = {"grid": grid}

    drawn = client.post(f"/{TOKEN}/api/study", json={"study": "grid", "roles": {"x": "load_per_s"}})
    other = client.post(f"/{TOKEN}/api/study", json={"study": "../grid"})

    assert "load_per_s" == drawn.json()["roles"]["x"]
    assert 422 == other.status_code
