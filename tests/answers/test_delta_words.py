"""Delta Lake in every command: its own words, and none of Iceberg's."""

import re
import tomllib

import pytest
from typer.testing import CliRunner

from endive.answers.advice.levers import changes_of
from endive.answers.caveats import caveats_of_config
from endive.answers.variation import base_of
from endive.cli.main import app
from endive.config import apply_overrides, parse_config
from endive.config.reading.recipe import recipes
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
OTHERS = {
    "Azure, OPTIMIZE": {
        "storage.provider": "azure",
        "delta.log_retention_ms": "5s",
        "source.stream.operation_types": {"blind_append": 0.5, "append_after_read": 0.5},
        "source.statement.operation_types": {"merge": 0.5, "optimize": 0.5},
    },
    "delta-rs": {"delta.client": "delta_rs"},
    "DynamoDB": {"catalog.type": "dynamodb"},
}
# What only Iceberg has. Snapshots are Delta's too; their ids, lists and expiry are not.
WORDS = "iceberg|manifest|rest catalog|sequence number|validation ?exception|snapshot[_ ](id|list|log|expir)"
NAMES = "|".join([r"metadata(\.json| file|_file| write| read)", *iceberg.KINDS, *iceberg.OVERWRITE_FORMS])
FOREIGN = re.compile(f"{WORDS}|{NAMES}", re.IGNORECASE)
ALWAYS = {"run": ("run", "FILE", "--seeds", "2", "--bill"), "explain": ("explain", "FILE", "--blame")}
ONCE = {
    "advise": ("advise", "FILE", "--seeds", "2"),
    "limit": ("limit", "FILE", "--vary", "source.stream.arrivals.clients", "--seeds", "2", "--to", "4"),
    "compare": ("compare", "FILE", "--set", "delta.checkpoint_interval=50", "--seeds", "2"),
    "config show": ("config", "show", "FILE"),
    "config check": ("config", "check", "FILE"),
}
CASES = {f"{name}: {where}": (told, OTHERS[where]) for name, told in ALWAYS.items() for where in OTHERS}
CASES |= {name: (told, next(iter(OTHERS.values()))) for name, told in ONCE.items()}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "delta.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


def ask(*arguments):
    answered = CliRunner().invoke(app, list(map(str, arguments)))
    assert "Traceback" not in answered.output
    return answered


def foreign_words(text):
    return [match[0] for match in FOREIGN.finditer(text)]


@pytest.mark.parametrize(("command", "changes"), CASES.values(), ids=CASES)
def test_a_command_answers_in_the_words_of_the_format(command, changes, file):
    file.write_text(parse_config(apply_overrides(tomllib.loads(FILE), changes)).to_toml(), encoding="utf-8")

    answered = ask(*(file if each == "FILE" else each for each in command))

    assert [] == foreign_words(answered.output)
    assert 0 == answered.exit_code or command[0] == "limit", answered.output


def test_the_report_of_a_run_has_the_words_of_the_format(file, tmp_path):
    ask("run", file, "--seed", "1", "--out", tmp_path / "run")
    told = ask("report", tmp_path / "run").output
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    text = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)

    assert [] == foreign_words(told + text)
    assert "blind_append" in text


@pytest.mark.parametrize("recipe", [name for name in recipes() if name.startswith("delta")])
def test_a_recipe_of_delta_has_the_words_of_the_format(recipe):
    assert [] == foreign_words(ask("recipes", recipe).output)


def test_words_of_the_other_format_are_seen():
    told = ask("explain", "experiments/quickstart.toml").output

    assert {"manifest", "fast_append"} <= set(foreign_words(told))


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
    ("keys", "sentence", "is_said"),
    [
        ({"storage.provider": "s3", "catalog.type": "put_if_absent"}, "has no LogStore", True),
        ({"storage.provider": "azurex", "catalog.type": "put_if_absent"}, "has no LogStore", False),
        ({"storage.provider": "s3", "catalog.type": "dynamodb"}, "has no LogStore", False),
        ({"delta.client": "spark"}, "and works 350 ms each time", True),
        ({"delta.client": "spark", "delta.log_replay_ms": 100}, "ms each time", False),
        ({"delta.client": "delta_rs"}, "ms each time", False),
    ],
)
def test_what_delta_spark_lacks_is_told_of_it_alone(keys, sentence, is_said, file):
    sets = [part for key, value in keys.items() for part in ("--set", f"{key}={value}")]
    answered = ask("run", file, "--seeds", 2, *sets)

    assert 0 == answered.exit_code, answered.output
    assert is_said == (sentence in answered.output)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"catalog.type": "single_driver"}, {"one_driver"}),
        ({"catalog.type": "dynamodb", "source.statement.isolation": "write_serializable"}, {"refused_isolation"}),
        ({"catalog.type": "dynamodb"}, set()),
        ({"catalog.type": "put_if_absent", "storage.provider": "s3"}, {"missing_log_store"}),
        ({"catalog.type": "put_if_absent", "storage.provider": "s3", "delta.client": "delta_rs"}, set()),
    ],
)
def test_what_open_source_delta_spark_does_not_do_is_told(keys, told):
    codes = {name for name, _ in caveats_of_config(parse_config(apply_overrides(tomllib.loads(FILE), keys)))}

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
