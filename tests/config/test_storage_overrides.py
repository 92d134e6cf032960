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


SEPARATE = "[catalog]\ntable_metadata_inlined = false\n"
APPENDING = '[catalog]\ntype = "append"\nappend_preset = "log"\n[transaction]\nmanifest_list_mode = "append"\n'


def assert_speaks_of(parse, sections, given, expected):
    """Fixed latencies, as ``KEY=ms``, and the requests they become those of."""
    lines = (each.split("=") for each in given.split())
    text = "".join(f'{key} = {{ distribution = "fixed", ms = {ms} }}\n' for key, ms in lines)
    config = parse(f"{sections}[storage]\n{text}")

    assert {each.split("=")[0]: Fixed(ms=float(each.split("=")[1])) for each in expected.split()} == {
        f"{object}.{op}" + ("" if is_success else "_failure"): latency
        for (object, op, is_success), latency in overrides_of(config).items()
    }
    return config


def test_each_key_speaks_of_its_own_requests(parse):
    given = "T_METADATA_ROOT=3 T_MANIFEST_LIST.read=4 T_MANIFEST_LIST.write=5 T_MANIFEST_FILE.read=6 "
    given += "T_MANIFEST_FILE.write=7 T_TABLE_METADATA.read=8 T_TABLE_METADATA.write=9"
    expected = "catalog.read=3 manifest_list.read=4 manifest_list.write=5 manifest.read=6 manifest.write=7 "
    expected += "metadata.read=8 metadata.write=9 catalog.cas=1 catalog.cas_failure=2"
    cas = '[storage.T_CAS]\ndistribution = "fixed"\nms = 1\nfailure = { distribution = "fixed", ms = 2 }\n'
    assert_speaks_of(parse, SEPARATE + cas, given, expected)


def test_an_append_latency_holds_for_the_log_and_for_manifest_lists(parse):
    given, expected = "T_APPEND=1 T_COMPACTION=2 T_LOG_ENTRY_READ=3", "log.append=1 manifest_list.append=1 log.cas=2"

    assert Fixed(ms=3.0) == assert_speaks_of(parse, APPENDING, given, expected).storage.T_LOG_ENTRY_READ


def test_t_put_wins_for_manifest_lists(parse):
    given = "T_PUT=1 T_MANIFEST_LIST.write=2 objects.manifest.write=3 objects.catalog.cas_failure=4"
    expected = "metadata.write=1 manifest_list.read=1 manifest_list.write=1 manifest.write=3 catalog.cas_failure=4"
    assert_speaks_of(parse, SEPARATE, given, expected)
