"""``endive verify`` as a user sees it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from endive.cli.main import app
from endive.verification import Check, Options, skipped


@pytest.fixture
def verify():
    def invoke(*arguments: object):
        return CliRunner().invoke(app, ["verify", *(str(argument) for argument in arguments)])

    return invoke


def test_the_list_names_every_suite(verify):
    answer = json.loads(verify("--list", "--json").stdout)

    assert ["theory", "stores", "requests", "load", "delta", "replay", "isolation", "claims"] == list(answer)


def test_an_unknown_suite_ends_with_2_and_the_names_there_are(verify):
    answer = verify("theroy")

    assert 2 == answer.exit_code
    assert "no suite is called 'theroy'. Choose one of: theory, stores," in answer.stderr


def test_jars_that_are_not_there_end_with_2(verify, tmp_path):
    answer = verify("requests", "--iceberg-jars", tmp_path / "none")

    assert 2 == answer.exit_code
    assert "is not a folder. Give the folder that holds iceberg-spark-runtime" in answer.stderr


NO_JAVA = skipped("theory", "no Java on PATH. Install one.", part="java")
UNCLEAR = Check.points("share", {"runs": 8}, expected=75.0, actual=83.0, allowed=5.0, doubt=20.0)


@pytest.mark.parametrize(
    ("skips", "changes", "code", "told"),
    [
        ((), {}, 1, "wrong: rate (store gcp): expected 20.00, got 30.00 per s, off by +50.00 %, allowed 5 %"),
        ((), {}, 1, "wrong: 1 wrong, 1 checks right, 0 skipped"),
        ((), {"wrong": 20.0}, 0, "right: 2 checks right, 0 skipped"),
        ((NO_JAVA,), {"wrong": 20.0}, 0, "theory java: skipped. no Java on PATH. Install one."),
        ((NO_JAVA,), {"wrong": 20.0}, 0, "right: 2 checks right, 1 skipped"),
        ((), {"checks": (UNCLEAR,)}, 0, "right: 0 checks right, 1 unclear, 0 skipped"),
    ],
)
def test_only_a_wrong_check_ends_with_1_and_what_was_found_is_told(
    verify, make_suite, outcome, skips, changes, code, told
):
    make_suite(*skips, outcome(**changes))

    answer = verify()

    assert code == answer.exit_code
    assert told in answer.stdout


def test_a_suite_of_which_nothing_ran_is_not_right_and_ends_with_3(verify, make_suite):
    hint = "no PyIceberg. Install it: pip install 'endive[verify]'."
    make_suite(skipped("theory", hint, part="java"), skipped("theory", hint, part="pyiceberg"))

    answer = verify("theory")

    assert 3 == answer.exit_code
    assert f"theory java: skipped. {hint}\n" in answer.stdout  # as it is to be typed
    assert "skipped: 0 checks right, 2 skipped, nothing ran of theory" in answer.stdout
    assert json.loads(verify("theory", "--json").stdout)["holds"] is False


def test_json_holds_everything_and_null_where_a_number_is_none(verify, make_suite, outcome):
    make_suite(outcome(wrong=float("nan")))

    document = json.loads(verify("theory", "--json").stdout)

    assert document["holds"] is False
    (found,) = document["outcomes"]
    assert (1, 1, 1) == (found["right"], found["wrong"], found["shown"])
    assert [20.5, None, 52.0] == [check["actual"] for check in found["checks"]]
    assert {"model_version": 2} == found["provenance"]


def test_every_check_is_listed_if_asked_for(verify, make_suite, outcome):
    make_suite(outcome())

    answer = verify("theory", "--all")

    assert ["right", "wrong", "shown"] == [
        line.split()[-1] for line in answer.stdout.splitlines() if line.strip().startswith(("rate", "share"))
    ]


def test_options_reach_the_suite(verify, make_suite, outcome, tmp_path):
    asked = make_suite(outcome())

    verify("theory", "--quick", "--live", "--iceberg-jars", tmp_path)

    assert [Options(is_quick=True, is_live=True, iceberg_jars=tmp_path)] == asked


def test_pages_and_plots_are_written(verify, make_suite, outcome, tmp_path):
    make_suite(outcome())

    verify("theory", "--out", tmp_path / "pages")

    assert {"README.md", "index.json", "theory.md", "theory-rate.svg"} == {
        path.name for path in (tmp_path / "pages").iterdir()
    }


def test_a_place_that_cannot_be_written_to_ends_with_2_before_anything_runs(verify, make_suite, outcome, tmp_path):
    asked = make_suite(outcome())
    (tmp_path / "file").write_text("")

    answer = verify("theory", "--out", tmp_path / "file")

    assert (2, []) == (answer.exit_code, asked)
    assert "cannot be written to" in answer.stderr
