"""The requests a txn can send: which kind of object, which operation.

What is true of an operation at any store; the words themselves are ``endive.vocabulary``'s, what a request costs is in
the profiles. A new operation is a code there, a line here in each list that it belongs to, and its figures in the
profiles of stores that have it: stores, throttling, payments and the walk of a conditional request ask for a code.

A request slot is ``object * N_OPERATIONS + operation``: the index of its latency. Where it is counted on a bill is
``REQUEST_PLACES[slot]``.
"""

from __future__ import annotations

from typing import Final

from endive.vocabulary import APPEND, CAS, CREATE, DELETE, HEAD, LIST, READ, TAIL_APPEND, WRITE

# Operations whose effect or verdict depends on the order in which they reach one object.
ORDERED_OPERATIONS: Final = (CAS, APPEND, TAIL_APPEND, CREATE)
# Operations that may be refused: these have a latency of refusal beside that of success.
CONDITIONAL_OPERATIONS: Final = (CAS, APPEND, CREATE)
# Operations a profile may claim.
CAPABILITIES: Final = (READ, WRITE, CAS, APPEND, TAIL_APPEND, CREATE)
# Operations that come with another, and cost what it does unless a profile says otherwise: a store that can read can
# tell an object's head, one that can write can delete.
COMES_WITH: Final = {HEAD: READ, DELETE: WRITE, LIST: READ}
# What an operation costs where a profile gives it no figure of its own: beside the above, the creation of an object
# that must not exist is a conditional PUT like a swap.
COSTS_AS: Final = {**COMES_WITH, CREATE: CAS}
# Borrowed figures of these are assumed ones, however well the lender's are known.
BORROWERS: Final = {LIST: "as a read", CREATE: "as a conditional PUT"}
# Operations of which a long run is one draw from a table of sums, if there is one; runs of others are drawn singly.
SUMMED_OPERATIONS: Final = (READ, WRITE, HEAD)
