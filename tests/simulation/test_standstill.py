"""A closed loop in which nothing takes time is refused by both engines; clients in step are not."""

import pytest

from endive import Simulation
from endive.errors import EngineError


def closed(*, clients: int, runtime_ms: float, think_ms: float = 0.0):
    """Clients whose txns take their runtime and nothing else."""
    return {
        "simulation": {"duration_ms": 1_500.0},
        "storage": {"provider": "constant", "latency_ms": 0.0},
        "catalog": {"type": "instant", "latency_ms": 0.0, "scope": "table", "num_tables": 1},
        "transaction": {"runtime": {"distribution": "fixed", "ms": runtime_ms}},
        "source": [{"name": "loop", "arrivals": {"kind": "closed", "clients": clients, "think_ms": think_ms}}],
    }


@pytest.mark.lengthy
def test_a_loop_in_which_nothing_takes_time_is_refused(engine):
    with pytest.raises(EngineError, match="the clock stands still at 0 ms") as refused:
        Simulation(closed(clients=2, runtime_ms=0.0)).run(engine=engine)
    assert "a runtime or a think time" in str(refused.value)


def test_a_think_time_is_enough_to_end(engine):
    result = Simulation(closed(clients=2, runtime_ms=0.0, think_ms=1.0)).run(engine=engine)
    assert result.statistics.n_txns == 2 * 1_500


def test_many_clients_in_step_are_no_standstill():
    result = Simulation(closed(clients=25_000, runtime_ms=1_000.0)).run()
    ends = result.transactions.column("end_ms").drop_null().unique().to_pylist()
    assert ends == [1_000.0]
