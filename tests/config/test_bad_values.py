"""A value that a key cannot hold, and a key that does not exist, are told with what is allowed.

Every case holds a whole file and every line of its answer.
"""

import pytest

from endive.errors import ConfigError

BAD_FILES = [
    pytest.param(
        """
        [failures]
        lost_answer_rate = 1.5
        lost_check_rate = -0.1
        throttle_rate = 1.01
        throttle_tries = 0
        """,
        [
            "failures.lost_answer_rate = 1.5 must be a number from 0 to 1.",
            "failures.lost_check_rate = -0.1 must be a number from 0 to 1.",
            "failures.throttle_rate = 1.01 must be a number from 0 to 1.",
            "failures.throttle_tries = 0 must be a whole number from 1 to 100.",
        ],
        id="a rate of failure outside 0 to 1 is refused",
    ),
    pytest.param(
        """
        [catalog]
        scope = "tabel"
        """,
        [
            "catalog.scope = 'tabel' is not known. Choose one of: catalog, group, table, partition. "
            "Did you mean 'table'?",
        ],
        id="a misspelt choice names the nearest one",
    ),
    pytest.param(
        """
        [catalog]
        scope = 3
        """,
        [
            "catalog.scope = 3 is not known. Choose one of: catalog, group, table, partition.",
        ],
        id="a choice that is not a text lists the choices",
    ),
    pytest.param(
        """
        [catalog]
        num_table = 3
        """,
        [
            "catalog.num_table is not known. Did you mean 'num_tables'?",
        ],
        id="a misspelt key names the nearest one",
    ),
    pytest.param(
        """
        [simulation]
        num_tables = 3
        """,
        [
            "simulation.num_tables is not known. Did you mean 'catalog.num_tables'?",
        ],
        id="a key of another section says where it belongs",
    ),
    pytest.param(
        """
        [conflict]
        zzz = 1
        """,
        [
            "conflict.zzz is not known. Known keys are: detector.",
        ],
        id="an unheard-of key lists what the table takes",
    ),
    pytest.param(
        """
        [catalogue]
        num_tables = 1
        """,
        [
            "catalogue is not known. Did you mean 'catalog'?",
        ],
        id="a misspelt section names the nearest one",
    ),
    pytest.param(
        """
        seed = 42
        """,
        [
            "seed is not known. Did you mean 'simulation.seed'?",
        ],
        id="a key outside any section names its section",
    ),
    pytest.param(
        """
        catalog = 5
        """,
        [
            "catalog = 5 must be a table with keys: profile, type, num_tables, partitions, scope, num_groups, "
            "latency_ms, latency, table_metadata_inlined, refusal_returns_snapshot, append_preset, "
            "compaction_threshold, compaction_max_entries, log_entry_size, physical_attempts_max, "
            "service, object_base_bytes, object_bytes_per_table.",
        ],
        id="a section that is a number must be a table",
    ),
    pytest.param(
        """
        [catalog]
        partitions = true
        """,
        [
            "catalog.partitions = true must be a table with keys: enabled, num_partitions.",
        ],
        id="a nested table that is a flag must be a table",
    ),
    pytest.param(
        """
        [simulation]
        duration_ms = -5
        """,
        [
            "simulation.duration_ms = -5 must be a number of milliseconds of at least 0.001.",
        ],
        id="a negative duration is refused",
    ),
    pytest.param(
        """
        [simulation]
        duration_ms = 0
        """,
        [
            "simulation.duration_ms = 0 must be a number of milliseconds of at least 0.001.",
        ],
        id="a duration of zero is refused",
    ),
    pytest.param(
        """
        [simulation]
        duration_ms = 9_007_199_254_741
        """,
        [
            "simulation.duration_ms = 9007199254741 must be at most 9007199254740.992.",
        ],
        id="a duration beyond the exact range of the clock is refused",
    ),
    pytest.param(
        """
        [simulation]
        duration_ms = nan
        """,
        [
            "simulation.duration_ms = nan must be a number of milliseconds of at least 0.001.",
        ],
        id="a duration that is not a number is refused",
    ),
    pytest.param(
        """
        [simulation]
        duration_ms = inf
        """,
        [
            "simulation.duration_ms = inf must be at most 9007199254740.992.",
        ],
        id="an infinite duration is refused",
    ),
    pytest.param(
        """
        [simulation]
        duration_ms = "3600000"
        """,
        [
            "simulation.duration_ms = '3600000' must be a number of milliseconds of at least 0.001, "
            "or a duration as text, such as '250ms', '90s', '5min' or '1h30min'.",
        ],
        id="a number written as a text is refused, and a duration needs a unit",
    ),
    pytest.param(
        """
        [simulation]
        seed = 9223372036854775808
        """,
        [
            "simulation.seed = 9223372036854775808 must be a whole number from 0 to 9223372036854775807.",
        ],
        id="a seed beyond int64 is refused",
    ),
    pytest.param(
        """
        [simulation]
        seed = -1
        """,
        [
            "simulation.seed = -1 must be a whole number from 0 to 9223372036854775807.",
        ],
        id="a negative seed is refused",
    ),
    pytest.param(
        """
        [simulation]
        seed = true
        """,
        [
            "simulation.seed = true must be a whole number from 0 to 9223372036854775807.",
        ],
        id="a boolean is no whole number",
    ),
    pytest.param(
        """
        [catalog]
        num_tables = 1.0
        """,
        [
            "catalog.num_tables = 1.0 must be a whole number from 1 to 100000.",
        ],
        id="a fraction is no whole number",
    ),
    pytest.param(
        """
        [catalog]
        table_metadata_inlined = 1
        """,
        [
            "catalog.table_metadata_inlined = 1 must be true or false.",
        ],
        id="a number is no boolean",
    ),
    pytest.param(
        """
        [experiment]
        label = ""
        """,
        [
            "experiment.label = '' must be a text that is not empty.",
        ],
        id="an empty label is refused",
    ),
    pytest.param(
        """
        [storage]
        provider = "azur"
        """,
        [
            "storage.provider = 'azur' is not known. Choose one of: s3, s3x, azure, azurex, gcp, "
            "instant, fifo, constant, or the path of a profile (.toml). Did you mean 'azure'?",
        ],
        id="an unknown provider names the nearest one",
    ),
    pytest.param(
        """
        [storage]
        provider = "mine/none.toml"
        """,
        [
            "storage.provider = 'mine/none.toml' does not exist. Give the path of a profile (.toml) "
            "or the name of a built-in provider.",
        ],
        id="a profile that does not exist is refused",
    ),
    pytest.param(
        """
        [catalog]
        num_tables = 100_001
        """,
        [
            "catalog.num_tables = 100001 must be a whole number from 1 to 100000.",
        ],
        id="more tables than the simulator holds are refused",
    ),
    pytest.param(
        """
        [transaction.operation_types]
        fast_append = 0.0
        """,
        [
            "transaction.operation_types has no weight above 0. Give at least one.",
        ],
        id="weights that are all zero are refused",
    ),
    pytest.param(
        """
        [transaction.operation_types]
        """,
        [
            "transaction.operation_types has no weight above 0. Give at least one.",
        ],
        id="an empty table of weights is refused",
    ),
    pytest.param(
        """
        [transaction.operation_types]
        fast_append = -1.0
        """,
        [
            "transaction.operation_types.fast_append = -1.0 must be a number of at least 0.",
        ],
        id="a negative weight is refused",
    ),
    pytest.param(
        """
        [transaction.operation_types]
        fast_apend = 1.0
        """,
        [
            "transaction.operation_types.fast_apend is not known. Did you mean 'fast_append'?",
        ],
        id="an unknown kind of operation names the nearest one",
    ),
    pytest.param(
        """
        [transaction]
        real_conflict_probability = 1.5
        operation_types = { validated_overwrite = 1 }
        """,
        [
            "transaction.real_conflict_probability = 1.5 must be a number from 0 to 1.",
        ],
        id="a probability above one is refused",
    ),
    pytest.param(
        """
        [transaction.retry_backoff]
        multiplier = 0.5
        """,
        [
            "transaction.retry_backoff.multiplier = 0.5 must be a number from 1 to 1000.",
        ],
        id="a multiplier below one is refused",
    ),
    pytest.param(
        """
        [catalog]
        num_tables = 1000
        [transaction.tables]
        count = 257
        """,
        [
            "transaction.tables.count = 257 must be a whole number from 1 to 256.",
        ],
        id="more tables per txn than any txn may touch is refused",
    ),
    pytest.param(
        """
        [transaction.tables]
        write_fraction = 0.0
        """,
        [
            "transaction.tables.write_fraction = 0.0 must be a number greater than 0 and at most 1.",
        ],
        id="a write fraction of zero is refused",
    ),
    pytest.param(
        """
        [catalog]
        scope = "grup"
        num_groups = 2
        num_tables = 4
        """,
        [
            "catalog.scope = 'grup' is not known. Choose one of: catalog, group, table, partition. "
            "Did you mean 'group'?",
        ],
        id="what rests on a wrong key is not told",
    ),
    pytest.param(
        """
        [storage]
        provider = "gcp"
        vintage = "original"
        """,
        [
            "storage.vintage = 'original' has no figures for storage.provider = 'gcp'. Choose a "
            "provider from: s3, s3x, azure, azurex, instant; or vintage 'measured'.",
        ],
        id="the original vintage has no figures for gcp",
    ),
    pytest.param(
        """
        [storage.objects.catalog.rename]
        distribution = "fixed"
        ms = 5.0
        """,
        [
            "storage.objects.catalog.rename is not known. Did you mean 'storage.objects.catalog.read'?",
        ],
        id="an operation an object does not know is refused",
    ),
    pytest.param(
        """
        [storage.objects.manifests.read]
        distribution = "fixed"
        ms = 5.0
        """,
        [
            "storage.objects.manifests is not known. Did you mean 'manifest'?",
        ],
        id="an object that does not exist names the nearest one",
    ),
    pytest.param(
        """
        [storage]
        provider = 3
        """,
        [
            "storage.provider = 3 must be a text that is not empty.",
        ],
        id="a profile's path must be a text",
    ),
    pytest.param(
        """
        [commit]
        protocol = "merge"
        [transaction]
        conflicting_manifests = { distribution = "uniform", min = 5, max = 4 }
        """,
        [
            "transaction.conflicting_manifests.max = 4 must be at least min = 5.",
        ],
        id="conflicting manifests upside down are refused",
    ),
    pytest.param(
        """
        [transaction]
        inter_arrival = { scale = 0 }
        """,
        [
            "transaction.inter_arrival.scale = 0 must be a number of milliseconds of at least 0.001.",
        ],
        id="an inter-arrival scale of zero is refused",
    ),
    pytest.param(
        """
        [table]
        manifest_bytes = -1
        """,
        [
            "table.manifest_bytes = -1 must be a whole number from 0 to 1073741824.",
        ],
        id="a file size below zero is refused",
    ),
    pytest.param(
        """
        [table]
        initial_snapshots = 9_007_199_254_740_993
        """,
        [
            "table.initial_snapshots = 9007199254740993 must be a whole number from 0 to 1000000.",
        ],
        id="a count beyond a million is refused",
    ),
    pytest.param(
        """
        [simulation]
        duration_ms = 2026-01-01
        """,
        [
            "simulation.duration_ms = 2026-01-01 must be a number of milliseconds of at least 0.001.",
        ],
        id="a date is no number",
    ),
    pytest.param(
        """
        [experiment]
        label = ["a"]
        """,
        [
            "experiment.label = ['a'] must be a text that is not empty.",
        ],
        id="a list is no text",
    ),
    pytest.param(
        """
        [transaction]
        retry = 1_000_001
        """,
        [
            "transaction.retry = 1000001 must be a whole number from 0 to 1000000.",
        ],
        id="retries beyond a million are refused",
    ),
]


@pytest.mark.parametrize(("text", "problems"), BAD_FILES)
def test_a_value_no_key_can_hold_is_told_with_what_is_allowed(parse, text, problems):
    with pytest.raises(ConfigError) as caught:
        parse(text)

    assert tuple(problems) == caught.value.problems
