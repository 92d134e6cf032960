"""``--set key=value``: how values are read and where they go."""

import pytest

from endive.config import apply_overrides, load_simulation_config, parse_config, parse_overrides
from endive.config.reading.former_names import ConfigNote
from endive.errors import ConfigError

SOURCES = {"source": [{"name": "writers", "retry": 1}, {"name": "my compaction"}]}


KNOWN = "Known are: writers, my compaction."


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("catalog.scope=table", "table"),
        ("catalog.scope='table'", "table"),
        ('catalog.scope="table"', "table"),
        ("catalog.num_tables=10", 10),
        ("catalog.num_tables = 1_000", 1000),
        ("simulation.duration_ms=1e6", 1e6),
        ("catalog.partitions.enabled=true", True),
        ("storage.provider=./profiles/mine.toml", "./profiles/mine.toml"),
        ("experiment.label=two words", "two words"),
        ("experiment.label=a=b", "a=b"),
        ("transaction.runtime={distribution = 'fixed', ms = 1}", {"distribution": "fixed", "ms": 1}),
        ("x.quantiles=[[0.5, 1.0]]", [[0.5, 1.0]]),
    ],
)
def test_a_value_is_toml_and_a_bare_word_is_a_text(text, value):
    key = text.partition("=")[0].strip()

    assert {key: value} == parse_overrides([text])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("catalog.scope", "--set 'catalog.scope' is not key=value, as in catalog.num_tables=10."),
        ("=5", "--set '=5' is not key=value, as in catalog.num_tables=10."),
        ("catalog.scope=", "--set 'catalog.scope=' is not key=value, as in catalog.num_tables=10."),
        ("catalog..scope=1", "'catalog..scope' is not a key. Write names joined by dots, as in catalog.num_tables."),
        ("x=[1", "--set 'x=[1' has a value that is not valid TOML: Unclosed array (at end of document)."),
        ("x=1\ny=2", "--set 'x=1\ny=2' holds more than one value."),
    ],
)
def test_what_is_no_override_is_told(text, problem):
    with pytest.raises(ConfigError) as caught:
        parse_overrides([text])

    assert (problem,) == caught.value.problems


def test_every_override_that_is_wrong_is_told_at_once():
    with pytest.raises(ConfigError) as caught:
        parse_overrides(["a", "b.c=1", "d"])

    assert (
        "--set 'a' is not key=value, as in catalog.num_tables=10.",
        "--set 'd' is not key=value, as in catalog.num_tables=10.",
    ) == caught.value.problems


def test_the_last_of_two_overrides_of_one_key_wins():
    assert {"a.b": 2} == parse_overrides(["a.b=1", "a.b=2"])


def test_an_override_replaces_or_adds_and_leaves_the_original_alone():
    original = {"catalog": {"scope": "table"}}

    changed = apply_overrides(original, {"catalog.scope": "catalog", "table.manifest_bytes": 5})

    assert {"catalog": {"scope": "catalog"}, "table": {"manifest_bytes": 5}} == changed
    assert {"catalog": {"scope": "table"}} == original


def test_a_value_that_is_a_table_is_copied():
    runtime = {"distribution": "fixed", "ms": 1}

    first = apply_overrides({}, {"transaction.runtime": runtime})
    first["transaction"]["runtime"]["ms"] = 2

    assert {"distribution": "fixed", "ms": 1} == runtime


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("source.writers.retry", 0),
        ("source.0.retry", 0),
        ('source."writers".retry', 0),
        ('source."my compaction".retry', 1),
    ],
)
def test_a_source_is_reached_by_name_or_number_and_in_quotes(key, place):
    assert 5 == apply_overrides(SOURCES, {key: 5})["source"][place]["retry"]


@pytest.mark.parametrize(
    ("mapping", "key", "why"),
    [
        (SOURCES, "source.writer.retry", f"no source is named 'writer'. {KNOWN} Did you mean 'writers'?"),
        (SOURCES, "source.2.retry", f"no source is named '2'. {KNOWN}"),
        (SOURCES, "source.writers", "name the key of the source too, as in source.writers.retry."),
        ({}, "source.default.retry", "there is no [[source]]. Set transaction.retry instead."),
        ({"catalog": {"scope": "table"}}, "catalog.scope.x", "catalog.scope is 'table', not a table."),
        ({"catalog": 5}, "catalog.scope", "catalog is 5, not a table."),
    ],
)
def test_an_override_that_finds_no_table_is_told(mapping, key, why):
    with pytest.raises(ConfigError) as caught:
        apply_overrides(mapping, {key: 5})

    assert (f"'{key}' cannot be set: {why}",) == caught.value.problems


def test_overrides_are_checked_like_the_file(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text("[catalog]\nnum_tables = 4\n")

    assert 9 == load_simulation_config(file, ["catalog.num_tables=9"]).catalog.num_tables
    with pytest.raises(ConfigError) as caught:
        load_simulation_config(file, ["catalog.num_table=9", "simulation.seed=x"])

    assert (
        "simulation.seed = 'x' must be a whole number from 0 to 9223372036854775807.",
        "catalog.num_table is not known. Did you mean 'num_tables'?",
    ) == caught.value.problems


def test_a_default_that_every_source_replaces_is_noted():
    source = {"name": "w", "arrivals": {"kind": "poisson", "per_s": 1.0}}
    file = {"transaction": {"retry": 4}, "source": [source]}

    with pytest.warns(ConfigNote, match=r"every \[\[source\]\] gives its own retry: transaction\.retry$"):
        config = parse_config(apply_overrides(file, {"source.w.retry": 6}))

    assert [6] == [each.retry for each in config.sources]
