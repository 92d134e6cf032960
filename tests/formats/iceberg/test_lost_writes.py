"""What a lost attempt wrote is deleted once the txn has committed, and only that."""

import pytest

from endive import simulate

L_MS = 10.0


def loser_of_two(**commit):
    """The second of two appends submitted at once, as a row; it commits at its second attempt."""
    config = {
        "simulation": {"duration_ms": 10_000.0},
        "storage": {"provider": "constant", "latency_ms": L_MS},
        "catalog": {"type": "instant", "latency_ms": L_MS},
        "commit": commit,
        "transaction": {"retry_backoff": {"enabled": False}},
        "source": [
            {
                "name": name,
                "arrivals": {"kind": "periodic", "period_ms": 60_000.0},
                "runtime": {"distribution": "fixed", "ms": 0.0},
            }
            for name in ("first", "second")
        ],
    }
    return simulate(config, engine="reference").transactions.to_pylist()[1]


@pytest.mark.parametrize(("own_manifest", "deleted_manifests"), [("once", 0), ("each_attempt", 1)])
def test_a_manifest_written_again_by_each_attempt_is_deleted_for_the_lost_one(own_manifest, deleted_manifests):
    loser = loser_of_two(own_manifest=own_manifest)

    assert ("committed", 2, 1, deleted_manifests) == (
        loser["status"],
        loser["attempts"],
        loser["requests_manifest_list_delete"],
        loser["requests_manifest_delete"],
    )
