"""Delta Lake in the answers: its remedies and warnings, and a load that is taken from one format to the other."""

import tomllib

import pytest
from typer.testing import CliRunner

from endive.answers.advice.levers import changes_of
from endive.answers.variation import base_of
from endive.answers.warnings import from_texts
from endive.cli.main import app
from endive.config import apply_overrides, parse_config

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


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "delta.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


def ask(*arguments):
    answered = CliRunner().invoke(app, list(map(str, arguments)))
    assert "Traceback" not in answered.output
    return answered


def test_the_same_load_in_the_other_format_and_back():
    upkeep = {"name": "upkeep", "operation_types": {"expire_snapshots": 1.0}, "retain_last": 1}
    written = {
        "simulation": {"duration_ms": 20_000.0},
        "catalog": {"type": "service", "num_tables": 2},
        "commit": {"merging": "off"},
        "source": [
            {"recipe": "spark_merge_cow", "interval_ms": 1_000.0},
            {**upkeep, "arrivals": {"kind": "poisson", "per_s": 1}},
        ],
    }

    there = apply_overrides(written, {"table.format": "delta", "commit.merging": "bins", "delta.client": "delta_rs"})
    config = parse_config(there)
    back = parse_config(apply_overrides(there, {"table.format": "iceberg"}))
    (source,) = config.sources

    assert ("put_if_absent", 2) == (config.catalog.type, config.catalog.num_tables)
    assert ("delta_rs", 15, "spark_merge_cow") == (config.delta.client, source.retry, source.name)
    assert (1.0, "table") == (source.operation_types.merge, source.read)
    again = back.sources[0]
    assert ("cas", "overwrite_files") == (back.catalog.type, again.overwrite)
    assert 1.0 == again.operation_types.validated_overwrite


def test_another_client_takes_the_load_and_leaves_the_settings_of_the_one_before():
    stream = {"name": "stream", "arrivals": {"kind": "poisson", "per_s": 1}, "operation_types": {"merge": 1.0}}
    written = {"table": {"format": "delta"}, "transaction": {"retry": 7}}
    written["source"] = [{"recipe": "delta_spark_merge"}, stream]
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
    ("keys", "is_said"),
    [
        ({"delta.client": "spark"}, True),
        ({"delta.client": "spark", "delta.log_replay_ms": 100}, False),
        ({"delta.client": "delta_rs"}, False),
    ],
)
def test_what_delta_spark_works_to_read_its_log_is_told_of_it_alone(keys, is_said, file):
    sets = [part for key, value in keys.items() for part in ("--set", f"{key}={value}")]
    answered = ask("run", file, "--seeds", 2, *sets)

    assert 0 == answered.exit_code, answered.output
    assert is_said == ("reading its log: 350 ms each time" in " ".join(answered.output.split()))
    assert is_said == ("ms each time" in " ".join(answered.output.split()))


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"catalog.type": "single_driver"}, {"one_driver"}),
        ({"catalog.type": "dynamodb", "source.statement.isolation": "write_serializable"}, {"refused_isolation"}),
        ({"catalog.type": "dynamodb"}, set()),
        ({"catalog.type": "put_if_absent", "storage.provider": "s3"}, {"missing_log_store"}),
        ({"catalog.type": "put_if_absent", "storage.provider": "azurex"}, set()),
        ({"catalog.type": "put_if_absent", "storage.provider": "s3", "delta.client": "delta_rs"}, set()),
    ],
)
def test_what_open_source_delta_spark_does_not_do_is_told(keys, told):
    codes = {name for name, _ in from_texts(parse_config(apply_overrides(tomllib.loads(FILE), keys)))}

    assert told == codes & {"one_driver", "refused_isolation", "missing_log_store"}


def test_a_load_of_delta_keeps_its_conflicts_within_a_table_as_iceberg():
    """Behind a swapped object Iceberg's default is by partition, which no catalog does."""
    parted = {"catalog.partitions": {"enabled": True, "num_partitions": 4}}
    switched = apply_overrides(tomllib.loads(FILE), {**parted, "table.format": "iceberg"})

    assert "table" == parse_config(switched).catalog.scope


def test_a_story_says_why_delta_spark_reads_its_log_after_a_commit(tmp_path):
    path = tmp_path / "close.toml"
    path.write_text(
        'table.format = "delta"\n[storage]\nprovider = "azurex"\n[simulation]\nduration_ms = "2min"\n'
        '[[source]]\nname = "w"\narrivals = { kind = "closed", clients = 4 }\noperation_types = { blind_append = 1 }\n'
        'runtime = "300ms"\nkeeps_table = true\n'
    )
    told = {name: ask("explain", path, "--worst", 1, "--set", f"delta.client={name}") for name in ("spark", "delta_rs")}

    says = "the checksum of the version before is not there yet: it reads the log to make its own"
    assert {"spark": True, "delta_rs": False} == {
        name: says in " ".join(answer.output.split()) for name, answer in told.items()
    }
