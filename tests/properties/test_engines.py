"""Two engines, one result: every field of every txn, on random configurations and on the golden ones.

``python -m verification.fuzz_engines`` tries the same for hours. That one changed rule would be noticed is shown in
``tests/simulation/test_engines.py``.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from tests.golden.test_golden import CONFIGURATIONS, GOLDEN
from tests.properties.delta_strategies import any_configs
from tests.properties.recording import RawRows, Row

from endive import Simulation, simulate
from endive.results import SimulationResult

ENGINES = ("reference", "compiled")


class BothSinks(RawRows):
    """Keeps the engine's own rows, and hands them on to the sink that makes the result."""

    def __init__(self, sink: Any) -> None:
        super().__init__()
        self.sink = sink

    def start(self, provenance: Any) -> None:
        self.sink.start(provenance)

    def add(self, columns: Any) -> None:
        super().add(columns)
        self.sink.add(columns)

    def finish(self, history: Any) -> Any:
        return self.sink.finish(history)


def run_on(engine: str, mapping: dict[str, Any]) -> tuple[list[tuple[Row, tuple[int, ...]]], SimulationResult]:
    """Rows and table ids as the engine handed them over, in its order, and the result."""
    simulation = Simulation(mapping)
    sink = BothSinks(simulation.new_sink())
    result = simulation.run(engine=engine, sink=sink)  # type: ignore[arg-type]
    return list(zip(sink.rows, sink.tables, strict=True)), result


@pytest.mark.lengthy
@given(mapping=any_configs())
def test_both_engines_give_every_txn_the_same_row_and_the_run_the_same_table_and_summary(mapping):
    (reference, our_result), (compiled, their_result) = (run_on(engine, mapping) for engine in ENGINES)

    assert len(reference) == len(compiled)
    for (ours, our_tables), (theirs, their_tables) in zip(reference, compiled, strict=True):
        differing = {field: (ours[field], theirs[field]) for field in ours if ours[field] != theirs[field]}
        assert {} == differing
        assert our_tables == their_tables
    assert ENGINES == (our_result.provenance.engine, their_result.provenance.engine)
    assert our_result.fingerprint == their_result.fingerprint
    assert our_result.transactions.equals(their_result.transactions)
    assert our_result.summary() == their_result.summary()


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_reference_engine_gives_a_golden_configuration_its_fingerprint_too(name):
    """``tests/golden`` holds the compiled engine to it."""
    assert GOLDEN[name]["fingerprint"] == simulate(CONFIGURATIONS[name], engine="reference").fingerprint


@pytest.mark.parametrize("commit_path", ["table", "transaction", "pyiceberg"])
@pytest.mark.parametrize("kind", ["fast_append", "merge_append", "rewrite_files"])
def test_both_engines_draw_long_runs_of_requests_alike_for_sources_of_one_kind(kind, commit_path):
    """Eight lists one after another are drawn as one sum; a fast append reads so many in a transaction only."""
    arrivals = {"kind": "jobs", "jobs": 5, "period_ms": 500.0, "phase": "spread"}
    source = {"name": "s0", "arrivals": arrivals, "runtime": {"distribution": "fixed", "ms": 1.0}}
    source |= {"operation_types": {kind: 1.0}, "commit_path": commit_path}
    mapping = {"simulation": {"duration_ms": 20_000.0, "seed": 1}, "source": [source]}

    (reference, ours), (compiled, theirs) = (run_on(engine, mapping) for engine in ENGINES)

    assert len(reference) == len(compiled)
    assert ours.fingerprint == theirs.fingerprint
