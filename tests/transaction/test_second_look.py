"""Looks between load and commit: an epoch's refresh."""

from tests.transaction.stage import LOOKING, REFRESHING, append, play

from endive import simulate

POINTER = {"catalog": {"type": "service", "service": {"flavour": "pointer"}, "latency_ms": 1.0}}


def test_an_epoch_refreshes_and_its_first_attempt_then_reads_no_metadata():
    plain = play("fast_append", {(1, REFRESHING): append(2)}, **POINTER)
    epoch = play("fast_append", {(0, LOOKING): append(2)}, transaction={"commit_path": "epoch"}, **POINTER)

    assert 1 == plain.attempt(1)["metadata.read"]
    assert 0 == epoch.attempt(1)["metadata.read"]
    assert (2, 0) == (plain.row["n_behind_first"], epoch.row["n_behind_first"])
    assert plain.row["requests_catalog_read"] + 1 == epoch.row["requests_catalog_read"]
    assert plain.row["requests_metadata_read"] == epoch.row["requests_metadata_read"]


def test_both_engines_look_alike():
    config = {
        "simulation": {"duration_ms": 60_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "constant", "latency_ms": 5.0},
        "source": [
            {
                "name": "stream",
                "arrivals": {"kind": "jobs", "jobs": 3, "period_ms": 1_000.0},
                "runtime": "100ms",
                "keeps_table": True,
                "commit_path": "epoch",
            }
        ],
        **POINTER,
    }
    reference, compiled = (simulate(config, seed=3, engine=engine) for engine in ("reference", "compiled"))

    assert reference.transactions.equals(compiled.transactions)
