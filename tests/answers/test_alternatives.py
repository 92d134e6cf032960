"""One load under each value of a choice."""

import json

import pytest
from tests.answers.conftest import busy_config
from typer.testing import CliRunner

from endive.answers.alternatives import find_limits, number_and_choice, variants_of
from endive.answers.limit import ANY, find_limit
from endive.cli.main import app
from endive.config import apply_overrides
from endive.errors import ObjectiveError

FORMAT = "table.format"


def test_a_format_takes_a_turn_per_client_and_each_override_waits_for_the_format_that_reads_it():
    changes = {"delta.checkpoint_interval": 7, "commit.min_count_to_merge": 50, "source.writers.deletes": "position"}
    variants = variants_of(busy_config(), FORMAT, {"delta.checkpoint_interval": 7, "commit.min_count_to_merge": 50})
    configs = {variant.name: variant.base.config for variant in variants}

    assert ["Iceberg", "Delta Spark", "delta-rs"] == list(configs)
    assert ("iceberg", 50) == (configs["Iceberg"].table.format, configs["Iceberg"].commit.min_count_to_merge)
    assert [("spark", 7), ("delta_rs", 7)] == [
        (configs[name].delta.client, configs[name].delta.checkpoint_interval) for name in ("Delta Spark", "delta-rs")
    ]
    there = apply_overrides(busy_config().to_dict(), {FORMAT: "delta", **changes})
    assert "deletes" not in there["source"][0], "a key of a source belongs to a format, too"


def test_a_value_that_is_refused_keeps_its_turn_and_says_why():
    variants = {variant.name: variant for variant in variants_of(busy_config(), "catalog.type", {})}

    assert variants["dynamodb"].base is None
    assert "is where Delta Lake commits, and table.format is 'iceberg'" in variants["dynamodb"].problem
    assert variants["service"].base.config.catalog.type == "service"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([FORMAT], ("load", FORMAT)),
        ([FORMAT, "source.a.retry"], ("source.a.retry", FORMAT)),
        (["load"], ("load", None)),
        (["source.a.isolation"], ("load", "source.a.isolation")),
        (["no.such.key"], ("no.such.key", None)),
    ],
)
def test_a_choice_is_told_from_a_number(keys, expected):
    assert expected == number_and_choice(keys)


def test_two_numbers_at_once_are_refused():
    with pytest.raises(ObjectiveError, match=r"not both of load and simulation\.seed"):
        number_and_choice(["load", FORMAT, "simulation.seed"])


@pytest.mark.lengthy
def test_the_limit_under_each_format_is_that_of_the_format_alone():
    asked = {"slo": "writers.retries_mean <= 0.5", "low": 1, "high": 16, "tolerance": 0.9, "seeds_max": 2}
    variants = variants_of(busy_config(), FORMAT, {})[:2]
    found = find_limits(variants, "source.writers.arrivals.clients", **asked)
    alone = find_limit(variants[1].base, "source.writers.arrivals.clients", **asked)

    assert ["Iceberg", "Delta Spark"] == [variant.name for variant, _ in found]
    assert alone == found[1][1] != found[0][1]
    assert ANY == find_limits(variants[:1], "load", slo="success_rate >= 0", low=1, high=2)[0][1].which


@pytest.mark.lengthy
def test_commands_tell_every_format_and_only_keys_that_both_read(tmp_path):
    file = tmp_path / "load.toml"
    file.write_text(busy_config().to_toml())
    invoke = CliRunner().invoke
    answer = invoke(app, ["compare", str(file), "--vary", FORMAT, "--seeds", "2", "--json"])
    sides = json.loads(answer.stdout)["comparisons"]
    keys = {row["key"] for row in sides[0]["keys"]}

    assert ["Delta Spark", "delta-rs"] == [side["b"] for side in sides]
    assert {"table.format", "catalog.type", "source.writers.retry"} <= keys
    assert not any(key.startswith(("commit.", "delta.", "table.manifest")) for key in keys)
    refused = invoke(app, ["compare", str(file), "--vary", "simulation.seed"])
    assert "takes a key whose values are names, such as table.format" in refused.stderr
    asked = ["--vary", FORMAT, "--slo", "retries_mean <= 0.5", "--tolerance", "50%", "--seeds", "4"]
    shown = invoke(app, ["limit", str(file), *asked])
    assert all(name in shown.stdout for name in ("Iceberg", "Delta Spark", "delta-rs"))
