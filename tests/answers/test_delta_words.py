"""Delta Lake in every command: its own words, and none of Iceberg's."""

import re

import pytest
from typer.testing import CliRunner

from endive.answers.advice.levers import changes_of
from endive.answers.variation import base_of
from endive.cli.main import app
from endive.config import apply_overrides, parse_config
from endive.formats.iceberg import words as iceberg

FILE = """
[simulation]
duration_ms = 20000
[table]
format = "delta"
[slo]
objective = "stream.success_rate >= 50 %"
[[source]]
name = "stream"
arrivals = {kind = "closed", clients = 3, think_ms = {distribution = "fixed", ms = 500.0}}
runtime = {distribution = "fixed", ms = 30.0}
keeps_table = true
[[source]]
name = "statement"
arrivals = {kind = "closed", clients = 1, think_ms = {distribution = "fixed", ms = 500.0}}
runtime = {distribution = "fixed", ms = 2000.0}
operation_types = {merge = 1.0}
read = "table"
"""
FOREIGN = re.compile(
    "|".join(["iceberg", "manifest", "snapshot ", "validation exception", *(kind for kind in iceberg.KINDS)]),
    re.IGNORECASE,
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "delta.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "command",
    [
        ("run", "--seeds", "2"),
        ("explain",),
        ("advise", "--seeds", "2"),
        ("limit", "--vary", "source.stream.arrivals.clients", "--seeds", "2", "--to", "6"),
        ("config", "show"),
    ],
    ids=lambda command: command[0],
)
def test_a_command_answers_in_the_words_of_the_format(command, file):
    name, *options = command
    arguments = [name, *options[:1], str(file)] if name == "config" else [name, str(file), *options]
    answered = CliRunner().invoke(app, arguments)

    assert [] == FOREIGN.findall(answered.output)
    assert "Traceback" not in answered.output
    assert 0 == answered.exit_code or name == "limit"


def test_the_same_load_in_the_other_format_and_back():
    written = {
        "simulation": {"duration_ms": 20_000.0},
        "catalog": {"type": "service", "num_tables": 2},
        "commit": {"merging": "off"},
        "source": [
            {"recipe": "spark_merge_cow", "interval_ms": 1_000.0},
            {
                "name": "upkeep",
                "operation_types": {"expire_snapshots": 1.0},
                "retain_last": 1,
                "arrivals": {"kind": "poisson", "per_s": 1},
            },
        ],
    }

    there = apply_overrides(written, {"table.format": "delta", "commit.merging": "bins", "delta.client": "delta_rs"})
    config = parse_config(there)
    back = parse_config(apply_overrides(there, {"table.format": "iceberg"}))

    assert ("put_if_absent", 2, "delta_rs", 15) == (
        config.catalog.type,
        config.catalog.num_tables,
        config.delta.client,
        config.sources[0].retry,
    )
    assert [("spark_merge_cow", 1.0, "table")] == [(s.name, s.operation_types.merge, s.read) for s in config.sources]
    assert ("cas", "overwrite_files", 1.0) == (
        back.catalog.type,
        back.sources[0].overwrite,
        back.sources[0].operation_types.validated_overwrite,
    )


def test_another_client_takes_the_load_and_leaves_the_settings_of_the_one_before():
    written = {
        "table": {"format": "delta"},
        "transaction": {"retry": 7},
        "source": [
            {"recipe": "delta_spark_merge"},
            {"name": "stream", "arrivals": {"kind": "poisson", "per_s": 1}, "operation_types": {"merge": 1.0}},
        ],
    }
    same = parse_config(apply_overrides(written, {"delta.client": "spark"}))
    other = parse_config(apply_overrides(written, {"delta.client": "delta_rs"}))

    assert [("delta_spark_merge", "serializable", 7), ("stream", "serializable", 7)] == [
        (each.name, each.isolation, each.retry) for each in same.sources
    ]
    assert [("delta_spark_merge", 600_000.0, 15), ("stream", None, 15)] == [
        (each.name, getattr(each.arrivals, "period_ms", None), each.retry) for each in other.sources
    ]


def test_levers_are_those_of_the_format(file):
    delta, other = base_of(file), base_of(file, {"table.format": "iceberg"})

    assert {"checkpoints", "isolation"} <= {change.lever.name for change in changes_of(delta)}
    assert not {"merging", "catalog", "backoff"} & {change.lever.name for change in changes_of(delta)}
    assert "checkpoints" not in {change.lever.name for change in changes_of(other)}


def test_writers_of_delta_rs_are_offered_more_retries_and_a_table_that_is_not_kept(file):
    """Real ones need no more: 8 writers that keep their table commit 85 %, with either all of them."""
    of_rs = changes_of(base_of(file, {"delta.client": "delta_rs"}), ("retries", "loading"))
    of_spark = changes_of(base_of(file), ("retries", "loading"))

    assert ["30 retries", "100 retries", "stream: the table loaded for every commit"] == [
        change.offer.words for change in of_rs
    ]
    assert [] == of_spark


@pytest.mark.parametrize(
    ("provider", "commit_point", "is_said"),
    [("s3", "put_if_absent", True), ("azurex", "put_if_absent", False), ("s3", "dynamodb", False)],
)
def test_a_log_store_that_delta_spark_does_not_have_is_told(provider, commit_point, is_said, file):
    sets = ["--set", f"storage.provider={provider}", "--set", f"catalog.type={commit_point}"]
    answered = CliRunner().invoke(app, ["run", str(file), "--seeds", "2", *sets])

    assert 0 == answered.exit_code, answered.output
    assert is_said == ("has no LogStore" in answered.output)
