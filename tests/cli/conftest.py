"""The command line as a user sees it, with a simulation whose rows are made by hand."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner

import endive.simulation.knowledge  # what answers ask of it beside the simulation that is replaced
from endive.answers import replicate
from endive.cli.main import app
from endive.results import Provenance, RowSink, SimulationResult, columns_of
from endive.results import schema as s
from endive.vocabulary import (
    ABORTED,
    COMMITTED,
    FAST_APPEND,
    NO_REASON,
    RETRIES_EXHAUSTED,
    VALIDATED_OVERWRITE,
)


class HandMadeSimulation:
    """Two committed txns and an exhausted one, whatever the configuration; or a failure, if there is one."""

    failure: BaseException | None = None
    runs: ClassVar[list[dict[str, Any]]]

    def __init__(self, config: Any) -> None:
        self._config = config

    def run(
        self, *, sink: RowSink, engine: str = "auto", progress: Any = None, seed: int | None = None
    ) -> SimulationResult:
        self.runs.append({"engine": engine, "progress": progress, "seed": self._config.simulation.seed})
        provenance = Provenance(
            config_hash=self._config.config_hash(), seed=self._config.simulation.seed, engine="reference"
        )
        sink.start(provenance)
        if self.failure is not None:
            raise self.failure
        rows = np.zeros((3, s.N_ROW), np.int64)
        place = s.ROW_FIELDS.index
        rows[:, place("txn_id")] = range(3)
        rows[:, place("client")] = s.NONE
        rows[:, place("kind")] = (FAST_APPEND, FAST_APPEND, VALIDATED_OVERWRITE)
        rows[:, place("status")] = (COMMITTED, COMMITTED, ABORTED)
        rows[:, place("reason")] = (NO_REASON, NO_REASON, RETRIES_EXHAUSTED)
        rows[:, place("submit_us")] = 4_000_000
        rows[:, place("commit_start_us")] = 5_000_000
        rows[:, place("end_us")] = (5_200_000, 5_400_000, 6_000_000)
        rows[:, place("attempts")] = (1, 2, 5)
        rows[:, place("phase_commit_us")] = (150_000, 350_000, 1_000_000)
        rows[:, place("phase_metadata_us")] = (50_000, 50_000, 0)
        rows[:, place("phase_runtime_us")] = 1_000_000
        rows[:, place("requests_catalog_cas")] = (1, 2, 5)
        rows[:, place("bytes_written")] = 1_500
        sink.add(columns_of(rows, np.empty(0, np.int64)))
        return sink.finish()


@pytest.fixture
def simulation(monkeypatch: pytest.MonkeyPatch) -> type[HandMadeSimulation]:
    """What ``endive run`` finds in place of the simulation; its ``failure`` and ``runs`` are the test's."""

    class Fresh(HandMadeSimulation):
        pass

    Fresh.runs = []

    module = ModuleType("endive.simulation")
    module.Simulation = Fresh  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "endive.simulation", module)
    monkeypatch.setattr(replicate, "_simulation_of", Fresh)  # it keeps simulations, also those of other tests
    return Fresh


@pytest.fixture
def config_path(tmp_path: Path) -> Path:
    """A run of 20 s with a window from 2 to 18 s."""
    path = tmp_path / "study.toml"
    path.write_text("[simulation]\nduration_ms = 20_000\nwarmup_ms = 2_000\ncooldown_ms = 2_000\nseed = 5\n")
    return path


@pytest.fixture
def endive():
    """``endive("run", path, ...)``: exit code, stdout and stderr of the command."""

    def invoke(*arguments: object):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return invoke
