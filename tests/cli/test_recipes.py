"""``endive recipes``: the list, one in full, and a name that is none."""

import json
import tomllib

from typer.testing import CliRunner

from endive.cli.main import app
from endive.config import recipes


def test_the_list_names_every_recipe():
    result = CliRunner().invoke(app, ["recipes"])

    assert 0 == result.exit_code
    assert all(name in result.output for name in recipes())


def test_one_recipe_prints_a_source_that_loads():
    text = CliRunner().invoke(app, ["recipes", "spark_merge_cow"]).output

    shown = tomllib.loads(text.split("it means:")[1])["source"][0]
    assert recipes()["spark_merge_cow"].expand({"name": "mine"}) == shown
    assert "SparkWrite.CopyOnWriteOperation" in text


def test_json_holds_the_same():
    printed = json.loads(CliRunner().invoke(app, ["recipes", "--json"]).output)

    assert list(recipes()) == list(printed)


def test_a_name_that_is_none_is_one_line():
    result = CliRunner().invoke(app, ["recipes", "flinksink"])

    assert 2 == result.exit_code
    assert "no recipe is called 'flinksink'. Did you mean 'flink_sink'?" in result.stderr.replace("\n", " ")
