"""``endive analyze`` as a user sees it."""

from __future__ import annotations

import io
import json
import shutil

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from endive.cli.console import EndiveGroup
from endive.cli.studies import analyze as command


@pytest.fixture
def endive():
    """``endive(DIR, ...)``: exit code, stdout and stderr of the command."""
    app = typer.Typer(cls=EndiveGroup)
    app.command("analyze")(command.analyze)
    app.command("other")(lambda: None)  # one command alone would be no group

    def invoke(*arguments: object):
        return CliRunner().invoke(app, ["analyze", *(str(argument) for argument in arguments)])

    return invoke


@pytest.mark.parametrize(
    ("folder", "options", "told"),
    [
        ("nowhere", (), "nowhere is not a folder"),
        (".", (), "is not the folder of a sweep"),
        ("dataset", ("--master", "spark://127.0.0.1:1"), "--master spark://127.0.0.1:1 cannot be reached"),
        ("dataset", ("--conf", "memory"), "--conf 'memory' is not spark.key=value"),
    ],
)
def test_what_cannot_be_analysed_is_an_error_with_code_2(endive, dataset, tmp_path, folder, options, told):
    result = endive(tmp_path / folder, *options)

    assert (2, "") == (result.exit_code, result.stdout)
    assert told in result.stderr
    assert not (dataset / "analysis").exists()


@pytest.mark.spark
def test_json_is_one_object_with_the_answers_in_it(endive, dataset, shared):
    others = ("lengths", "mixed", "sampled")
    for study in others:
        shutil.rmtree(dataset / "runs" / f"study={study}")
        (dataset / "studies" / f"{study}.json").unlink()

    result = endive(dataset, "--json", "--conf", "spark.driver.memory=3g")

    assert (0, "") == (result.exit_code, result.stderr)
    answer = json.loads(result.stdout)
    assert str(dataset / "analysis") == answer["folder"]
    assert ["bare"] == list(answer["studies"])
    assert [400, 800, 1600] == [
        row["transaction.inter_arrival.scale"] for row in answer["configurations"] if row["scope"] == "all"
    ]
    assert {"all", "source"} == {row["scope"] for row in answer["sustained"]}
    assert ("3g", True) == (shared.conf_asked["spark.driver.memory"], shared.is_stopped)


def printed(analysis, width):
    console = Console(width=width, record=True, file=io.StringIO())
    for part in command.make_tables(analysis, console):
        console.print(part)
    return console.export_text()


def test_a_terminal_shows_configurations_with_intervals_and_the_sustained_load(analysis):
    told = printed(analysis, 240)

    objective = "every source.success_rate >= 99 %"
    assert "Mixed load: means over seeds, 95 % intervals; latency in ms" in told
    words = " ".join(told.split())  # a title is as wide as its table
    assert f"Load in txns/s that meets {objective}, along source.appends.arrivals.mean_ms" in words
    assert f"Load in txns/s that meets {objective}, each configuration by itself" in words
    lines = [line.split() for line in told.splitlines()]
    assert ["150", "cas"] in [line[:2] for line in lines]
    assert ["2", "missed", "?"] in [line[-3:] for line in lines]  # seeds: one run failed; the interval is wide


def test_at_80_columns_no_word_is_broken_and_what_gave_way_is_named(analysis):
    told = printed(analysis, 80)

    assert 80 >= max(len(line) for line in told.splitlines())
    assert "…" not in told
    assert "Not shown at this width: seeds" in told
    assert "--format csv --table configurations" in " ".join(told.split())


def test_a_warning_says_where_it_belongs():
    assert "mixed, point 2, seed 44: " == command.place({"study": "mixed", "point": 2, "seed": 44})
    assert "mixed: " == command.place({"study": "mixed", "point": None, "seed": None})


def test_warnings_of_one_kind_share_a_line():
    def warning(study, seed, code):
        return {"study": study, "point": 0, "seed": seed, "warning": code, "text": f"Text {seed}."}

    rows = [warning("s", 1, "a"), warning("s", 2, "a"), warning("t", 4, "a")]

    assert ["s, point 0, seed 1: Text 1. (1 more like it)", "t, point 0, seed 4: Text 4."] == command.warning_lines(
        rows
    )


@pytest.mark.parametrize(
    ("axis", "axes", "short"),
    [
        ("transaction.inter_arrival.scale", ["transaction.inter_arrival.scale", "catalog.type"], "scale"),
        ("source.a.arrivals.per_s", ["source.a.arrivals.per_s", "source.b.arrivals.per_s"], "a.arrivals.per_s"),
        ("rate", ["rate", "a.rate"], "rate"),
        ("a.rate", ["rate", "a.rate"], "a.rate"),
    ],
)
def test_an_axis_is_as_short_as_it_can_be(axis, axes, short):
    assert short == command.short(axis, axes)
