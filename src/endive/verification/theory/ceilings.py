"""Ceilings of commits per second for constant latency, every protocol and mode, and the saturated engine beside them.

The derivation is in the model's documents (time and messages).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from endive.simulation import Simulation
from endive.verification.suite import Check

L_MS: Final = 200.0
ALLOWED: Final = 0.03
CLIENTS: Final = 300
FEWER_CLIENTS: Final = 100  # of merge, whose losers read history: every attempt costs the engine more
COMMITS: Final = {"merge, read first": {"protocol": "merge", "repair": "after_refresh"}}
DURATION_MS: Final = 3_600_000.0
WARMUP_MS: Final = 600_000.0  # the clients begin together, and those of pyiceberg take long to spread
PAUSE_IN_L: Final = 10.0  # refused attempts wait anything up to it, or they would circle together
RUNTIME_IN_L: Final = 20.0  # no first attempt of spec or merge survives it in a saturated system
READS_LAST_IN_L: Final = 1  # merge as it is repairs before it reads its base: there is nothing between base and swap

# W in units of L: half a round trip back, the requests between base and swap, half a round trip there.
WINDOWS: Final[Mapping[str, Mapping[str, int]]] = {
    "plain": {"iceberg": 5, "pyiceberg": 9, "spec": 4, "merge, read first": 5},
    "inlined": {"iceberg": 3, "pyiceberg": 5, "spec": 3, "merge, read first": 4},
    "ML+": {"iceberg": 4, "pyiceberg": 8, "spec": 3, "merge, read first": 3},
    "ML+ inlined": {"iceberg": 2, "pyiceberg": 4, "spec": 2, "merge, read first": 2},
}
CATALOGS: Final[Mapping[str, tuple[Mapping[str, Any], int]]] = {
    "cas": ({"type": "cas", "table_metadata_inlined": False}, 5),
    "JDBC": ({"type": "service", "latency_ms": L_MS}, 6),
    "REST": ({"type": "service", "latency_ms": L_MS, "service": {"flavour": "rest"}}, 4),
    "REST, rebasing": (
        {"type": "service", "latency_ms": L_MS, "service": {"flavour": "rest", "server_retries": 100}},
        1,
    ),
}


def ceiling_checks(*, is_quick: bool) -> Iterator[Check]:
    """The saturated rate in units of the ceiling: never more than 1, and nearly 1."""
    for mode, windows in WINDOWS.items():
        if is_quick and mode != "inlined":
            continue
        catalog = {
            "type": "instant",
            "latency_ms": L_MS,
            "scope": "catalog",
            "table_metadata_inlined": "inlined" in mode,
        }
        for protocol, window in windows.items():
            terms = _terms(protocol) | {"manifest_list_mode": "append" if "ML+" in mode else "rewrite"}
            rate, _ = _per_l(protocol, catalog, terms)
            yield _check({"protocol": protocol, "mode": mode, "catalog": "instant"}, window, rate)
        yield _reads_last(mode, catalog)
    for name, (catalog_of, window) in CATALOGS.items():
        if not is_quick or name == "JDBC":
            rate, _ = _per_l("iceberg", catalog_of, _terms("iceberg"))
            yield _check({"protocol": "iceberg", "mode": "plain", "catalog": name}, window, rate)
    for workers in () if is_quick else (1, 2):
        rate, _ = _per_l("spec", _service(workers), {}, clients=12)
        cell: dict[str, str] = {"protocol": "spec", "mode": "inlined", "catalog": f"REST, {workers} worker(s)"}
        yield _check(cell, 2.0 / workers, rate, note="two requests a txn, L of a worker's time each")


def _reads_last(mode: str, catalog: Mapping[str, Any]) -> Check:
    """Merge in its own order, held to the rate between two commits instead of to 1/W.

    Its cycle is many windows long, so however many clients there are, the table rests after a commit until the first
    of them reads: 1/lambda on average, if lambda attempts per L are spread evenly. W + 1/lambda are between commits.
    """
    terms = _terms("iceberg") | {"runtime": {"distribution": "fixed", "ms": RUNTIME_IN_L * L_MS}}
    terms |= {"manifest_list_mode": "append" if "ML+" in mode else "rewrite"}
    rate, attempts = _per_l("merge", catalog, terms, clients=FEWER_CLIENTS)
    cell = {"protocol": "merge", "mode": mode, "catalog": "instant"}
    note = f"between two commits: W and the wait for one of {attempts:.1f} reads per L"
    return _check(cell, READS_LAST_IN_L + 1.0 / attempts, rate, note=note)


def _check(cell: Mapping[str, str], window: float, commits_per_l: float, note: str = "") -> Check:
    return Check.relative(
        "ceiling, constant latency",
        {**cell, "W in L": round(window, 3)},
        expected=1.0 / window,
        actual=commits_per_l,
        allowed=ALLOWED,
        unit="commits per L",
        note=note,
    )


def _service(workers: int) -> dict[str, Any]:
    service = {"flavour": "rest", "workers": workers, "time": {"distribution": "fixed", "ms": L_MS}}
    return {
        "type": "service",
        "latency_ms": 1.0,
        "num_tables": 1_000,
        "service": service,
        "table_metadata_inlined": True,
    }


def _terms(protocol: str) -> dict[str, Any]:
    """What keeps first attempts from winning and losers from circling together."""
    if protocol in ("spec", "merge, read first"):  # the refusal carries the base: a pause would lengthen the window
        return {"runtime": {"distribution": "fixed", "ms": RUNTIME_IN_L * L_MS}}
    return {"retry_backoff": pause_up_to(PAUSE_IN_L * L_MS)}


def _per_l(
    protocol: str, catalog: Mapping[str, Any], terms: Mapping[str, Any], clients: int = CLIENTS
) -> tuple[float, float]:
    """Commits and attempts per L of a saturated run."""
    summary = saturate(
        clients,
        {"distribution": "exponential", "mean_ms": L_MS},
        {"retry_backoff": {"enabled": False}, **terms},
        simulation={"duration_ms": WARMUP_MS + DURATION_MS, "warmup_ms": WARMUP_MS, "cooldown_ms": 0.0},
        storage={"provider": "constant", "latency_ms": L_MS},
        catalog=catalog,
        commit=COMMITS.get(protocol, {"protocol": protocol}),
    )
    commits: float = summary["committed_in_window_per_s"] * L_MS / 1_000.0
    return commits, commits * (1.0 + summary["retries_mean"])


def saturate(
    clients: int, think: Mapping[str, Any], terms: Mapping[str, Any], **sections: Mapping[str, Any]
) -> dict[str, Any]:
    """The summary of clients in a closed loop that never give up."""
    never = {"runtime": {"distribution": "fixed", "ms": 0.0}, "retry": 1_000_000, "total_timeout_ms": 0.0}
    source = {"name": "clients", "arrivals": {"kind": "closed", "clients": clients, "think_ms": think}}
    return summarize({**sections, "transaction": {**never, **terms}, "source": [source]})


def summarize(config: Mapping[str, Any]) -> dict[str, Any]:
    """The summary of a run that keeps no txn."""
    simulation = Simulation(config)
    summary: dict[str, Any] = simulation.run(sink=simulation.new_sink(keep_transactions=False)).summary()
    return summary


def pause_up_to(pause_ms: float) -> dict[str, Any]:
    """Anything up to that, at every retry."""
    return {"policy": "full_jitter", "base_ms": pause_ms, "multiplier": 1.0, "max_ms": pause_ms}
