"""Defaults: those a protocol brings, those a section brings, and what a source inherits."""

import pytest

from endive.config.sections.commit import CHOICES, PRESETS
from endive.config.sections.distribution import Fixed

TWO_SOURCES = """
[transaction]
retry = 7
operation_types = { fast_append = 0.5, rewrite_files = 0.5 }
retry_backoff = { policy = "full_jitter", base_ms = 20.0 }
[[source]]
name = "stream"
arrivals = { kind = "poisson", per_s = 20.0 }
operation_types = { fast_append = 1.0 }
[[source]]
name = "compaction"
arrivals = { kind = "periodic", period_ms = 300_000.0 }
retry = 2
retry_backoff = { base_ms = 5.0 }
runtime = { mean = 1000.0, min = 0 }
"""


@pytest.mark.parametrize("protocol", PRESETS)
def test_a_protocol_fills_in_every_choice(parse, protocol):
    config = parse(f'[commit]\nprotocol = "{protocol}"')

    assert PRESETS[protocol] == {choice: getattr(config.commit, choice) for choice in CHOICES}


@pytest.mark.parametrize(
    ("protocol", "retry", "timeout_ms", "policy"),
    [
        ("iceberg", 4, 1_800_000.0, "iceberg"),
        ("pyiceberg", 4, 1_800_000.0, "iceberg"),
        ("spec", 10, 0.0, "none"),
        ("merge", 10, 0.0, "none"),
    ],
)
def test_a_protocol_brings_its_way_of_retrying(parse, protocol, retry, timeout_ms, policy):
    source = parse(f'[commit]\nprotocol = "{protocol}"').sources[0]

    assert (retry, timeout_ms, policy) == (source.retry, source.total_timeout_ms, source.retry_backoff.policy)


def test_a_choice_replaces_that_of_the_protocol_and_no_other(parse):
    commit = parse('[commit]\nprotocol = "spec"\nhistory_io = "serial"').commit

    changed = {key: getattr(commit, key) for key in CHOICES if getattr(commit, key) != PRESETS["spec"][key]}
    assert {"history_io": "serial"} == changed


@pytest.mark.parametrize(
    ("protocol", "table", "figures"),
    [
        ("iceberg", "", ("iceberg", 100.0, 2.0, 60_000.0, 0.1)),
        ("iceberg", "enabled = true", ("iceberg", 100.0, 2.0, 60_000.0, 0.1)),
        ("iceberg", "enabled = false", ("none", 0.0, 1.0, 0.0, 0.0)),
        ("iceberg", "base_ms = 20.0", ("exponential", 20.0, 2.0, 5000.0, 0.1)),
        ("iceberg", 'policy = "iceberg"\nbase_ms = 20.0', ("iceberg", 20.0, 2.0, 60_000.0, 0.1)),
        ("spec", "enabled = true", ("exponential", 10.0, 2.0, 5000.0, 0.1)),
        ("spec", "enabled = true\njitter = 0.5", ("exponential", 10.0, 2.0, 5000.0, 0.5)),
        ("spec", 'policy = "conservative"', ("conservative", 100.0, 1.5, 5000.0, 0.1)),
        ("spec", 'policy = "moderate"', ("moderate", 50.0, 2.0, 2000.0, 0.1)),
        ("spec", 'policy = "aggressive"', ("aggressive", 10.0, 2.0, 1000.0, 0.1)),
        ("spec", 'policy = "fixed"\nbase_ms = 30.0', ("fixed", 30.0, 1.0, 30.0, 0.0)),
        ("spec", 'policy = "decorrelated_jitter"', ("decorrelated_jitter", 100.0, 3.0, 60_000.0, 1.0)),
    ],
)
def test_a_backoff_table_means_one_policy_with_all_its_figures(parse, protocol, table, figures):
    text = f'[commit]\nprotocol = "{protocol}"\n[transaction.retry_backoff]\n{table}'
    backoff = parse(text).sources[0].retry_backoff

    assert figures == (backoff.policy, backoff.base_ms, backoff.multiplier, backoff.max_ms, backoff.jitter)
    assert backoff.enabled == (backoff.policy != "none")


def test_a_source_inherits_what_it_does_not_give(parse):
    stream, _ = parse(TWO_SOURCES).sources

    assert (7, "full_jitter", 20.0) == (stream.retry, stream.retry_backoff.policy, stream.retry_backoff.base_ms)
    assert 50.0 == stream.arrivals.mean_ms


def test_a_source_replaces_a_table_as_a_whole(parse):
    stream, compaction = parse(TWO_SOURCES).sources

    assert 0.0 == stream.operation_types.rewrite_files
    assert (0.5, 0.5) == (compaction.operation_types.fast_append, compaction.operation_types.rewrite_files)
    backoff = compaction.retry_backoff
    assert ("exponential", 5.0, 5000.0) == (backoff.policy, backoff.base_ms, backoff.max_ms)


@pytest.mark.parametrize(("duration_ms", "margin_ms"), [(1_000, 250.0), (86_400_000, 900_000.0)])
def test_margins_are_a_quarter_of_a_short_run_and_a_quarter_of_an_hour_of_a_long_one(parse, duration_ms, margin_ms):
    simulation = parse(f"[simulation]\nduration_ms = {duration_ms}").simulation

    assert (margin_ms, margin_ms) == (simulation.warmup_ms, simulation.cooldown_ms)


@pytest.mark.parametrize(
    ("kind", "scope", "is_inlined", "tells"),
    [
        ("cas", "catalog", True, False),
        ("append", "table", True, True),
        ("instant", "catalog", True, True),
        ("service", "table", False, False),
    ],
)
def test_the_kind_of_catalog_decides_its_other_defaults(parse, kind, scope, is_inlined, tells):
    catalog = parse(f'[catalog]\ntype = "{kind}"').catalog

    assert (scope, is_inlined) == (catalog.scope, catalog.table_metadata_inlined)
    assert tells == catalog.refusal_returns_snapshot


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ('type = "cas"', "partition"),
        ('type = "instant"', "partition"),
        ('type = "instant"\nscope = "table"', "table"),
        ('type = "append"', "table"),
        ('type = "service"', "table"),
    ],
)
def test_partitions_switched_on_alone_decide_conflicts(parse, text, scope):
    assert scope == parse(f"[catalog]\n{text}\n[catalog.partitions]\nenabled = true\nnum_partitions = 4").catalog.scope


@pytest.mark.parametrize(("preset", "entries", "attempts"), [("log", 10_000, 10), ("append_design", 0, 0)])
def test_the_append_preset_decides_when_a_log_is_sealed(parse, preset, entries, attempts):
    catalog = parse(f'[catalog]\ntype = "append"\nappend_preset = "{preset}"').catalog

    assert (entries, attempts) == (catalog.compaction_max_entries, catalog.physical_attempts_max)


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("num_tables = 6", 1),
        ('num_tables = 6\nscope = "table"', 6),
        ('num_tables = 6\nscope = "group"\nnum_groups = 3', 3),
        ('num_tables = 6\nscope = "partition"\npartitions = { enabled = true, num_partitions = 2 }', 6),
    ],
)
def test_the_scope_decides_how_many_groups_there_are(parse, text, groups):
    assert groups == parse(f"[catalog]\n{text}").catalog.num_groups


def test_a_number_and_a_table_say_the_same_catalog_latency(parse):
    number = parse('[catalog]\ntype = "instant"\nlatency_ms = 5')
    table = parse('[catalog]\ntype = "instant"\nlatency = { distribution = "fixed", ms = 5.0 }')

    assert number == table
    assert (5.0, Fixed(ms=5.0)) == (table.catalog.latency_ms, table.catalog.latency)


def test_a_default_catalog_latency_is_one_millisecond(parse):
    assert Fixed(ms=1.0) == parse('[catalog]\ntype = "service"').catalog.latency


@pytest.mark.parametrize(
    ("gaps", "arrivals"),
    [
        ("{ scale = 20 }", {"kind": "poisson", "mean_ms": 20.0}),
        ('{ distribution = "fixed", ms = 20 }', {"kind": "fixed", "ms": 20.0}),
        ('{ distribution = "uniform", low_ms = 1, high_ms = 2 }', {"kind": "uniform", "low_ms": 1.0, "high_ms": 2.0}),
        ('{ distribution = "lognormal", mean_ms = 9, sigma = 1 }', {"kind": "lognormal", "mean_ms": 9.0, "sigma": 1.0}),
    ],
)
def test_inter_arrival_becomes_the_arrivals_of_the_one_source(parse, gaps, arrivals):
    config = parse(f"[transaction]\ninter_arrival = {gaps}")

    assert arrivals == config.to_dict()["source"][0]["arrivals"]


def test_a_relative_profile_starts_at_the_folder_of_the_file(tmp_path):
    from endive.config import load_simulation_config

    (tmp_path / "mine.toml").write_text('capabilities = ["read", "write", "cas"]')
    (tmp_path / "study.toml").write_text('[storage]\nprovider = "mine.toml"')

    config = load_simulation_config(tmp_path / "study.toml")

    assert str(tmp_path / "mine.toml") == config.storage.provider
