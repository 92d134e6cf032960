"""The names the original documents give to operations: each is one request, and nothing else."""

import pytest

from endive.errors import EngineError
from endive.storage import InstantStorageProvider, ObjectStore, Request
from endive.vocabulary import APPEND, CAS, CATALOG, LOG, READ, TAIL_APPEND, WRITE


class Asked(InstantStorageProvider):
    """Remembers what it was asked."""

    def ask(self, request, client):
        self.last = request
        return super().ask(request, client)


@pytest.mark.parametrize(
    ("name", "arguments", "op"),
    [
        ("read", (300,), READ),
        ("write", (300,), WRITE),
        ("cas", (7, 300), CAS),
        ("append", (7, 300), APPEND),
        ("tail_append", (300,), TAIL_APPEND),
    ],
)
def test_a_named_operation_is_one_request(client, name, arguments, op):
    store = Asked()
    operation = getattr(store, name)

    operation("k", *arguments, client=client, counter=9)
    assert Request(CATALOG, op, 9, 300, key="k") == store.last

    operation("k", *arguments, client=client, counter=9, object=LOG, evaluate=bool)
    assert Request(LOG, op, 9, 300, key="k", evaluate=bool) == store.last


@pytest.mark.parametrize("name", ["cas", "delete", "read_batch"])
def test_a_store_of_ones_own_that_overrides_a_named_operation_is_told_that_nobody_calls_it(name):
    with pytest.raises(EngineError, match=f"Mine (defines|overrides) {name}"):
        type("Mine", (ObjectStore,), {name: lambda self: None})
