"""Which provider can do what: the specification's table, to the letter."""

import pytest

from endive.config.capabilities import BUILT_IN, HAVE_NO_VINTAGES
from endive.errors import UnsupportedOperationError
from endive.storage import (
    ORIGINAL,
    AzureBlobStorageProvider,
    AzurePremiumStorageProvider,
    ConstantStorageProvider,
    FifoQueueProvider,
    GCPStorageProvider,
    InstantStorageProvider,
    Request,
    S3ExpressStorageProvider,
    S3StorageProvider,
    list_profiles,
    load_profile,
)
from endive.storage.requests import CAPABILITIES
from endive.vocabulary import APPEND, CAS, CATALOG, OPERATIONS, TAIL_APPEND, WRITE

TABLE = {  # provider: read, write, cas, append, tail_append, create
    "s3": (S3StorageProvider, (True, True, True, False, False, True)),
    "s3x": (S3ExpressStorageProvider, (True, True, True, True, False, True)),
    "azure": (AzureBlobStorageProvider, (True, True, True, True, False, True)),
    "azurex": (AzurePremiumStorageProvider, (True, True, True, True, False, True)),
    "gcp": (GCPStorageProvider, (True, True, True, False, False, True)),
    "instant": (InstantStorageProvider, (True, True, True, True, True, True)),
    "fifo": (FifoQueueProvider, (True, False, False, False, True, False)),
    "constant": (lambda: ConstantStorageProvider(5.0), (True, True, True, True, True, True)),
}


def request(provider, op, client):
    return provider.ask(Request(CATALOG, op, 0, 1, key="k", evaluate=lambda: True), client)


@pytest.mark.parametrize("op", CAPABILITIES, ids=lambda op: OPERATIONS[op])
@pytest.mark.parametrize("name", TABLE)
def test_a_provider_has_exactly_the_operations_of_the_table(clock, client, name, op):
    make, row = TABLE[name]
    provider, has = make(), row[CAPABILITIES.index(op)]
    provider.attach(clock)

    assert provider.name == name
    assert provider.profile.supports(op) is has
    if has:
        task = clock.start(request(provider, op, client))
        clock.run()
        assert task.value.success is True
    else:
        with pytest.raises(UnsupportedOperationError):
            request(provider, op, client)
        assert sum(client.row.requests) == 0  # nothing is billed


@pytest.mark.parametrize("name", TABLE)
def test_the_supports_properties_say_the_same(name):
    make, (_, *has, _) = TABLE[name]
    provider = make()

    names = [f"supports_{OPERATIONS[op]}" for op in (WRITE, CAS, APPEND, TAIL_APPEND)]
    assert has == [getattr(provider, name) for name in names]


@pytest.mark.parametrize(
    ("op", "names"), [(APPEND, "s3x, azure, azurex, instant, constant"), (TAIL_APPEND, "instant, fifo, constant")]
)
def test_a_refused_operation_names_the_providers_that_have_it(client, op, names):
    with pytest.raises(UnsupportedOperationError) as refused:
        request(S3StorageProvider(), op, client)

    assert str(refused.value) == (f"storage provider 's3' has no '{OPERATIONS[op]}'. Providers that have it: {names}.")


@pytest.mark.parametrize("vintage", ["measured", ORIGINAL])
def test_what_the_configuration_believes_is_what_the_profiles_say(vintage):
    for name in list_profiles(vintage):
        claimed = {OPERATIONS[op] for op in load_profile(name, vintage).capabilities}
        assert claimed == BUILT_IN[name]


def test_the_hypothetical_profiles_are_those_without_vintages():
    hypothetical = {name for name in BUILT_IN if load_profile(name).vintage == "hypothetical"}

    assert hypothetical == set(HAVE_NO_VINTAGES)


def test_a_refused_operation_has_no_latency():
    with pytest.raises(UnsupportedOperationError):
        FifoQueueProvider().latency(0, WRITE)
