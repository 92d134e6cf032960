"""A key that nothing reads in its combination is refused, with the reason.

Every case holds a whole file and every line of its answer.
"""

import pytest

from endive.errors import ConfigError

BAD_FILES = [
    pytest.param(
        """
        [catalog]
        type = "service"
        service.server_retries = 2
        """,
        [
            "catalog.service.server_retries = 2 is read by nothing: only catalog.service.flavour = 'rest' can rebase "
            "a change and try again. Remove it.",
        ],
        id="retries of a server that only swaps pointers are read by nothing",
    ),
    pytest.param(
        """
        [storage]
        provider = "s3"
        latency_ms = 5.0
        """,
        [
            "storage.latency_ms = 5.0 is read by nothing: only storage.provider = 'constant' reads it. Remove it.",
        ],
        id="a latency for a provider with a profile is read by nothing",
    ),
    pytest.param(
        """
        [storage]
        provider = "constant"
        latency_ms = 1
        vintage = "original"
        """,
        [
            "storage.vintage = 'original' is read by nothing: storage.provider = 'constant' has one "
            "set of figures. Remove it.",
        ],
        id="a vintage of the constant provider is read by nothing",
    ),
    pytest.param(
        """
        [catalog]
        num_tables = 4
        num_groups = 2
        """,
        [
            "catalog.num_groups = 2 is read by nothing: only catalog.scope = 'group' has groups. Remove it.",
        ],
        id="groups without group scope are read by nothing",
    ),
    pytest.param(
        """
        [catalog]
        latency_ms = 1.0
        """,
        [
            "catalog.latency_ms = 1.0 is read by nothing: catalog.type = 'cas' takes its latencies "
            "from storage. Remove it.",
        ],
        id="a catalog latency is read by nothing when storage sets it",
    ),
    pytest.param(
        """
        [catalog]
        compaction_threshold = 16_000_000
        """,
        [
            "catalog.compaction_threshold = 16000000 is read by nothing: only catalog.type = "
            "'append' has a log. Remove it.",
        ],
        id="compaction keys are read by nothing without a log",
    ),
    pytest.param(
        """
        [catalog.service]
        workers = 4
        """,
        [
            "catalog.service is read by nothing: only catalog.type = 'service' is a server. Remove it.",
        ],
        id="service keys are read by nothing without a service",
    ),
    pytest.param(
        """
        [catalog.partitions]
        num_partitions = 4
        """,
        [
            "catalog.partitions.num_partitions = 4 is read by nothing: catalog.partitions.enabled is false. Remove it.",
        ],
        id="a number of partitions is read by nothing while they are off",
    ),
    pytest.param(
        """
        [catalog]
        type = "instant"
        object_base_bytes = 10
        """,
        [
            "catalog.object_base_bytes = 10 is read by nothing: catalog.type = 'instant' keeps no "
            "object on storage. Remove it.",
        ],
        id="object sizes are read by nothing without an object",
    ),
    pytest.param(
        """
        [commit]
        merging = "off"
        min_count_to_merge = 50
        """,
        [
            "commit.min_count_to_merge = 50 is read by nothing: commit.merging is 'off'. Remove it.",
        ],
        id="a merge threshold is read by nothing when merging is off",
    ),
    pytest.param(
        """
        [commit]
        manifests_per_concurrent_commit = 2.0
        """,
        [
            "commit.manifests_per_concurrent_commit = 2.0 is read by nothing: commit.merging is 'bins'. Remove it.",
        ],
        id="a merge rate is read by nothing when bins are merged",
    ),
    pytest.param(
        """
        [commit]
        history = "none"
        history_io = "batched"
        """,
        [
            "commit.history_io = 'batched' is read by nothing: commit.history is 'none'. Remove it.",
        ],
        id="the order of history reads is read by nothing without history",
    ),
    pytest.param(
        """
        [transaction.conflicting_manifests]
        mean = 3
        """,
        [
            "transaction.conflicting_manifests is read by nothing: commit.real_conflict is 'abort', "
            "so nothing is merged. Remove it.",
        ],
        id="conflicting manifests are read by nothing when conflicts abort",
    ),
    pytest.param(
        """
        [transaction]
        manifest_list_entry_size = 50
        manifest_list_seal_threshold = 0
        """,
        [
            "transaction.manifest_list_seal_threshold = 0 is read by nothing: "
            "transaction.manifest_list_mode is 'rewrite'. Remove it.",
            "transaction.manifest_list_entry_size = 50 is read by nothing: "
            "transaction.manifest_list_mode is 'rewrite'. Remove it.",
        ],
        id="list sizes are read by nothing when lists are rewritten",
    ),
    pytest.param(
        """
        [transaction]
        isolation = "snapshot"
        """,
        [
            "transaction.isolation = 'snapshot' is read by nothing: operation_types has no "
            "validated_overwrite. Remove it.",
        ],
        id="isolation is read by nothing without an overwrite",
    ),
    pytest.param(
        """
        [transaction]
        overwrite = "row_delta"
        """,
        [
            "transaction.overwrite = 'row_delta' is read by nothing: operation_types has no "
            "validated_overwrite. Remove it.",
        ],
        id="the form of an overwrite is read by nothing without one",
    ),
    pytest.param(
        """
        [transaction]
        rewritten_manifests = 2
        operation_types = { validated_overwrite = 1 }
        """,
        [
            "transaction.rewritten_manifests = 2 is read by nothing: operation_types has neither "
            "rewrite_files nor a validated_overwrite that rewrites manifests (overwrite = "
            "'row_delta' does not). Remove it.",
        ],
        id="rewritten manifests are read by nothing by row deltas",
    ),
    pytest.param(
        """
        [transaction]
        real_conflict_probability = 0.5
        """,
        [
            "transaction.real_conflict_probability = 0.5 is read by nothing: no kind in "
            "operation_types can have a real conflict. Remove it.",
        ],
        id="a conflict probability is read by nothing when appends alone run",
    ),
    pytest.param(
        """
        [catalog]
        partitions = { enabled = true, num_partitions = 2 }
        [conflict]
        detector = "partition_overlap"
        [transaction]
        real_conflict_probability = 0.0
        operation_types = { rewrite_files = 1 }
        """,
        [
            "transaction.real_conflict_probability = 0.0 is read by nothing: conflict.detector is "
            "'partition_overlap'. Remove it.",
        ],
        id="a conflict probability is read by nothing when partitions decide",
    ),
    pytest.param(
        """
        [transaction.retry_backoff]
        enabled = false
        base_ms = 10.0
        policy = "iceberg"
        """,
        [
            "transaction.retry_backoff.enabled = false contradicts policy = 'iceberg'. Keep one of them.",
            "transaction.retry_backoff.base_ms = 10.0 is read by nothing: there is no backoff "
            "(retry_backoff.enabled = true turns it on). Remove it.",
        ],
        id="backoff figures are read by nothing while backoff is off",
    ),
    pytest.param(
        """
        [transaction.retry_backoff]
        policy = "moderate"
        base_ms = 10.0
        """,
        [
            "transaction.retry_backoff.base_ms = 10.0 is read by nothing: retry_backoff.policy = "
            "'moderate' does not take it. Remove it.",
        ],
        id="a named strategy takes no figures",
    ),
    pytest.param(
        """
        [catalog]
        num_tables = 9
        [transaction.tables]
        count = 2
        count_zipf = 1.5
        """,
        [
            "transaction.tables.count = 2 is read by nothing: tables.count_zipf is given instead. Remove it.",
        ],
        id="two ways to say how many tables are refused",
    ),
    pytest.param(
        """
        [transaction.tables]
        alpha = 1.5
        """,
        [
            "transaction.tables.alpha = 1.5 is read by nothing: tables.selection is 'uniform'. Remove it.",
        ],
        id="an exponent is read by nothing when tables are picked uniformly",
    ),
    pytest.param(
        """
        [transaction.partitions]
        count = 1
        """,
        [
            "transaction.partitions is read by nothing: catalog.partitions.enabled is false. Remove it.",
        ],
        id="a choice of partitions is read by nothing while they are off",
    ),
    pytest.param(
        """
        [storage]
        T_LOG_ENTRY_READ = { mean = 5, stddev = 1 }
        """,
        [
            "storage.T_LOG_ENTRY_READ is read by nothing: only catalog.type = 'append' has a log. Remove it.",
        ],
        id="an override of a log is read by nothing without a log",
    ),
    pytest.param(
        """
        [storage]
        T_APPEND = { mean = 5, stddev = 1 }
        """,
        [
            "storage.T_APPEND is read by nothing: neither catalog.type nor "
            "transaction.manifest_list_mode is 'append'. Remove it.",
        ],
        id="an append latency is read by nothing without appends",
    ),
    pytest.param(
        """
        [storage.objects.manifest.cas]
        distribution = "fixed"
        ms = 5.0
        """,
        [
            "storage.objects.manifest.cas is read by nothing: no cas request goes to a manifest "
            "object here. Remove it.",
        ],
        id="an override of an object that is never swapped is read by nothing",
    ),
    pytest.param(
        """
        [transaction]
        retry = 3
        [[source]]
        name = "w"
        arrivals = { kind = "poisson", mean_ms = 10.0 }
        retry = 4
        """,
        [
            "transaction.retry = 3 is read by nothing: every [[source]] gives its own retry. Remove it.",
        ],
        id="a default that every source replaces is read by nothing",
    ),
    pytest.param(
        """
        [commit]
        protocol = "merge"
        [transaction]
        application_retries = 2
        """,
        [
            "transaction.application_retries = 2 is read by nothing: commit.real_conflict is "
            "'merge', so no txn starts over. Remove it.",
        ],
        id="application retries are read by nothing when conflicts are merged",
    ),
    pytest.param(
        """
        [transaction]
        application_retries = 2
        """,
        [
            "transaction.application_retries = 2 is read by nothing: no kind in operation_types can "
            "have a real conflict. Remove it.",
        ],
        id="application retries are read by nothing when appends alone run",
    ),
    pytest.param(
        """
        [transaction]
        operation_types = { validated_overwrite = 1 }
        overwrite = "replace_partitions"
        isolation = "snapshot"
        """,
        [
            "transaction.isolation = 'snapshot' is read by nothing: overwrite = "
            "'replace_partitions' validates nothing. Remove it.",
        ],
        id="isolation is read by nothing when partitions are replaced",
    ),
    pytest.param(
        """
        [commit]
        protocol = "merge"
        [transaction]
        operation_types = { validated_overwrite = 1 }
        isolation = "snapshot"
        """,
        [
            "transaction.isolation = 'snapshot' is read by nothing: commit.history is 'every_kind' "
            "and commit.real_conflict is 'merge'. Remove it.",
        ],
        id="isolation is read by nothing when every kind reads history and conflicts are merged",
    ),
    pytest.param(
        """
        [catalog]
        type = "instant"
        [storage.objects.catalog.read]
        distribution = "fixed"
        ms = 5.0
        """,
        [
            "storage.objects.catalog is read by nothing: catalog.type = 'instant' keeps no object "
            "on storage. Remove it.",
        ],
        id="an override of the catalog object is read by nothing without one",
    ),
    pytest.param(
        """
        [storage.objects.metadata.read]
        distribution = "fixed"
        ms = 5.0
        """,
        [
            "storage.objects.metadata is read by nothing: table metadata is inlined in the catalog "
            "(catalog.table_metadata_inlined). Remove it.",
        ],
        id="an override of metadata is read by nothing while it is inlined",
    ),
    pytest.param(
        """
        [storage.objects.log.read]
        distribution = "fixed"
        ms = 5.0
        """,
        [
            "storage.objects.log is read by nothing: only catalog.type = 'append' has a log. Remove it.",
        ],
        id="an override of the log is read by nothing without one",
    ),
    pytest.param(
        """
        [catalog]
        type = "append"
        [storage]
        T_CAS = { mu = 1, sigma = 1 }
        """,
        [
            "storage.T_CAS is read by nothing: only catalog.type = 'cas' swaps a catalog object. Remove it.",
        ],
        id="a swap latency is read by nothing by an append catalog",
    ),
    pytest.param(
        """
        [catalog]
        type = "service"
        [storage]
        T_METADATA_ROOT = { mu = 1, sigma = 1 }
        """,
        [
            "storage.T_METADATA_ROOT is read by nothing: catalog.type = 'service' answers reads "
            "itself, after catalog.latency. Remove it.",
        ],
        id="a catalog read latency is read by nothing by a service",
    ),
    pytest.param(
        """
        [commit]
        protocol = "spec"
        [transaction.retry_backoff]
        base_ms = 5.0
        """,
        [
            "transaction.retry_backoff.base_ms = 5.0 is read by nothing: there is no backoff "
            "(retry_backoff.enabled = true turns it on). Remove it.",
        ],
        id="a backoff figure is read by nothing where the protocol has no backoff",
    ),
    pytest.param(
        """
        [commit]
        head = "never"
        [storage.objects.manifest_list.head]
        distribution = "fixed"
        ms = 5.0
        """,
        [
            "storage.objects.manifest_list.head is read by nothing: no head request goes to a "
            "manifest_list object here. Remove it.",
        ],
        id="an override of a request that is never sent is read by nothing",
    ),
]


@pytest.mark.parametrize(("text", "problems"), BAD_FILES)
def test_a_key_that_nothing_reads_is_refused_with_the_reason(parse, text, problems):
    with pytest.raises(ConfigError) as caught:
        parse(text)

    assert tuple(problems) == caught.value.problems


def test_a_table_without_a_key_gives_none(parse):
    assert parse("[catalog]\ntype = 'cas'\nservice = {}") == parse("[catalog]\ntype = 'cas'")
