"""Runs of the configurations under ``data/claims``, each with the command that repeats it."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np

from endive.config import load_simulation_config
from endive.results import SimulationResult
from endive.simulation import simulate

FOLDER: Final = "verification/suites/data/claims"
_COLUMNS: Final = (
    "source",
    "status",
    "reason",
    "submit_ms",
    "end_ms",
    "attempts",
    "commit_latency_ms",
    "total_latency_ms",
    "history_lists",
    "phase_history_ms",
    "phase_backoff_ms",
    "append_physical_failure",
    "append_physical_success",
    "append_logical_conflict",
    "requests_metadata_read",
    "requests_metadata_write",
    "requests_manifest_list_read",
    "requests_manifest_list_write",
    "requests_manifest_read",
    "requests_manifest_write",
)


class Play:
    """One run: its rows by source, and its command."""

    def __init__(self, name: str, overrides: tuple[str, ...], result: SimulationResult) -> None:
        self.result = result
        self.command = " ".join(
            ["endive run", f"{FOLDER}/{name}.toml", *(f"--set '{override}'" for override in overrides)]
        )
        table = result.transactions.select(list(_COLUMNS))
        self._columns = {name: np.array(table[name].to_pylist(), dtype=object) for name in _COLUMNS}

    def of(self, source: str, column: str, *, status: str | None = None) -> Any:
        """A column of a source's txns that ended, in the order in which they did."""
        mine = (self._columns["source"] == source) & (self._columns["status"] != "in_flight")
        if status is not None:
            mine &= self._columns["status"] == status
        values = self._columns[column][mine]
        return values if column in ("source", "status", "reason") else values.astype(np.float64)

    def only(self, source: str, column: str) -> Any:
        """The value of the only txn of a source."""
        values = self.of(source, column)
        assert len(values) == 1, f"{source} has {len(values)} txns"
        return values[0]

    def share(self, source: str, status: str) -> float:
        """Share of a source's txns that ended so."""
        return float(np.mean(self.of(source, "status") == status))

    def first_attempts(self, source: str) -> float:
        """Share of a source's committed txns that needed one attempt."""
        return float(np.mean(self.of(source, "attempts", status="committed") == 1.0))


@lru_cache(maxsize=64)
def play(name: str, *overrides: str) -> Play:
    """Run a configuration with some keys changed; runs are kept, several rows may speak of one."""
    with resources.as_file(resources.files("verification.suites").joinpath("data/claims", f"{name}.toml")) as path:
        config = load_simulation_config(Path(path), list(overrides))
    return Play(name, overrides, simulate(config))
