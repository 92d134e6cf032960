"""The requests a txn can send: which kind of object, which operation.

Owns the codes of both, as plain ints a compiled kernel may read as globals. Refuses to own their names,
which the transaction record fixes (``endive.results.schema``), and what a request costs (profiles).

A request slot is ``object * N_OPERATIONS + operation``: the index of its counter in a bill of requests.
"""

from __future__ import annotations

from typing import Final

from endive.results.schema import N_OPERATIONS, N_REQUEST_SLOTS, OBJECTS, OPERATIONS

CATALOG: Final = 0  # the catalog's own object: its pointers, or its checkpoint
METADATA: Final = 1  # a table's metadata
MANIFEST_LIST: Final = 2
MANIFEST: Final = 3
LOG: Final = 4  # the log of intention records of an append catalog

READ: Final = 0
WRITE: Final = 1  # unconditional, the whole object
CAS: Final = 2  # conditional on the version
APPEND: Final = 3  # conditional on the offset
TAIL_APPEND: Final = 4  # unconditional, at the end
HEAD: Final = 5
DELETE: Final = 6

# Operations whose effect or verdict depends on the order in which they reach one object.
ORDERED_OPERATIONS: Final = (CAS, APPEND, TAIL_APPEND)
# Operations that may be refused: these have a latency of refusal beside that of success.
CONDITIONAL_OPERATIONS: Final = (CAS, APPEND)
# Operations a profile may claim; a provider that can read can HEAD, one that can write can delete.
CAPABILITIES: Final = (READ, WRITE, CAS, APPEND, TAIL_APPEND)

__all__ = [
    "APPEND",
    "CAPABILITIES",
    "CAS",
    "CATALOG",
    "CONDITIONAL_OPERATIONS",
    "DELETE",
    "HEAD",
    "LOG",
    "MANIFEST",
    "MANIFEST_LIST",
    "METADATA",
    "N_OPERATIONS",
    "N_REQUEST_SLOTS",
    "OBJECTS",
    "OPERATIONS",
    "ORDERED_OPERATIONS",
    "READ",
    "TAIL_APPEND",
    "WRITE",
]
