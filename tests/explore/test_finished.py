"""A finished study: axes to choose, values to hold, points to begin with."""

import pytest
from tests.explore.conftest import TOKEN
from tests.explore.grid import write_grid

from endive.errors import ConfigError, OutputError
from endive.explore.finished import finished_in, start_of_point


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    (found,) = finished_in(write_grid(tmp_path_factory.mktemp("finished")))
    return found


def test_every_axis_and_every_point_is_offered(grid):
    label = grid.label()

    assert {"load_per_s", "commit.protocol", "catalog.num_tables"} == {axis["key"] for axis in label["axes"]}
    assert 12 == len(label["points"])
    assert "load_per_s" == label["roles"]["x"]


def test_axes_go_where_they_are_asked_for(grid):
    found = grid.charts({"x": "catalog.num_tables", "series": "commit.protocol"}, {"load_per_s": "2"})

    assert ("catalog.num_tables", "commit.protocol") == (found["roles"]["x"], found["roles"]["series"])
    success = next(chart for chart in found["charts"] if chart["id"] == "success")
    assert {"1", "2"} == {row["xl"] for row in success["rows"]}


def test_a_value_that_is_held_is_the_only_one_drawn(grid):
    roles = {"x": "commit.protocol", "series": "catalog.num_tables", "panel": None}

    drawn = {
        load: [chart["rows"] for chart in grid.charts(roles, {"load_per_s": load})["charts"] if chart["id"] == "phases"]
        for load in ("0.5", "2")
    }

    assert drawn["0.5"] != drawn["2"]


def test_a_filter_leaves_the_rows_of_its_value_whatever_the_axis_is_used_for(grid):
    roles = {"x": "load_per_s", "series": "commit.protocol"}

    held = {"commit.protocol": "pyiceberg", "load_per_s": "2"}
    found = grid.charts(roles, {**held, "catalog.num_tables": "no such label"})

    success = next(chart for chart in found["charts"] if chart["id"] == "success")
    assert {("2", "pyiceberg")} == {(row["xl"], row["s"]) for row in success["rows"]}
    assert held == found["held"]


def test_a_role_for_no_axis_is_refused_in_words(grid):
    with pytest.raises(ConfigError, match="x = 'nothing' is no axis of the study"):
        grid.charts({"x": "nothing"}, {})


def test_a_point_is_a_start_with_the_configuration_that_was_run(grid):
    start = start_of_point([grid], "point/grid/1")

    assert start is not None
    assert "Grid: offered load 0.5, protocol iceberg, tables 2" == start.title
    assert (2, "iceberg") == (start.base.config.catalog.num_tables, start.base.config.commit.protocol)
    assert start_of_point([grid], "point/grid/99") is None
    assert start_of_point([grid], "point/grid/../1") is None
    assert start_of_point([grid], "point/other/1") is None


def test_a_folder_without_an_analysis_says_what_to_do(tmp_path):
    with pytest.raises(OutputError, match="is not a folder that 'endive sweep --out' has filled"):
        finished_in(tmp_path)


def test_the_server_draws_a_study_it_was_started_with(client, grid):
    client.app.state.studies = {"grid": grid}

    drawn = client.post(f"/{TOKEN}/api/study", json={"study": "grid", "roles": {"x": "load_per_s"}})

    assert "load_per_s" == drawn.json()["roles"]["x"]
