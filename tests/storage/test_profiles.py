"""The built-in profiles: their medians are the published figures, and every figure has a source."""

from pathlib import Path

import pytest

from endive import storage
from endive.errors import ProfileError
from endive.storage import (
    ORIGINAL,
    VINTAGES,
    ConstantStorageProvider,
    ObjectStore,
    S3StorageProvider,
    list_profiles,
    load_profile,
)
from endive.storage.requests import CAPABILITIES
from endive.vocabulary import (
    APPEND,
    ASSUMED,
    CAS,
    CATALOG,
    DELETE,
    HEAD,
    KNOWN,
    LIST,
    MANIFEST,
    MANIFEST_LIST,
    METADATA,
    READ,
    WRITE,
)

MIB = 1 << 20
PROFILES = Path(storage.__file__).parent / "profiles"
ALL = [(name, vintage) for vintage in VINTAGES for name in list_profiles(vintage)]

# provider: GET median, PUT base, PUT per MiB, floor
PLAIN = {
    "s3": (27.0, 60.0, 20.0, 10.0),
    "s3x": (2.5, 6.5, 10.0, 1.0),
    "azure": (38.0, 45.0, 25.0, 20.0),
    "azurex": (35.0, 41.0, 15.0, 20.0),
    "gcp": (200.0, 200.0, 17.0, 80.0),
}
# provider: CAS, manifest list read, manifest list write, PUT base, PUT per MiB
FIRST_DOCUMENTS = {
    "s3": (61.0, 61.0, 63.0, 30.0, 20.0),
    "s3x": (22.0, 22.0, 21.0, 10.0, 10.0),
    "azure": (93.0, 93.0, 95.0, 50.0, 25.0),
    "azurex": (64.0, 64.0, 70.0, 30.0, 15.0),
    "instant": (1.0, 1.0, 1.0, 0.5, 0.1),
}


def median_ms(profile, object, op, success=True, size_bytes=0):
    return profile.latency(object, op, success).at_size(size_bytes).quantile(0.5)


@pytest.mark.parametrize(("name", "figures"), PLAIN.items())
def test_measured_reads_and_writes_have_the_benchmarked_medians(name, figures):
    get_ms, put_ms, per_mib_ms, floor_ms = figures
    profile = load_profile(name)

    assert median_ms(profile, METADATA, READ) == pytest.approx(get_ms, rel=1e-12)
    assert median_ms(profile, METADATA, WRITE) == pytest.approx(put_ms, rel=1e-12)
    assert median_ms(profile, METADATA, WRITE, size_bytes=MIB) == pytest.approx(put_ms + per_mib_ms, rel=1e-12)
    assert profile.latency(METADATA, READ).quantile(0.0) == floor_ms


@pytest.mark.parametrize(("name", "figures"), FIRST_DOCUMENTS.items())
def test_the_seeds_vintage_has_the_first_documents_medians(name, figures):
    cas_ms, list_read_ms, list_write_ms, put_ms, per_mib_ms = figures
    profile = load_profile(name, ORIGINAL)

    assert median_ms(profile, CATALOG, CAS) == pytest.approx(cas_ms, rel=1e-12)
    assert median_ms(profile, MANIFEST_LIST, READ) == pytest.approx(list_read_ms, rel=1e-12)
    assert median_ms(profile, MANIFEST_LIST, WRITE) == pytest.approx(list_write_ms, rel=1e-12)
    assert median_ms(profile, MANIFEST, WRITE) == pytest.approx(put_ms, rel=1e-12)
    assert median_ms(profile, MANIFEST, WRITE, size_bytes=MIB) == pytest.approx(put_ms + per_mib_ms, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "op", "success", "expected_ms"),
    [
        ("s3", CAS, False, 68.2),
        ("s3x", CAS, True, 14.45),
        ("azure", CAS, False, 75.0),
        ("azure", APPEND, False, 2450.0),
        ("azurex", APPEND, True, 70.9),
        ("azurex", APPEND, False, 2120.0),
        ("azurex", CAS, True, 57.6),
        ("gcp", CAS, False, 682.0),
    ],
)
def test_conditional_operations_start_from_the_lone_writer(name, op, success, expected_ms):
    assert median_ms(load_profile(name), CATALOG, op, success) == pytest.approx(expected_ms, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "op", "quantiles_ms"), [("s3", CAS, (64.7, 90.5, 112.0)), ("azure", APPEND, (87.6, 131.0, 193.0))]
)
def test_a_lone_writer_has_the_measured_body_and_the_measured_tail(name, op, quantiles_ms):
    latency = load_profile(name).latency(CATALOG, op)

    assert [latency.quantile(p) for p in (0.5, 0.95, 0.99)] == pytest.approx(quantiles_ms, rel=0.07)


def test_half_the_swaps_of_a_lone_writer_on_google_take_180_ms_and_the_others_far_longer():
    latency = load_profile("gcp").latency(CATALOG, CAS)

    assert latency.quantile(0.5) == pytest.approx(179.3, abs=0.1)
    assert latency.mean() == pytest.approx(0.688 * 168.4 + 0.312 * 1957.3, rel=0.01)


def test_only_s3_express_limits_the_writes_to_one_object_and_google_and_azure_premium_throttle():
    limits = {name: load_profile(name).writes_per_s_max for name in list_profiles()}
    windows = {name: load_profile(name).throttling for name in list_profiles()}

    assert {name: limit for name, limit in limits.items() if limit} == {"s3x": 134.5}
    assert {name: held[CAS].window_ms for name, held in windows.items() if held} == {"azurex": 42.3, "gcp": 940.0}


def test_successes_of_s3_express_and_azure_are_late_among_rivals():
    crowding = {
        (name, op): [table.rivals for table in crowd.tables]
        for name in list_profiles()
        for op, crowd in load_profile(name).crowding.items()
    }

    assert crowding == {
        ("s3x", CAS): [1, 3, 7, 15],
        ("s3x", APPEND): [1, 3, 7, 15],
        ("azure", CAS): [15],
        ("azure", APPEND): [15],
        ("azurex", CAS): [15],
    }


def test_s3_asks_for_the_head_of_a_manifest_list_before_it_reads_it():
    headed = {name for name in list_profiles() if load_profile(name).head_before_read == {MANIFEST_LIST}}

    assert headed == {"s3", "s3x"}
    assert all(not load_profile(name, ORIGINAL).head_before_read for name in list_profiles(ORIGINAL))


@pytest.mark.parametrize(("name", "vintage"), ALL)
def test_every_figure_has_a_source(name, vintage):
    profile = load_profile(name, vintage)

    assert len(profile.describe()) >= len(profile.capabilities)
    assert all(row.known in KNOWN and row.source.startswith("by ") for row in profile.describe())
    noted = {
        "floor": profile.min_latency_ms,
        "legs": profile.leg_shares,
        "write_limit": profile.writes_per_s_max,
        "head_before_read": profile.head_before_read,
    }
    assert set(profile.notes) == {key for key, given in noted.items() if given}
    assert all(note.known in KNOWN and note.source.startswith("by ") for note in profile.notes.values())


@pytest.mark.parametrize(("name", "vintage"), ALL)
def test_every_table_of_a_built_in_file_says_itself_how_well_its_figures_are_known(name, vintage):
    folder = PROFILES / vintage if (PROFILES / vintage / f"{name}.toml").is_file() else PROFILES
    text = (folder / f"{name}.toml").read_text(encoding="utf-8")
    figures, _, _ = text.partition("[prices.")

    assert figures.count("\nsource = ") == figures.count("\nknown = ")


def test_what_nobody_measured_is_assumed():
    assumed = {name: [row.operation for row in load_profile(name).describe() if row.known == ASSUMED] for name in PLAIN}

    writes = ["write", "create"]
    assert assumed == {"s3": ["create"], "s3x": writes, "azure": writes, "azurex": writes, "gcp": ["read", *writes]}


@pytest.mark.parametrize(("name", "vintage"), ALL)
def test_a_price_is_of_a_day_and_a_list_and_only_the_measured_stores_have_any(name, vintage):
    prices = load_profile(name, vintage).prices

    assert (vintage == "measured" and name in PLAIN) == bool(prices)
    assert all(price.source.startswith("by ") and price.date == "2026-11-15" for price in prices.values())


@pytest.mark.parametrize("name", PLAIN)
def test_every_operation_of_a_measured_store_has_a_price(name):
    profile = load_profile(name)

    assert set(profile.prices) == {*profile.capabilities, HEAD, DELETE, LIST}
    assert profile.prices[CAS].usd_per_1000 == profile.prices[WRITE].usd_per_1000 > profile.prices[READ].usd_per_1000
    assert profile.prices[DELETE].usd_per_1000 == 0.0


@pytest.mark.parametrize(("name", "vintage"), ALL)
def test_both_engines_can_draw_from_every_built_in_profile(name, vintage):
    assert ObjectStore(load_profile(name, vintage)).is_built_in is True


def test_describe_gives_the_quantiles_of_each_figure():
    row = next(row for row in load_profile("azure").describe() if row[0] == "cas, refused")

    _, text, median, p95, p99, _, source = row
    distribution = load_profile("azure").latency(CATALOG, CAS, success=False)
    assert text == "lognormal, median_ms = 75.0, sigma = 1.5"
    assert (median, p95, p99) == tuple(distribution.quantile(p) for p in (0.5, 0.95, 0.99))
    assert source.startswith("by C. Douglas (B): median of refused Azure CAS")


def test_a_constant_store_takes_its_latency_for_everything_and_halves_it():
    store = ConstantStorageProvider(12.5)

    for op in CAPABILITIES:
        for success in (True, False):
            distribution = store.latency(CATALOG, op, success)
            assert (distribution.quantile(0.0), distribution.quantile(1.0)) == (12.5, 12.5)
        assert store.leg_share(op) == 0.5
    assert store.terms.spacing_us == 0


def test_a_named_provider_takes_its_vintage():
    assert S3StorageProvider(vintage=ORIGINAL).profile is load_profile("s3", ORIGINAL)


def test_a_missing_vintage_names_the_providers_that_have_it():
    with pytest.raises(ProfileError) as missing:
        load_profile("gcp", ORIGINAL)

    assert str(missing.value) == (
        "provider 'gcp' has no figures of vintage 'original'. Those that have: s3, s3x, azure, azurex, instant, "
        "fifo, constant; or use vintage 'measured'."
    )


def test_an_unknown_vintage_is_refused():
    with pytest.raises(ProfileError, match=r"vintage = 'sedes' is unknown\. Choose one of: measured, original"):
        load_profile("s3", "sedes")


def test_a_misspelt_provider_is_answered_with_the_nearest_one():
    with pytest.raises(ProfileError, match=r"provider 'azrue' is unknown \(did you mean 'azure'\?\)"):
        load_profile("azrue")
