"""What a txn says of itself when it is over."""

from endive import Simulation
from endive.transaction import FastAppendTransaction, TransactionResult, TransactionStatus

L_MS = 10.0


def ended_txns(**transaction):
    """The results of two appends submitted together, a request taking exactly L."""
    results = []

    class Telling(FastAppendTransaction):
        def execute(self, world):
            yield from super().execute(world)
            results.append(self.result)

    config = {
        "simulation": {"duration_ms": 10_000.0},
        "storage": {"provider": "constant", "latency_ms": L_MS},
        "catalog": {"type": "instant", "latency_ms": L_MS},
        "transaction": {"retry_backoff": {"enabled": False}, **transaction},
        "source": [
            {
                "name": name,
                "arrivals": {"kind": "periodic", "period_ms": 60_000.0},
                "runtime": {"distribution": "fixed", "ms": 0.0},
            }
            for name in ("first", "second")
        ],
    }
    Simulation(config, transaction_types={"fast_append": Telling}).run()
    return results


def test_a_winner_and_a_loser_that_tried_again_tell_their_times_and_requests():
    winner, loser = ended_txns(retry=1)

    # load L; refresh, manifest, list read, list written, swap, the new state read: 6 L
    expected = TransactionResult(
        status=TransactionStatus.COMMITTED,
        commit_time_ms=7 * L_MS,
        abort_time_ms=-1.0,
        abort_reason=None,
        total_retries=0,
        commit_latency_ms=6 * L_MS,
        total_latency_ms=7 * L_MS,
        manifest_list_reads=1,
        manifest_list_writes=1,
        manifest_file_reads=0,
        manifest_file_writes=1,
    )
    assert expected == winner
    # the retry: refresh, list read, list written, swap; then the state is read and the lost list deleted
    assert (TransactionStatus.COMMITTED, 12 * L_MS, 1, 2, 2, 1) == (
        loser.status,
        loser.commit_time_ms,
        loser.total_retries,
        loser.manifest_list_reads,
        loser.manifest_list_writes,
        loser.manifest_file_writes,
    )


def test_an_aborted_txn_names_its_reason():
    _, loser = ended_txns(retry=0)

    assert (TransactionStatus.ABORTED, "retries_exhausted", -1.0) == (
        loser.status,
        loser.abort_reason,
        loser.commit_time_ms,
    )
