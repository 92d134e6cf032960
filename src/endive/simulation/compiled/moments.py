"""What a txn can be about to do: moments that others see, and steps that nobody sees.

A *moment* is an instant at which something shared is read or changed: a request reaches a server, or a txn ends. Only
moments are events, and a txn in flight always waits for one (``TxnRecord.moment``). A *step* is what a txn does on its
own between two of them; it is taken at once and never waited for. What follows what, and who handles it, is one table:
``endive.simulation.compiled.transitions``.
"""

from typing import Final

from endive.rng import (
    BASE_READ,
    DISCOVERY,
    LOOK_READ,
    POINTER_READ,
    READ_BACK,
    REFRESH,
    START_READ,
    STATUS_READ,
)

(
    MOMENT_RECALL,  # a client that kept its table begins its next txn
    MOMENT_READ_ARRIVES,  # a catalog read reaches a server with workers
    MOMENT_START_READ,  # the server evaluates a catalog read: of a txn that begins,
    MOMENT_REFRESH,  # of an attempt that wants the newest state,
    MOMENT_BASE_READ,  # of one that has repaired and wants a version to swap on,
    MOMENT_POINTER_CHECK,  # of an attempt that asks whether its base still stands,
    MOMENT_DISCOVERY,  # of one whose record is in the log,
    MOMENT_COMPACTION_READ,  # of one that found the log sealed,
    MOMENT_READ_BACK,  # of a txn that has committed,
    MOMENT_STATUS_CHECK,  # of one whose answer was lost
    MOMENT_LIST_APPEND,  # a manifest list evaluates an append
    MOMENT_LIST_REWRITTEN,  # a fresh manifest list is there
    MOMENT_COMMIT_ARRIVES,  # a commit reaches a server with workers
    MOMENT_COMMIT,  # the server evaluates it
    MOMENT_REST_SWAP,  # a REST server has written the metadata
    MOMENT_LOG_APPEND,  # the log evaluates an append
    MOMENT_LOG_HEAD,  # or says where it ends
    MOMENT_COMPACTION,  # or evaluates a compacting swap
    MOMENT_QUEUE,  # the work of a txn is done whose process commits one at a time
    MOMENT_TURN,  # and its turn has come
    MOMENT_RERUN,  # whoever scheduled the txn runs it again
    MOMENT_LOOK,  # a catalog read between load and commit is evaluated
    MOMENT_LOCK,  # the lock of a table is asked for
    MOMENT_UNLOCK,  # and given back
    MOMENT_BATCH,  # a REST server installs a batch of commits
    MOMENT_PUBLISHED,  # what follows a commit is there for others to see
    MOMENT_END,
) = range(27)

# Under which name a catalog read is drawn that is evaluated at a moment.
READ_AS: Final = {
    MOMENT_START_READ: START_READ,
    MOMENT_REFRESH: REFRESH,
    MOMENT_BASE_READ: BASE_READ,
    MOMENT_POINTER_CHECK: POINTER_READ,
    MOMENT_DISCOVERY: DISCOVERY,
    MOMENT_READ_BACK: READ_BACK,
    MOMENT_STATUS_CHECK: STATUS_READ,
    MOMENT_LOOK: LOOK_READ,
}

FIRST_STEP: Final = 32
(
    STEP_START,  # read the catalog, for the first time or once more
    STEP_BEGIN,  # an attempt: wait, refresh if the protocol does
    STEP_BUILD,  # plan, validate, write
    STEP_NEXT_LIST,  # which manifest list is appended to next
    STEP_LIST_APPEND,  # send the entry, or rewrite a sealed list
    STEP_SWAP,  # everything is written: read the base only now if the protocol does
    STEP_LAST_LOOK,  # look at the pointer first if the protocol does
    STEP_COMMIT,  # send the conditional write
    STEP_LOCK,  # ask for the lock, once more
    STEP_LOG,  # send the record to the log, or compact it first
    STEP_LOG_MISSED,  # the log had moved: once more, or give the attempt up
    STEP_COMPACT,  # send the compacting swap
    STEP_DISCOVER,  # the record landed: read back what became of it
    STEP_CHECK_STATUS,  # the answer was lost: ask for the table
    STEP_REFUSED,  # give up, or another attempt
    STEP_STOP,  # end, or run the whole txn once more
    STEP_COMMITTED,  # ask for the new state if the protocol does
    STEP_RELOAD,  # read the tables back, clean up, end
) = range(FIRST_STEP, FIRST_STEP + 18)

NAMES: Final = {code: name for name, code in list(globals().items()) if name.startswith(("MOMENT_", "STEP_"))}
