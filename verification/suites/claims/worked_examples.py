"""The figures that must come out: worked examples of the documents, replayed.

Claims that are true of some settings only are in ``claims``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from endive.simulation import simulate
from endive.verification.suite import Check
from verification.suites.claims.playing import play

REALLY: Final = (
    "transaction.real_conflict_probability=1.0",
    "transaction.conflicting_manifests={distribution='fixed', value=3}",
)
ALONE: Final = "source.rival.stop_ms=1"
# The rival's entry moves the end of the list too, and the append that finds it moved is not in the formula: it is free.
ML_PLUS: Final = (
    "transaction.manifest_list_mode=append",
    "storage.objects.manifest_list.append={distribution='fixed', ms=0.0}",
)
STEP_MS: Final = 10.0


def figure_checks() -> Iterator[Check]:
    """Every worked example."""
    yield from _costs()
    yield from _behind()
    yield from _retry_requests()
    yield from _append_examples()


def _costs() -> Iterator[Check]:
    """What a conflict costs: the latency beside a rival less the latency alone."""
    for name, expected_ms, overrides in (
        ("false conflict, lists rewritten", 112.0, ()),
        ("false conflict, ML+", 12.0, ML_PLUS),
        ("real conflict of 3 manifests", 202.0, REALLY),
    ):
        beside, alone = play("costs", *overrides), play("costs", *overrides, ALONE)
        cost_ms = beside.only("txn", "commit_latency_ms") - alone.only("txn", "commit_latency_ms")
        yield Check.exact(
            "experiment plan: cost of a conflict, constant latencies",
            {"case": name},
            expected=expected_ms,
            actual=round(cost_ms, 6),
            unit="ms",
        )


def _behind() -> Iterator[Check]:
    """150 s behind at 25 commits per second; the rivals stop after the first retry has read."""
    run = play("behind")
    lists, history_ms = run.only("behind", "history_lists"), run.only("behind", "phase_history_ms")
    for name, expected, actual, unit in (
        ("lists read by both retries: 3,750 and 705", 4_455.0, lists, "lists"),
        ("batches of four: 938 and 177", 1_115.0, history_ms / 30.0, "batches"),
        ("attempts", 3.0, run.only("behind", "attempts"), "attempts"),
    ):
        yield Check.exact(f"internals: {name}", {}, expected=expected, actual=actual, unit=unit)
    yield Check.relative(
        "internals: commit latency, about 33.6 s",
        {},
        expected=33.6,
        actual=run.only("behind", "commit_latency_ms") / 1_000.0,
        allowed=0.005,
        unit="s",
    )


def _retry_requests() -> Iterator[Check]:
    """Requests of one retry, five commits behind: those of the run less those of a txn alone."""
    expected = {"fast_append": (1, 1, 1, 0, 0), "merge_append": (1, 1, 1, 7, 7), "validated_overwrite": (1, 6, 1, 0, 0)}
    columns = ("metadata_read", "manifest_list_read", "manifest_list_write", "manifest_read", "manifest_write")
    for kind, counts in expected.items():
        operation = f"source.txn.operation_types={{{kind}=1.0}}"
        beside = play("retry_requests", operation)
        alone = play("retry_requests", operation, "source.rivals.stop_ms=1")
        for column, count in zip(columns, counts, strict=True):
            name = f"requests_{column}"
            yield Check.exact(
                "fidelity report, 2.1: requests of a retry, N = 5",
                {"operation": kind, "requests": column.replace("_", " ")},
                expected=float(count),
                actual=beside.only("txn", name) - alone.only("txn", name),
            )


# ---- the append design's two examples ----------------------------------------------------------------


def _append_examples() -> Iterator[Check]:
    at_once, between = ((0.0, 0), (0.0, 1)), ((0.0, 0), (12.0, 0))
    log = {"type": "append", "append_preset": "append_design"}
    for example, column, expected, row in (
        ("1, compare-and-swap", "attempts", 2, _second(at_once, {"type": "cas", "num_tables": 2})),
        ("1, compare-and-swap", "requests_manifest_list_read", 1, _second(at_once, {"type": "cas", "num_tables": 2})),
        ("1, log", "append_physical_failure", 1, _second(at_once, log | {"num_tables": 2})),
        ("1, log", "append_logical_conflict", 0, _second(at_once, log | {"num_tables": 2})),
        ("1, log", "attempts", 1, _second(at_once, log | {"num_tables": 2})),
        ("2, ML+", "append_logical_conflict", 1, _second(between, log | {"num_tables": 1}, is_ml_plus=True)),
        ("2, ML+", "attempts", 2, _second(between, log | {"num_tables": 1}, is_ml_plus=True)),
        ("2, ML+", "requests_manifest_list_append", 1, _second(between, log | {"num_tables": 1}, is_ml_plus=True)),
    ):
        yield Check.exact(
            "append design: its two examples, the second txn",
            {"example": example, "counter": column},
            expected=expected,
            actual=row[column],
        )


def _second(
    submissions: tuple[tuple[float, int], ...], catalog: dict[str, Any], is_ml_plus: bool = False
) -> dict[str, Any]:
    """The second of two appends, each submitted at its time to its table, without work of their own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.csv"
        lines = [f"{submit_ms},fast_append,0,{table}" for submit_ms, table in submissions]
        path.write_text("\n".join(["submit_ms,kind,runtime_ms,table", *lines]), encoding="utf-8")
        config = {
            "simulation": {"duration_ms": 10_000.0},
            "storage": {"provider": "constant", "latency_ms": STEP_MS},
            "catalog": catalog,
            "commit": {"protocol": "merge", "history": "none"},
            "transaction": {"manifest_list_mode": "append" if is_ml_plus else "rewrite"},
            "source": [{"name": "txns", "arrivals": {"kind": "trace", "path": str(path)}}],
        }
        rows: list[dict[str, Any]] = simulate(config).transactions.to_pylist()
    return max(rows, key=lambda row: row["txn_id"])
