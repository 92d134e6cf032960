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
FOREIGN = re.compile(
    "|".join(
        [
            "iceberg",
            "manifest",
            r"snapshot[_ ](id|list|log|expir)",
            r"metadata(\.json| file|_file| write| read)",
            "validation ?exception",
            "rest catalog",
            "sequence number",
            *iceberg.KINDS,
            *iceberg.OVERWRITE_FORMS,
        ]
    ),
    re.IGNORECASE,
)
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


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("catalog.type", "single_driver", "one_driver"),
        ("source.statement.isolation", "write_serializable", "refused_isolation"),
        ("catalog.type", "dynamodb", None),
    ],
)
def test_what_open_source_delta_spark_does_not_do_is_told(key, value, code):
    config = parse_config(apply_overrides(tomllib.loads(FILE), {key: value}))
    own = {"one_driver", "refused_isolation"} & {name for name, _ in caveats_of_config(config)}

    assert ({code} if code else set()) == own


@pytest.mark.parametrize(("client", "is_said"), [("spark", True), ("delta_rs", False)])
def test_only_delta_spark_lacks_what_creates_a_commit_on_s3_if_it_is_absent(client, is_said):
    keys = {"delta.client": client, "catalog.type": "put_if_absent", "storage.provider": "s3"}
    told = {name for name, _ in caveats_of_config(parse_config(apply_overrides(tomllib.loads(FILE), keys)))}

    assert is_said == ("missing_log_store" in told)


@pytest.mark.parametrize(("client", "is_said"), [("spark", True), ("delta_rs", False)])
def test_checksums_that_are_not_there_in_time_are_told_of_delta_spark_alone(client, is_said, file):
    answered = CliRunner().invoke(app, ["run", str(file), "--seeds", "2", "--set", f"delta.client={client}"])

    assert 0 == answered.exit_code, answered.output
    assert is_said == ("writes the checksum of a commit after it" in answered.output)


def test_a_load_of_delta_keeps_its_conflicts_within_a_table_as_iceberg():
    """Behind a swapped object Iceberg's default is by partition, which no catalog does."""
    parted = {"catalog.partitions": {"enabled": True, "num_partitions": 4}}
    switched = apply_overrides(tomllib.loads(FILE), {**parted, "table.format": "iceberg"})

    assert "table" == parse_config(switched).catalog.scope
