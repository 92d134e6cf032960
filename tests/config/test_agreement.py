"""What the configuration knows of other packages, which it cannot import, is what they say themselves."""

import tomllib
from pathlib import Path

import pytest
from tests.distributions.test_from_table import GOOD

import endive
from endive.config.capabilities import BUILT_IN, HAVE_NO_VINTAGES, IN_ORIGINAL_VINTAGE
from endive.config.sections.catalog import CatalogConfig
from endive.config.sections.commit import PRESETS
from endive.config.sections.source import KINDS
from endive.config.sections.storage import OBJECTS
from endive.distributions import from_table
from endive.formats.iceberg import protocol
from endive.results.schema import KINDS as RESULT_KINDS
from endive.vocabulary import OBJECTS as STORAGE_OBJECTS

PROFILES = Path(endive.__file__).parent / "storage" / "profiles"

TABLES = [
    *(table for table, _ in GOOD),
    {"distribution": "lognormal", "mu": -60, "sigma": 0},
    {"distribution": "lognormal", "mu": 60, "sigma": 8},
    {"distribution": "size_based", "base_latency_ms": 30, "latency_per_mib_ms": 0, "sigma": 0},
    {"distribution": "truncated_normal", "mean_ms": 0, "stddev_ms": 0},
    {"distribution": "truncated_normal", "mean_ms": 50, "stddev_ms": 5, "min_ms": 200},
    {"distribution": "uniform", "low_ms": 5, "high_ms": 5},
    {"distribution": "gamma", "mean_ms": 5, "shape": 0.1},
    {"distribution": "gamma", "mean_ms": 5, "shape": 10_000},
]


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_every_distribution_a_configuration_takes_can_be_built(table):
    spec = CatalogConfig.model_validate({"latency": table}).latency

    built = from_table(spec.to_table(), "catalog.latency")

    assert from_table(table, "catalog.latency") == built


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_capabilities_of_a_provider_are_those_of_its_profile(name):
    profile = tomllib.loads((PROFILES / f"{name}.toml").read_text(encoding="utf-8"))

    assert BUILT_IN[name] == frozenset(profile["capabilities"])


def test_every_profile_is_a_known_provider():
    assert set(BUILT_IN) == {path.stem for path in PROFILES.glob("*.toml")}


def test_the_original_vintage_is_the_one_in_the_folder():
    assert set(IN_ORIGINAL_VINTAGE) == {path.stem for path in (PROFILES / "original").glob("*.toml")}
    assert set() == set(IN_ORIGINAL_VINTAGE) & set(HAVE_NO_VINTAGES)


def test_objects_and_kinds_have_the_names_of_storage_and_results():
    assert tuple(STORAGE_OBJECTS) == OBJECTS
    assert tuple(RESULT_KINDS) == KINDS


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ("base", protocol.BASES),
        ("io", protocol.IO_PLACEMENTS),
        ("own_manifest", protocol.OWN_MANIFESTS),
        ("metadata", protocol.METADATA_CHOICES),
        ("history", protocol.HISTORIES),
        ("merging", protocol.MERGINGS),
        ("real_conflict", protocol.REAL_CONFLICTS),
        ("after_success", protocol.AFTER_SUCCESSES),
    ],
)
def test_every_choice_of_a_protocol_has_a_rule(choice, names):
    assert {preset[choice] for preset in PRESETS.values()} <= set(names)
