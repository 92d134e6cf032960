"""The names of all keys, and what a misspelt one meant."""

import pytest

from endive.config import known_keys, nearest_key


def test_keys_of_every_depth_are_known():
    assert {
        "simulation.seed",
        "catalog.mode",
        "catalog.service.time.median_ms",
        "storage.T_CAS.failure.mu",
        "storage.objects.log.append_failure.ms",
        "transaction.retry_backoff.base_ms",
        "source.*.arrivals.think_ms.mean_ms",
        "source.*.tables.count_zipf",
    } <= set(known_keys())


def test_no_known_key_is_listed_twice():
    assert len(set(known_keys())) == len(known_keys())


def test_no_known_key_holds_a_part_that_no_file_spells_out():
    assert [] == [key for key in known_keys() if "<" in key]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("catalog.num_table", "catalog.num_tables"),
        ("num_tables", "catalog.num_tables"),
        ("simulation.num_groups", "catalog.num_groups"),
        ("transaction.backoff.base_ms", "transaction.retry_backoff.base_ms"),
        ("source.writers.retri", "source.writers.retry"),
        ("entirely.different.thing", None),
    ],
)
def test_a_misspelt_key_has_a_nearest_one(name, meant):
    assert meant == nearest_key(name)
