"""Every switch of the documents' own files switches: once as a single run, once as an axis over the file."""

import warnings
from pathlib import Path

import pytest
from tests.transaction.stage import SWAPPING, append, play

from endive.config import apply_overrides, parse_config, read_toml
from endive.config.study import load_study
from endive.config.toml_text import value_text

GOOD = Path(__file__).parent / "good"
APPENDIX_A, APPEND_DESIGN = GOOD / "specification.toml", GOOD / "append_design.toml"
STORES = ["s3", "s3x", "azure", "azurex", "gcp", "instant"]

OFFERED = [
    *[(APPENDIX_A, *each) for each in (
        ("simulation.duration_ms", [3_600_000, 600_000]),
        ("simulation.seed", [42]),
        ("simulation.model", ["measured", "documents"]),
        ("storage.provider", STORES),
        ("catalog.type", ["cas", "append", "instant"]),
        ("catalog.num_tables", [1, 2]),
        ("catalog.partitions.enabled", [True, False]),
        ("catalog.partitions.num_partitions", [100, 10]),
        ("transaction.retry", [10, 0]),
        ("transaction.runtime.mean", [180_000, 60_000]),
        ("transaction.runtime.sigma", [1.5, 0.5]),
        ("transaction.inter_arrival.distribution", ["exponential"]),
        ("transaction.inter_arrival.scale", [100.0, 500.0]),
        ("transaction.real_conflict_probability", [0.0, 0.5]),
        ("transaction.operation_types.fast_append", [0.7, 0.0]),
        ("transaction.operation_types.merge_append", [0.2, 0.0]),
        ("transaction.operation_types.validated_overwrite", [0.1, 0.0]),
        ("transaction.retry_backoff.enabled", [True, False]),
        ("transaction.retry_backoff.base_ms", [10.0, 50.0]),
        ("transaction.retry_backoff.multiplier", [2.0, 1.5]),
        ("transaction.retry_backoff.max_ms", [5_000.0, 1_000.0]),
        ("transaction.retry_backoff.jitter", [0.1, 0.0]),
    )],
    *[(APPEND_DESIGN, *each) for each in (
        ("catalog.mode", ["cas", "append"]),
        ("catalog.compaction_threshold_bytes", [16_000_000, 1_000_000]),
        ("catalog.compaction_max_entries", [0, 100]),
        ("catalog.log_entry_bytes", [100, 200]),
        ("catalog.table_metadata_inlined", [True, False]),
        ("transaction.manifest_list_mode", ["rewrite", "append"]),
        ("transaction.manifest_list_seal_threshold_bytes", [0, 10_000]),
        ("transaction.manifest_list_entry_bytes", [50, 100]),
    )],
]  # fmt: skip


@pytest.mark.parametrize(("file", "key", "values"), OFFERED, ids=[f"{file.stem} {key}" for file, key, _ in OFFERED])
def test_every_value_that_a_document_offers_runs_alone_and_as_an_axis(file, key, values, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for value in values:
            parse_config(apply_overrides(read_toml(file), {key: value}))
        if key == "simulation.seed":
            return  # a study varies its seeds by a key of its own
        study = tmp_path / "study.toml"
        study.write_text(f'base = "{file}"\n[axes]\n"{key}" = {value_text(values)}\n')
        points = load_study(study).expand()

    assert values == [point.values[key] for point in points]


def test_the_modes_of_catalog_and_lists_cross_over_the_append_design(tmp_path):
    study = tmp_path / "study.toml"
    axes = '"catalog.mode" = ["cas", "append"]\n"transaction.manifest_list_mode" = ["rewrite", "append"]'
    study.write_text(f'base = "{APPEND_DESIGN}"\n[axes]\n{axes}\n')

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert 4 == len(load_study(study).expand())


def test_the_documents_model_has_their_protocol_latencies_retries_and_floor(parse):
    config = parse("""
        simulation.model = "documents"
        catalog.type = "instant"
        catalog.latency_ms = 0.2
        """)
    source = config.sources[0]

    assert ("spec", "original", 1.0) == (config.commit.protocol, config.storage.vintage, config.storage.min_latency_ms)
    assert (10, 0.0, "none") == (source.retry, source.total_timeout_ms, source.retry_backoff.policy)
    assert 1.0 == config.catalog.latency_ms
    spelt = {**config.to_dict(), "simulation": {**config.to_dict()["simulation"]}}
    del spelt["simulation"]["model"]
    assert config.config_hash() == parse_config(spelt).config_hash()


@pytest.mark.parametrize(
    ("commit", "expected"),
    [
        ({"protocol": "spec"}, {"catalog.read": 0, "metadata.read": 1}),
        ({"protocol": "merge", "history": "none"}, {"catalog.read": 1, "metadata.read": 0}),
        ({"protocol": "spec", "repair": "before_refresh"}, {"catalog.read": 1, "metadata.read": 1}),
    ],
)
def test_a_refused_swap_carries_the_state_under_the_documents_protocols(commit, expected):
    played = play("fast_append", {(1, SWAPPING): append()}, commit=commit, catalog={"type": "cas"})

    assert expected == {name: played.attempt(2).get(name, 0) for name in expected}
