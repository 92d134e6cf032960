"""What a user replaces in a profile, and how far a replacement reaches."""

import pytest

from endive.distributions import ExponentialLatency, FixedLatency, LatencyDistribution
from endive.storage import ObjectStore, load_profile
from endive.vocabulary import CAS, CATALOG, DELETE, HEAD, MANIFEST, METADATA, READ, WRITE


class Mine(LatencyDistribution):
    """A distribution of the user's own."""

    def quantile(self, p):
        return 100.0 * p


def test_an_override_goes_before_the_profile_and_below_its_floor():
    profile = load_profile("s3").with_overrides({(CATALOG, READ, True): FixedLatency(1.0)})

    assert profile.min_latency_ms == 10.0
    assert profile.latency(CATALOG, READ).quantile(0.5) == 1.0
    assert profile.latency(METADATA, READ).quantile(0.5) == pytest.approx(27.0, rel=1e-12)


def test_an_override_of_success_speaks_for_refusal_until_refusal_has_its_own():
    success, refusal = FixedLatency(5.0), FixedLatency(9.0)
    one = load_profile("s3").with_overrides({(CATALOG, CAS, True): success})
    both = one.with_overrides({(CATALOG, CAS, False): refusal})

    assert one.latency(CATALOG, CAS, success=False) is success
    assert both.latency(CATALOG, CAS, success=True) is success
    assert both.latency(CATALOG, CAS, success=False) is refusal


def test_an_override_of_read_and_write_also_holds_for_head_and_delete():
    read, write = FixedLatency(3.0), FixedLatency(4.0)
    profile = load_profile("s3").with_overrides({(MANIFEST, READ, True): read, (MANIFEST, WRITE, True): write})

    assert profile.latency(MANIFEST, HEAD) is read
    assert profile.latency(MANIFEST, DELETE) is write
    assert profile.latency(METADATA, HEAD) == profile.latency(METADATA, READ)


def test_the_users_floor_reaches_every_operation_and_replaces_the_profiles():
    overrides = {(CATALOG, READ, True): FixedLatency(1.0), (CATALOG, WRITE, True): ExponentialLatency(2.0)}
    raised = load_profile("s3").with_overrides(overrides, min_latency_ms=40.0)
    lowered = load_profile("s3").with_overrides(min_latency_ms=0.5)

    assert raised.latency(CATALOG, READ).quantile(0.5) == 40.0
    assert raised.latency(CATALOG, WRITE).quantile(0.5) == 40.0
    assert raised.latency(METADATA, READ).quantile(0.0) == 40.0
    assert lowered.latency(METADATA, READ).quantile(0.0) == 0.5


def test_a_floor_is_under_the_draws_too():
    floored = load_profile("s3").with_overrides({(CATALOG, READ, True): Mine()}, min_latency_ms=60.0)
    drawn_us = [floored.latency(CATALOG, READ).sample_us(5, counter) for counter in range(200)]

    assert min(drawn_us) == 60_000
    assert max(drawn_us) > 90_000
    assert Mine().quantile(0.1) == 10.0


def test_a_distribution_or_a_class_of_the_users_own_is_for_the_reference_engine_only():
    class MyStore(ObjectStore):
        pass

    profile = load_profile("instant")
    own = profile.with_overrides({(CATALOG, CAS, False): Mine()})
    assert (True, False, False) == tuple(
        each.is_built_in for each in (ObjectStore(profile), ObjectStore(own), MyStore(profile))
    )


def test_overrides_appear_in_the_description_as_the_users():
    profile = load_profile("s3").with_overrides({(CATALOG, CAS, False): FixedLatency(9.0)})

    row = next(row for row in profile.describe() if row[0] == "catalog cas, refused")
    assert row[2:] == (9.0, 9.0, 9.0, "given", "by the user, in the configuration")
