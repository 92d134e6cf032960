"""Two engines, one result: which of them runs, and that a difference would be noticed.

Whatever the configuration, the engines agree (``tests/properties/test_engines.py``); here are the cases chance rarely
finds, and the controls: with one rule changed in one engine only, the comparison must fail.
"""

from __future__ import annotations

import heapq
import tomllib
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import Phase
from tests.simulation.test_own_parts import CountingStore, EverySecondTxn, ForgivingCatalog, ManyFilesAppend, Sawtooth

from endive import Simulation, simulate
from endive.catalog import InstantCatalog
from endive.distributions import LognormalLatency
from endive.errors import EngineError
from endive.formats.iceberg import plan as attempt_plan
from endive.results import SimulationResult
from endive.results.provenance import Provenance
from endive.simulation import reference as reference_engine
from endive.simulation.build import OwnParts, build_parts
from endive.simulation.compiled import engine as compiled_engine
from endive.simulation.compiled.engine import CompiledEngine
from endive.simulation.simulation import choose_engine
from endive.transaction import retry
from endive.workload import Choice, Workload
from verification import fuzz_engines

Config = dict[str, Any]

# Some of everything: every kind of txn, tables to choose from, real conflicts, waiting, an open and a closed source.
BUSY: Config = {
    "simulation": {"duration_ms": 30_000.0, "seed": 3, "warmup_ms": 0.0, "cooldown_ms": 0.0},
    "storage": {"provider": "s3"},
    "catalog": {"type": "instant", "latency_ms": 2.0, "num_tables": 3, "table_metadata_inlined": False},
    "transaction": {
        "runtime": {"mean": 300.0, "sigma": 1.0, "min": 20.0},
        "operation_types": {"fast_append": 4.0, "merge_append": 1.0, "validated_overwrite": 2.0, "rewrite_files": 1.0},
        "real_conflict_probability": 0.1,
        "tables": {"count": 2, "write_fraction": 0.5},
        "retry": 3,
        "retry_backoff": {"policy": "exponential", "base_ms": 20.0, "jitter": 0.5},
    },
    "table": {"initial_manifests": 90},
    "source": [
        {"name": "stream", "arrivals": {"kind": "poisson", "per_s": 6.0}},
        {"name": "clients", "arrivals": {"kind": "closed", "clients": 3, "think_ms": 50.0}},
    ],
}
# Every latency, pause and arrival is a whole number of milliseconds: hundreds of events coincide.
COARSE: Config = {
    "simulation": {"duration_ms": 3_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0},
    "storage": {"provider": "constant", "latency_ms": 2.0},
    "catalog": {"type": "instant", "latency_ms": 2.0},
    "commit": {"protocol": "spec"},
    "transaction": {
        "runtime": {"distribution": "fixed", "ms": 3.0},
        "operation_types": {"fast_append": 1.0, "validated_overwrite": 1.0},
        "retry": 5,
        "retry_backoff": {"policy": "none"},
    },
    "source": [
        {"name": "ticks", "arrivals": {"kind": "fixed", "ms": 20.0}},
        {"name": "clients", "arrivals": {"kind": "closed", "clients": 6, "think_ms": 1.0}},
        {"name": "others", "arrivals": {"kind": "periodic", "period_ms": 20.0, "offset_ms": 40.0}},
    ],
}
SERVICE: Config = {"type": "service", "latency_ms": 2.0}
CATALOGS: dict[str, Config] = {
    "instant": COARSE["catalog"],
    "cas": {"type": "cas"},
    "append": {"type": "append", "compaction_max_entries": 3},
    "append_design": {"type": "append", "append_preset": "append_design", "compaction_threshold_bytes": 450},
    "queue": {**SERVICE, "service": {"workers": 4, "time": {"distribution": "fixed", "ms": 1.0}}},
    "rest": {**SERVICE, "service": {"flavour": "rest", "server_retries": 2}},
}


def run_compiled(config: Config) -> tuple[CompiledEngine, SimulationResult]:
    """The engine itself, after its run, and the result."""
    simulation = Simulation(config)
    sink = simulation.new_sink()
    sink.start(Provenance(config_hash=simulation.config.config_hash(), seed=1, engine="compiled"))
    engine = CompiledEngine(build_parts(simulation.config, simulation.config.simulation.seed, OwnParts()), sink)
    engine.run()
    return engine, sink.finish()


def assert_equal(expected: SimulationResult, actual: SimulationResult) -> None:
    assert fuzz_engines.first_difference(expected.transactions, actual.transactions) is None
    assert expected.fingerprint == actual.fingerprint
    assert expected.transactions.equals(actual.transactions)
    assert expected.summary() == actual.summary()


# ---- which engine runs ---------------------------------------------------------------------------------------


class OwnWorkload(Workload):
    """The same as Endive's, but not Endive's."""


OWN_PARTS: dict[str, dict[str, Any]] = {
    "storage provider": {"storage": CountingStore()},
    "catalog": {"catalog": ForgivingCatalog},
    "workload": {"workload": OwnWorkload},
    "conflict detector": {"conflict_detector": EverySecondTxn()},
    "transaction type": {"transaction_types": {"fast_append": ManyFilesAppend}},
}


def choice(engine: str, *, is_traced: bool = False, **own: Any) -> tuple[str, str]:
    config = Simulation(BUSY).config
    return choose_engine(engine, build_parts(config, 1, OwnParts(**own)), is_traced=is_traced)


def test_what_is_all_built_in_is_compiled():
    assert ("compiled", "every part is built in") == choice("auto")
    assert ("compiled", "as asked") == choice("compiled")
    assert ("reference", "as asked") == choice("reference")
    assert "compiled" == simulate(COARSE).provenance.engine


@pytest.mark.parametrize("part", OWN_PARTS)
def test_a_part_of_the_users_own_runs_on_the_reference_engine_and_the_choice_says_why(part):
    why = f"the {part} is not one of Endive's own, and only the reference engine runs yours"

    assert ("reference", why) == choice("auto", **OWN_PARTS[part])
    with pytest.raises(EngineError) as error:
        choice("compiled", **OWN_PARTS[part])
    assert f"engine = 'compiled' cannot run this simulation: {why}. Choose auto or reference." == str(error.value)


def test_only_the_reference_engine_writes_down_every_request():
    why = "only the reference engine writes down every request"

    assert ("reference", why) == choice("auto", is_traced=True)
    with pytest.raises(EngineError, match=f"cannot run this simulation: {why}. Choose auto or reference."):
        Simulation(BUSY).run(engine="compiled", trace=[])


class Punctual(LognormalLatency):
    """One of Endive's families, drawn from in a way of the user's own."""

    def sample_us(self, key: int, counter: int, size_bytes: int = 0) -> int:
        return 5_000


@pytest.mark.parametrize("latency", [Sawtooth(), Punctual(1.0, 0.5)], ids=lambda latency: type(latency).__name__)
def test_a_built_in_catalog_with_a_latency_of_the_users_own_runs_on_the_reference_engine(latency):
    def catalog(storage: Any, state: Any) -> InstantCatalog:
        return InstantCatalog(state, latency)

    assert "reference" == choice("auto", catalog=catalog)[0]
    assert "reference" == Simulation(COARSE, catalog=catalog).run().provenance.engine


# ---- equal, where chance rarely looks ------------------------------------------------------------------------


@pytest.mark.lengthy
@pytest.mark.parametrize("protocol", ["spec", "iceberg"])
@pytest.mark.parametrize("catalog", CATALOGS)
def test_the_engines_agree_on_who_comes_first_when_everything_coincides(catalog, protocol):
    simulation = Simulation({**COARSE, "catalog": CATALOGS[catalog], "commit": {"protocol": protocol}})
    requests: list[Any] = []
    reference = simulation.run(engine="reference", trace=requests)

    assert_equal(reference, simulation.run(engine="compiled"))
    sent = {(request[0], request[1]) for request in requests}  # when, and by whom
    senders = Counter(now_us for now_us, _ in sent)
    assert {0} == {now_us % 1_000 for now_us in senders}
    assert sum(count > 1 for count in senders.values()) > 1_400


FLOOD: Config = {
    **COARSE,
    "transaction": {"runtime": {"distribution": "fixed", "ms": 2_500.0}},
    "source": [{"name": "flood", "arrivals": {"kind": "fixed", "ms": 1.0}}],
}


@pytest.mark.parametrize(("config", "places", "times"), [(FLOOD, compiled_engine.PLACES_MIN, 2), (BUSY, 1, 8)])
def test_more_txns_in_flight_than_there_were_places_at_first(config, places, times, monkeypatch):
    monkeypatch.setattr(compiled_engine, "PLACES_AT_FIRST", places)
    engine, result = run_compiled(config)

    assert engine.in_flight_max > times * places  # so places were added more than once
    assert_equal(simulate(config, engine="reference"), result)


def test_nothing_depends_on_how_rows_are_batched_or_turns_are_cut(monkeypatch):
    expected = simulate(BUSY, engine="reference")
    monkeypatch.setattr(compiled_engine, "ROWS_PER_BATCH", 7)
    monkeypatch.setattr(compiled_engine, "EVENTS_PER_TURN", 3)
    monkeypatch.setattr(reference_engine, "ROWS_PER_BATCH", 11)

    assert_equal(expected, simulate(BUSY, engine="compiled"))
    assert_equal(expected, simulate(BUSY, engine="reference"))


def test_what_ran_before_leaves_nothing_behind_in_the_compiled_engine():
    first = simulate(BUSY, engine="compiled")
    simulate(COARSE, engine="compiled")
    simulate(BUSY, seed=99, engine="compiled")

    assert_equal(first, simulate(BUSY, engine="compiled"))


def test_progress_ends_at_the_end(engine, monkeypatch):
    monkeypatch.setattr(compiled_engine, "EVENTS_PER_TURN", 100)
    monkeypatch.setattr(reference_engine, "ROWS_PER_BATCH", 100)
    reports: list[tuple[int, int]] = []
    result = Simulation(BUSY).run(engine=engine, progress=lambda now_us, txns: reports.append((now_us, txns)))

    assert (30_000_000, result.transactions.num_rows) == reports[-1]
    assert len(reports) > 3
    assert reports == sorted(reports)


# ---- controls: a difference is noticed -----------------------------------------------------------------------


class TiesReversed(tuple[Any, ...]):
    """An event of the reference engine's queue: arrivals first as ever, but of two txns the younger comes first."""

    def __lt__(self, other: Any) -> bool:
        (ours_us, ours, _), (theirs_us, theirs, _) = self, other
        if ours_us != theirs_us or min(ours, theirs) < 0:
            return (ours_us, ours) < (theirs_us, theirs)
        return bool(ours > theirs)


def reverse_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    def heapify(events: list[Any]) -> None:
        events[:] = [TiesReversed(event) for event in events]
        heapq.heapify(events)

    monkeypatch.setattr(reference_engine, "heapify", heapify)
    for name in ("heappush", "heapreplace"):
        put: Callable[..., Any] = getattr(heapq, name)
        monkeypatch.setattr(reference_engine, name, lambda events, event, put=put: put(events, TiesReversed(event)))


def stop_one_retry_early(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = retry.reason_to_stop
    monkeypatch.setattr(retry, "reason_to_stop", lambda attempt, *rest: asked(attempt + 1, *rest))


def plan_one_manifest_more(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = attempt_plan.plan_attempt

    def plan_more(settings: Any, operation: Any, situation: Any, cost: Any) -> None:
        planned(settings, operation, situation, cost)
        cost.validate_reads += cost.history_lists > 0

    monkeypatch.setattr(attempt_plan, "plan_attempt", plan_more)


def leave_one_manifest_more(monkeypatch: pytest.MonkeyPatch) -> None:
    change = attempt_plan.added_manifests
    monkeypatch.setattr(attempt_plan, "added_manifests", lambda *known: change(*known) + 1)


def list_tables_in_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which tables are read and written stays the same; only their order in the row changes."""
    tables = Choice.tables

    def turned(self: Choice, key: int) -> tuple[tuple[int, ...], int]:
        chosen, written = tables(self, key)
        return chosen[:written] + chosen[written:][::-1], written

    monkeypatch.setattr(Choice, "tables", turned)


def set_constant(path: str, value: object) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda monkeypatch: monkeypatch.setattr(path, value)


THREE_READ = {**BUSY, "transaction": {**BUSY["transaction"], "tables": {"count": 3, "write_fraction": 0.3}}}
OPEN = {**COARSE, "source": [source for source in COARSE["source"] if source["arrivals"]["kind"] != "closed"]}
MUTATIONS: dict[str, tuple[Config, Callable[[pytest.MonkeyPatch], None]]] = {
    "events of one instant in reverse": (OPEN, reverse_ties),
    "one retry fewer": (BUSY, stop_one_retry_early),
    "one manifest more to validate": (BUSY, plan_one_manifest_more),
    "one manifest more after each commit": (BUSY, leave_one_manifest_more),
    "tables in another order": (THREE_READ, list_tables_in_another_order),
    "a draw under another name": (BUSY, set_constant("endive.transaction.transaction.BACKOFF", 63)),
    "nobody in each other's way": (
        {**BUSY, "storage": {"provider": "s3x"}, "catalog": {"type": "cas", "num_tables": 3}},
        set_constant("endive.storage.contention.meet_crowd", lambda *_: None),
    ),
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_rule_changed_in_one_engine_only_is_noticed(mutation, monkeypatch):
    config, mutate = MUTATIONS[mutation]
    compiled = simulate(config, engine="compiled")  # first, so that the change is never compiled
    assert simulate(config, engine="reference").fingerprint == compiled.fingerprint
    with monkeypatch.context() as changed:
        mutate(changed)
        reference = simulate(config, engine="reference")

    assert reference.fingerprint != compiled.fingerprint
    assert not reference.transactions.equals(compiled.transactions)
    assert "txn" in str(fuzz_engines.first_difference(reference.transactions, compiled.transactions))


def test_the_first_difference_names_txn_and_column():
    ours = simulate(COARSE).transactions
    count = ours.num_rows
    attempts = ours.column("attempts").to_pylist()
    attempts[7] += 1
    field = ours.schema.field("attempts")
    theirs = ours.set_column(ours.column_names.index("attempts"), field, pa.array(attempts, field.type))

    said = fuzz_engines.first_difference(ours, theirs)

    assert None is fuzz_engines.first_difference(ours, ours)
    assert said == (
        f"txn 7, attempts: {attempts[7] - 1} (reference) and {attempts[7]} (compiled). "
        f"It differs in attempts; 1 txns differ, of {count} txns (reference) and {count} (compiled)"
    )
    assert fuzz_engines.first_difference(ours[:9], ours) == (
        f"9 txns (reference) and {count} (compiled); the first 9 are equal"
    )


@pytest.mark.lengthy
def test_the_long_run_finds_a_changed_rule_and_leaves_a_configuration_behind(monkeypatch, tmp_path):
    simulate(COARSE, engine="compiled")
    monkeypatch.setattr(fuzz_engines, "PHASES", (Phase.generate,))  # the smallest one is not looked for
    search = fuzz_engines.Search(configurations=200, minutes=None, folder=tmp_path)
    with monkeypatch.context() as changed:
        stop_one_retry_early(changed)
        search.run(first_seed=1)
        path = search.write_mismatch()
        assert 1 == fuzz_engines.replay(path)

    assert 0 == fuzz_engines.replay(path)
    assert search.failed is not None
    assert search.failed.config == tomllib.loads(path.read_text())
    assert ["mismatch.toml"] == [file.name for file in tmp_path.iterdir()]
