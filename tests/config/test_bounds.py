"""Values that cannot be: every number has bounds, and what sizes add up to has one too."""

import pytest

from endive.config.values import BYTES_MAX, COUNT_MAX, ITEM_BYTES_MAX

COUNTS, BYTES = f"a whole number from 0 to {COUNT_MAX}", f"a whole number from 0 to {BYTES_MAX}"
BEYOND = [
    ("transaction.rewritten_manifests", 2**53, COUNTS),
    ("table.initial_manifests", 2**53, COUNTS),
    ("table.initial_snapshots", 2**53, COUNTS),
    ("table.data_files", 10**8 + 1, "a whole number from 0 to 100000000"),
    ("table.manifest_bytes", 2**53, f"a whole number from 0 to {ITEM_BYTES_MAX}"),
    ("table.metadata_base_bytes", 2**53, BYTES),
    ("catalog.physical_attempts_max", 2**53, COUNTS),
    ("commit.manifests_per_concurrent_commit", 1e15, "a number from 0 to 1000"),
    ("simulation.seed", 2**63, f"a whole number from 0 to {2**63 - 1}"),
]


@pytest.mark.parametrize(("key", "value", "allowed"), BEYOND, ids=[case[0] for case in BEYOND])
def test_a_number_that_no_engine_can_count_to_is_refused(problems, key, value, allowed):
    assert f"{key} = {value!r} must be {allowed}." == problems(f"{key} = {value}")[0]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '[storage.T_CAS]\ndistribution = "truncated_normal"\nmean_ms = 50.0\nstddev_ms = 1e-308',
            "storage.T_CAS.stddev_ms = 1e-308 must be 0 or at least 1e-06.",
        ),
        (
            '[[source]]\nname = "a"\narrivals = {kind = "poisson", per_s = 1e-12}',
            "source.a.arrivals.per_s = 1e-12 must be a number from 1e-07 to 1000000.",
        ),
        (
            "[table]\nmanifest_bytes = 1_073_741_824\ninitial_manifests = 1_000_000\n[transaction]\nretry = 1_000_000",
            "a txn of source 'default' may move 1073744012496848 bytes in each of 1000001 attempts, which is more than "
            "1152921504606846976 in all. Lower the sizes in [table], the manifests or the retries.",
        ),
        (
            '[experiment]\nlabel = "a\\u001b[2J"',
            "experiment.label = 'a\\x1b[2J' must not contain control characters.",
        ),
    ],
    ids=["a spread that makes the cut infinite", "a rate whose gap has no number", "too many bytes", "a label"],
)
def test_a_value_that_cannot_be_is_refused(problems, text, problem):
    assert (problem,) == problems(text)


def test_tables_that_together_outgrow_the_catalog_object_are_refused(problems):
    catalog = "catalog = { num_tables = 100_000, table_metadata_inlined = true }"

    assert (
        "the catalog object would hold 109951162797601000 bytes for catalog.num_tables = 100000; at most "
        "1125899906842624 can be counted. Lower catalog.num_tables or the sizes of what is kept per table."
    ) == problems(f"{catalog}\ntable.metadata_base_bytes = 1_099_511_627_776")[0]


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
