"""Keys that contradict each other, and combinations nothing can carry, are refused before anything runs.

Every case holds a whole file and every line of its answer.
"""

import pytest

from endive.errors import ConfigError

BAD_FILES = [
    pytest.param(
        """
        [catalog]
        type = "append"
        [failures]
        lost_answer_rate = 0.1
        """,
        [
            "failures.lost_answer_rate = 0.1 cannot be combined with catalog.type = 'append': its commits read the log "
            "back, and what a lost answer means there is not modelled. Choose catalog.type 'cas', 'instant' or "
            "'service', or set the rate to 0.",
        ],
        id="lost answers of an append catalog are refused",
    ),
    pytest.param(
        """
        [catalog]
        type = "append"
        [failures]
        throttle_rate = 0.1
        """,
        [
            "failures.throttle_rate = 0.1 cannot be combined with catalog.type = 'append': what its clients do about a "
            "throttled request to the log is not modelled. Choose catalog.type 'cas', 'instant' or 'service', or set "
            "the rate to 0.",
        ],
        id="throttled requests of an append catalog are refused",
    ),
    pytest.param(
        """
        [storage]
        provider = "constant"
        latency_ms = 0
        [failures]
        throttle_rate = 1
        """,
        [
            "failures.throttle_rate = 1.0 and storage.latency_ms = 0.0: every txn would fail without taking any time, "
            "one after another for ever. Lower the rate, or give the store a latency.",
        ],
        id="txns that all fail at once are refused",
    ),
    pytest.param(
        """
        [failures]
        throttle_rate = 0.1
        throttle_wait_ms = 5000
        throttle_wait_max_ms = 1000
        """,
        [
            "failures.throttle_wait_max_ms = 1000.0 is less than failures.throttle_wait_ms = 5000.0. Raise the first "
            "or lower the second.",
        ],
        id="a longest wait of the SDK below the first is refused",
    ),
    pytest.param(
        """
        [failures]
        lost_answer_rate = 0.1
        status_check_wait_ms = 5000
        status_check_wait_max_ms = 1000
        """,
        [
            "failures.status_check_wait_max_ms = 1000.0 is less than failures.status_check_wait_ms = 5000.0. Raise the "
            "first or lower the second.",
        ],
        id="a longest wait below the first is refused",
    ),
    pytest.param(
        """
        [simulation]
        duration_ms = 1000
        warmup_ms = 800
        """,
        [
            "simulation.warmup_ms = 800.0 and simulation.cooldown_ms = 250.0 leave nothing of "
            "simulation.duration_ms = 1000.0 to measure. Shorten them.",
        ],
        id="a window that leaves nothing to measure is refused",
    ),
    pytest.param(
        """
        [storage]
        provider = "constant"
        """,
        [
            "storage.latency_ms is missing. storage.provider = 'constant' needs it: give a number of milliseconds.",
        ],
        id="a constant provider needs its latency",
    ),
    pytest.param(
        """
        [storage]
        provider = "s3"
        [catalog]
        type = "append"
        """,
        [
            "catalog.type = 'append' needs a storage provider with conditional append; 's3' has "
            "none. Choose one of: s3x, azure, azurex, instant, constant.",
        ],
        id="an append catalog on s3 names the providers that can",
    ),
    pytest.param(
        """
        [storage]
        provider = "gcp"
        [catalog]
        type = "append"
        """,
        [
            "catalog.type = 'append' needs a storage provider with conditional append; 'gcp' has "
            "none. Choose one of: s3x, azure, azurex, instant, constant.",
        ],
        id="an append catalog on gcp names the providers that can",
    ),
    pytest.param(
        """
        [storage]
        provider = "s3"
        [transaction]
        manifest_list_mode = "append"
        """,
        [
            "transaction.manifest_list_mode = 'append' needs a storage provider with conditional "
            "append; 's3' has none. Choose one of: s3x, azure, azurex, instant, constant.",
        ],
        id="appended manifest lists on s3 name the providers that can",
    ),
    pytest.param(
        """
        [storage]
        provider = "fifo"
        """,
        [
            "storage.provider = 'fifo' cannot be simulated: it cannot write, and every commit "
            "writes a manifest list. It is there for programs that call tail_append on the provider "
            "itself. Choose one of: s3, s3x, azure, azurex, gcp, instant, constant.",
        ],
        id="the fifo queue is refused with what it is for",
    ),
    pytest.param(
        """
        [catalog]
        type = "append"
        scope = "catalog"
        """,
        [
            "catalog.scope = 'catalog' cannot be had with catalog.type = 'append', whose scope is "
            "'table'. Remove catalog.scope, or choose catalog.type from: cas, instant.",
        ],
        id="an append catalog has no catalog scope",
    ),
    pytest.param(
        """
        [catalog]
        type = "service"
        scope = "partition"
        partitions = { enabled = true, num_partitions = 4 }
        """,
        [
            "catalog.scope = 'partition' cannot be had with catalog.type = 'service', whose scope "
            "is 'table'. Remove catalog.scope, or choose catalog.type from: cas, instant.",
        ],
        id="a service has no partition scope",
    ),
    pytest.param(
        """
        [catalog]
        scope = "partition"
        """,
        [
            "catalog.scope = 'partition' needs partitions. Set catalog.partitions.enabled = true "
            "and catalog.partitions.num_partitions.",
        ],
        id="partition scope needs partitions",
    ),
    pytest.param(
        """
        [catalog]
        scope = "group"
        num_tables = 4
        """,
        [
            "catalog.num_groups is missing. catalog.scope = 'group' needs it: give a whole number "
            "from 1 to catalog.num_tables = 4.",
        ],
        id="group scope needs the number of groups",
    ),
    pytest.param(
        """
        [catalog]
        scope = "group"
        num_tables = 4
        num_groups = 5
        """,
        [
            "catalog.num_groups = 5 must not exceed catalog.num_tables = 4.",
        ],
        id="more groups than tables are refused",
    ),
    pytest.param(
        """
        [catalog]
        refusal_returns_snapshot = true
        """,
        [
            "catalog.refusal_returns_snapshot = true cannot be had with catalog.type = 'cas': a "
            "refused swap of an object carries no state. Choose catalog.type from: append, instant, "
            "service.",
        ],
        id="a refused swap cannot return a snapshot",
    ),
    pytest.param(
        """
        [catalog]
        type = "service"
        table_metadata_inlined = true
        """,
        [
            "catalog.table_metadata_inlined = true cannot be had with catalog.service.flavour = "
            "'pointer': the client writes the metadata to storage. Choose catalog.service.flavour = "
            "'rest', or set it to false.",
        ],
        id="a pointer service cannot inline metadata",
    ),
    pytest.param(
        """
        [catalog]
        type = "cas"
        mode = "append"
        """,
        [
            "catalog.mode = 'append' and catalog.type = 'cas' disagree. The first is an alias of "
            "the second: keep one of them.",
        ],
        id="an alias that disagrees is refused",
    ),
    pytest.param(
        """
        [catalog]
        type = "instant"
        latency_ms = 1.0
        latency = { distribution = "fixed", ms = 2.0 }
        """,
        [
            "catalog.latency_ms = 1.0 and catalog.latency are both given. Keep one of them.",
        ],
        id="two latencies of one catalog are refused",
    ),
    pytest.param(
        """
        [conflict]
        detector = "partition_overlap"
        """,
        [
            "conflict.detector = 'partition_overlap' needs partitions. Set "
            "catalog.partitions.enabled = true and catalog.partitions.num_partitions.",
        ],
        id="partition overlap needs partitions",
    ),
    pytest.param(
        """
        [transaction.retry_backoff]
        enabled = true
        policy = "none"
        """,
        [
            "transaction.retry_backoff.enabled = true contradicts policy = 'none'. Keep one of them.",
        ],
        id="backoff that is on and none at once is refused",
    ),
    pytest.param(
        """
        [transaction.retry_backoff]
        base_ms = 100.0
        max_ms = 10.0
        """,
        [
            "transaction.retry_backoff.base_ms = 100.0 must not exceed max_ms = 10.0.",
        ],
        id="a first pause above the longest is refused",
    ),
    pytest.param(
        """
        [catalog]
        num_tables = 2
        [transaction.tables]
        count = 3
        """,
        [
            "transaction.tables.count = 3 must not exceed catalog.num_tables = 2.",
        ],
        id="more tables per txn than there are is refused",
    ),
    pytest.param(
        """
        [catalog.partitions]
        enabled = true
        num_partitions = 4
        [transaction.partitions]
        count = 5
        """,
        [
            "transaction.partitions.count = 5 must not exceed catalog.partitions.num_partitions = 4.",
        ],
        id="more partitions than there are is refused",
    ),
    pytest.param(
        """
        [transaction]
        runtime = { distribution = "lognormal", mu = 1, mean_ms = 5.0, sigma = 1 }
        """,
        [
            "transaction.runtime needs exactly one of mu, median_ms, mean_ms; given: mu, mean_ms.",
        ],
        id="a lognormal by two parameters is refused",
    ),
    pytest.param(
        """
        [simulation]
        seed = -1
        [storage]
        provider = "s3"
        [catalog]
        type = "append"
        num_groups = 2
        [transaction]
        retry = "ten"
        isolation = "snapshot"
        """,
        [
            "simulation.seed = -1 must be a whole number from 0 to 9223372036854775807.",
            "transaction.retry = 'ten' must be a whole number from 0 to 1000000.",
            "catalog.type = 'append' needs a storage provider with conditional append; 's3' has "
            "none. Choose one of: s3x, azure, azurex, instant, constant.",
            "catalog.num_groups = 2 is read by nothing: only catalog.scope = 'group' has groups. Remove it.",
            "transaction.isolation = 'snapshot' is read by nothing: operation_types has no "
            "validated_overwrite. Remove it.",
        ],
        id="every problem is told at once",
    ),
    pytest.param(
        """
        [catalog]
        num_tables = 9
        [transaction]
        ntable.zipf = 1.5
        tables.count_zipf = 2.0
        """,
        [
            "transaction.ntable.zipf = 1.5 and transaction.tables.count_zipf = 2.0 disagree. The "
            "first is an alias of the second: keep one of them.",
        ],
        id="an older name that disagrees with the present one is refused",
    ),
    pytest.param(
        """
        [catalog]
        num_tables = 100_000
        partitions = { enabled = true, num_partitions = 101 }
        """,
        [
            "catalog.num_tables = 100000 times catalog.partitions.num_partitions = 101 must not exceed 10000000.",
        ],
        id="too many partition counters are refused",
    ),
    pytest.param(
        """
        [storage]
        T_PUT = { distribution = "lognormal", mu = 1, sigma = 1, latency_per_mib_ms = 5 }
        """,
        [
            "storage.T_PUT.latency_per_mib_ms = 5 needs median_ms, which it makes grow.",
        ],
        id="a latency per MiB without a median is refused",
    ),
    pytest.param(
        """
        [catalog]
        type = "append"
        refusal_returns_snapshot = false
        """,
        [
            "catalog.refusal_returns_snapshot = false cannot be had with catalog.type = 'append': "
            "the committer reads the catalog back to learn that it was refused. Choose catalog.type "
            "from: cas, instant, service.",
        ],
        id="a refused append always returns a snapshot",
    ),
]


@pytest.mark.parametrize(("text", "problems"), BAD_FILES)
def test_a_combination_nothing_can_carry_is_refused(parse, text, problems):
    with pytest.raises(ConfigError) as caught:
        parse(text)

    assert tuple(problems) == caught.value.problems
