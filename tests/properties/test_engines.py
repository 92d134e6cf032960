"""Two engines, one result: every field of every txn, on random configurations and on the golden ones.

``python -m verification.fuzz_engines`` tries the same for hours. That one changed rule would be noticed is shown in
``tests/simulation/test_engines.py``.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from tests.golden.configurations import CONFIGURATIONS
from tests.properties.delta_strategies import any_configs
from tests.properties.recording import RawRows, Row

from endive import Simulation, simulate


def rows_on(engine: str, mapping: dict[str, Any], seed: int | None = None) -> list[tuple[Row, tuple[int, ...]]]:
    """Rows and table ids as the engine handed them over, in the order of txn ids."""
    sink = RawRows()
    Simulation(mapping).run(seed, engine=engine, sink=sink)  # type: ignore[arg-type]
    found = zip(sink.rows, sink.tables, strict=True)
    return sorted(found, key=lambda row_and_tables: row_and_tables[0]["txn_id"])


@given(mapping=any_configs())
def test_both_engines_give_every_txn_the_same_row(mapping):
    reference, compiled = rows_on("reference", mapping), rows_on("compiled", mapping)

    assert len(reference) == len(compiled)
    for (ours, our_tables), (theirs, their_tables) in zip(reference, compiled, strict=True):
        differing = {field: (ours[field], theirs[field]) for field in ours if ours[field] != theirs[field]}
        assert {} == differing
        assert our_tables == their_tables


@settings(max_examples=40)
@given(mapping=any_configs())
def test_both_engines_give_the_same_table_and_the_same_summary(mapping):
    reference, compiled = (simulate(mapping, engine=engine) for engine in ("reference", "compiled"))

    assert ["reference", "compiled"] == [result.provenance.engine for result in (reference, compiled)]
    assert reference.fingerprint == compiled.fingerprint
    assert reference.transactions.equals(compiled.transactions)
    assert reference.summary() == compiled.summary()


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_both_engines_give_a_golden_configuration_the_same_fingerprint(name):
    config = CONFIGURATIONS[name]

    assert simulate(config, engine="reference").fingerprint == simulate(config, engine="compiled").fingerprint


@pytest.mark.parametrize("name", ["append-log-s3x", "overlap-and-restarts"])
def test_the_comparison_sees_another_seed(name):
    """A control: an equality that cannot fail proves nothing."""
    config = CONFIGURATIONS[name]

    assert rows_on("reference", config, seed=1) != rows_on("compiled", config, seed=2)
    assert (
        simulate(config, seed=1, engine="reference").fingerprint
        != simulate(config, seed=2, engine="compiled").fingerprint
    )


def test_the_comparison_sees_a_microsecond():
    config = CONFIGURATIONS["ties"]
    other = {**config, "storage": {**config["storage"], "latency_ms": 2.001}}

    assert simulate(config, engine="reference").fingerprint != simulate(other, engine="compiled").fingerprint
