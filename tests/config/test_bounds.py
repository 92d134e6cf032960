"""Values that cannot be: every number has bounds, and what sizes add up to has one too."""

from __future__ import annotations

import pytest

from endive.config.values import BYTES_MAX, COUNT_MAX, ITEM_BYTES_MAX
from endive.errors import ConfigError

BEYOND = [
    ("transaction", "rewritten_manifests", 2**53, f"a whole number from 0 to {COUNT_MAX}"),
    ("table", "initial_manifests", 2**53, f"a whole number from 0 to {COUNT_MAX}"),
    ("table", "initial_snapshots", 2**53, f"a whole number from 0 to {COUNT_MAX}"),
    ("table", "data_files", 10**8 + 1, "a whole number from 0 to 100000000"),
    ("table", "manifest_bytes", 2**53, f"a whole number from 0 to {ITEM_BYTES_MAX}"),
    ("table", "metadata_base_bytes", 2**53, f"a whole number from 0 to {BYTES_MAX}"),
    ("catalog", "physical_attempts_max", 2**53, f"a whole number from 0 to {COUNT_MAX}"),
    ("commit", "manifests_per_concurrent_commit", 1e15, "a number from 0 to 1000"),
    ("simulation", "seed", 2**63, f"a whole number from 0 to {2**63 - 1}"),
]


@pytest.mark.parametrize(("section", "key", "value", "allowed"), BEYOND, ids=[case[1] for case in BEYOND])
def test_a_number_that_no_engine_can_count_to_is_refused(parse, section, key, value, allowed):
    with pytest.raises(ConfigError) as caught:
        parse(f"[{section}]\n{key} = {value}")

    assert f"{section}.{key} = {value!r} must be {allowed}." == caught.value.problems[0]


def test_a_spread_that_makes_the_cut_infinite_is_refused(parse):
    with pytest.raises(ConfigError) as caught:
        parse('[storage.T_CAS]\ndistribution = "truncated_normal"\nmean_ms = 50.0\nstddev_ms = 1e-308')

    assert ("storage.T_CAS.stddev_ms = 1e-308 must be 0 or at least 1e-06.",) == caught.value.problems


def test_a_rate_so_low_that_its_gap_has_no_number_is_refused(parse):
    with pytest.raises(ConfigError) as caught:
        parse('[[source]]\nname = "a"\narrivals = {kind = "poisson", per_s = 1e-12}')

    assert ("source.a.arrivals.per_s = 1e-12 must be a number from 1e-07 to 1000000.",) == caught.value.problems


def test_tables_that_together_outgrow_the_catalog_object_are_refused(parse):
    with pytest.raises(ConfigError) as caught:
        parse(
            """
            [catalog]
            num_tables = 100_000
            table_metadata_inlined = true
            [table]
            metadata_base_bytes = 1_099_511_627_776
            """
        )

    assert (
        "the catalog object would hold 109951162797601000 bytes for catalog.num_tables = 100000; at most "
        "1125899906842624 can be counted. Lower catalog.num_tables or the sizes of what is kept per table."
    ) == caught.value.problems[0]


def test_attempts_that_together_move_more_bytes_than_can_be_counted_are_refused(parse):
    with pytest.raises(ConfigError) as caught:
        parse(
            """
            [table]
            manifest_bytes = 1_073_741_824
            initial_manifests = 1_000_000
            [transaction]
            retry = 1_000_000
            """
        )

    assert (
        "a txn of source 'default' may move 1073744012496848 bytes in each of 1000001 attempts, which is more than "
        "1152921504606846976 in all. Lower the sizes in [table], the manifests or the retries.",
    ) == caught.value.problems


def test_the_largest_sizes_that_are_allowed_give_the_same_rows_in_both_engines(parse):
    import endive

    config = parse(
        """
        [simulation]
        duration_ms = 20_000
        [storage]
        provider = "instant"
        [table]
        manifest_bytes = 1_073_741_824
        initial_manifests = 1_000
        metadata_base_bytes = 1_099_511_627_776
        [transaction]
        operation_types = {rewrite_files = 1.0}
        runtime = {distribution = "fixed", ms = 10.0}
        inter_arrival = {distribution = "exponential", scale = 100.0}
        rewritten_manifests = 1_000
        """
    )
    reference, compiled = (endive.simulate(config, engine=engine) for engine in ("reference", "compiled"))

    assert reference.transactions.equals(compiled.transactions)
    assert 0 <= min(reference.transactions["bytes_read"].to_pylist())


def test_a_label_cannot_speak_to_the_terminal(parse):
    with pytest.raises(ConfigError) as caught:
        parse('[experiment]\nlabel = "a\\u001b[2J"')

    assert ("experiment.label = 'a\\x1b[2J' must not contain control characters.",) == caught.value.problems
