"""Latencies that replace a profile's: which request each key speaks of, and which of two wins."""

from endive.config.sections.distribution import Fixed, Lognormal, SizeBased, TruncatedNormal


def overrides_of(config):
    """The last override of each request: the one that holds."""
    return {(item.object, item.op, item.is_success): item.distribution for item in config.storage.latency_overrides()}


def test_short_forms_are_spelt_out(parse):
    objects = parse(
        """
        [storage]
        T_CAS = { mu = 4.1, sigma = 0.3, failure = { mean = 60, stddev = 5 } }
        T_PUT = { base_latency_ms = 30, latency_per_mib_ms = 20, sigma = 0.3 }
        """
    ).storage.objects

    assert Lognormal(mu=4.1, sigma=0.3, min_latency_ms=1.0) == objects.catalog.cas
    assert TruncatedNormal(mean_ms=60.0, stddev_ms=5.0, min_ms=1.0) == objects.catalog.cas_failure
    put = SizeBased(base_latency_ms=30.0, latency_per_mib_ms=20.0, sigma=0.3, min_latency_ms=1.0)
    assert put == objects.manifest.write == objects.manifest_list.read


def test_each_key_speaks_of_its_own_requests(parse):
    config = parse(
        """
        [catalog]
        table_metadata_inlined = false
        [storage]
        T_CAS = { distribution = "fixed", ms = 1, failure = { distribution = "fixed", ms = 2 } }
        T_METADATA_ROOT = { distribution = "fixed", ms = 3 }
        T_MANIFEST_LIST.read = { distribution = "fixed", ms = 4 }
        T_MANIFEST_LIST.write = { distribution = "fixed", ms = 5 }
        T_MANIFEST_FILE.read = { distribution = "fixed", ms = 6 }
        T_MANIFEST_FILE.write = { distribution = "fixed", ms = 7 }
        T_TABLE_METADATA.read = { distribution = "fixed", ms = 8 }
        T_TABLE_METADATA.write = { distribution = "fixed", ms = 9 }
        """
    )

    assert {
        ("catalog", "cas", True): Fixed(ms=1.0),
        ("catalog", "cas", False): Fixed(ms=2.0),
        ("catalog", "read", True): Fixed(ms=3.0),
        ("manifest_list", "read", True): Fixed(ms=4.0),
        ("manifest_list", "write", True): Fixed(ms=5.0),
        ("manifest", "read", True): Fixed(ms=6.0),
        ("manifest", "write", True): Fixed(ms=7.0),
        ("metadata", "read", True): Fixed(ms=8.0),
        ("metadata", "write", True): Fixed(ms=9.0),
    } == overrides_of(config)


def test_an_append_latency_holds_for_the_log_and_for_manifest_lists(parse):
    config = parse(
        """
        [catalog]
        type = "append"
        append_preset = "log"
        [transaction]
        manifest_list_mode = "append"
        [storage]
        T_APPEND = { distribution = "fixed", ms = 1 }
        T_COMPACTION = { distribution = "fixed", ms = 2 }
        T_LOG_ENTRY_READ = { distribution = "fixed", ms = 3 }
        """
    )

    assert {
        ("log", "append", True): Fixed(ms=1.0),
        ("manifest_list", "append", True): Fixed(ms=1.0),
        ("log", "cas", True): Fixed(ms=2.0),
    } == overrides_of(config)
    assert Fixed(ms=3.0) == config.storage.T_LOG_ENTRY_READ


def test_t_put_wins_for_manifest_lists(parse):
    config = parse(
        """
        [catalog]
        table_metadata_inlined = false
        [storage]
        T_PUT = { distribution = "fixed", ms = 1 }
        T_MANIFEST_LIST.write = { distribution = "fixed", ms = 2 }
        [storage.objects.manifest.write]
        distribution = "fixed"
        ms = 3
        [storage.objects.catalog.cas_failure]
        distribution = "fixed"
        ms = 4
        """
    )

    assert {
        ("metadata", "write", True): Fixed(ms=1.0),
        ("manifest_list", "read", True): Fixed(ms=1.0),
        ("manifest_list", "write", True): Fixed(ms=1.0),
        ("manifest", "write", True): Fixed(ms=3.0),
        ("catalog", "cas", False): Fixed(ms=4.0),
    } == overrides_of(config)
