"""Runs of the compiled engine that end badly: too many txns, no memory, an interrupt, a kill while it compiles."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.simulation.test_engines import BUSY, COARSE
from tests.waiting import PATIENCE_S

from endive import simulate
from endive.errors import EngineError
from endive.kernel_cache import LOCK_NAME
from endive.simulation.compiled import engine as compiled_engine

ROOT = Path(__file__).parents[3]


def test_a_workload_that_outruns_the_catalog_is_refused_before_memory_is(monkeypatch):
    monkeypatch.setattr(compiled_engine, "PLACES_AT_FIRST", 4)
    monkeypatch.setattr(compiled_engine, "BYTES_MAX", 14_000)

    with pytest.raises(EngineError) as error:
        simulate(COARSE, engine="compiled")

    assert (
        "8 txns are in flight at once and more are coming: 0 GiB would be needed. "
        "The workload outruns the catalog; lower its rate, its retries or the duration."
    ) == str(error.value)


def test_memory_that_is_not_there_is_an_error_that_says_what_to_do(monkeypatch):
    def no_memory(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(compiled_engine, "_grown", no_memory)

    with pytest.raises(EngineError, match=r"no memory for 16,384 txns in flight .* Lower the rate of the workload"):
        simulate(COARSE, engine="compiled")


ENDLESS = """
import signal
import sys
from endive import Simulation
from endive.results import ResultWriter

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has it ignored in what it starts in the background

simulation = Simulation({
    "simulation": {"duration_ms": 9e12},
    "storage": {"provider": "instant"},
    "catalog": {"type": "instant"},
    "transaction": {"runtime": {"distribution": "fixed", "ms": 1.0}, "inter_arrival": {"scale": 10.0}},
})
with ResultWriter(sys.argv[1]) as writer:
    sink = simulation.new_sink(writers=[writer], keep_transactions=False)
    simulation.run(engine="compiled", sink=sink, progress=lambda now_us, txns: print("running", flush=True))
"""


@pytest.mark.lengthy
def test_an_interrupt_ends_a_compiled_run_and_leaves_no_file(tmp_path):
    path = tmp_path / "transactions.parquet"
    environment, pipe = {**os.environ, "PYTHONPATH": str(ROOT / "src")}, subprocess.PIPE
    command = [sys.executable, "-c", ENDLESS, str(path)]
    process = subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None
    assert "running\n" == process.stdout.readline()
    assert [] != list(tmp_path.iterdir())

    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_S)

    assert "KeyboardInterrupt" == errors.strip().splitlines()[-1]
    assert -signal.SIGINT == process.returncode
    assert [] == list(tmp_path.iterdir())


COLD = """
import json, sys
import endive
from endive.simulation.compiled.loop import advance

fingerprint = endive.simulate(json.loads(sys.argv[1]), engine="compiled").fingerprint
print(fingerprint, sum(advance.stats.cache_hits.values()))
"""


def start_cold(cache: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", COLD, json.dumps(BUSY)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "ENDIVE_CACHE_DIR": str(cache)},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow  # compiles the engine three times: minutes
def test_a_process_killed_while_it_compiles_and_two_that_start_together_spoil_nothing(tmp_path):
    expected = simulate(BUSY, engine="compiled").fingerprint
    killed = start_cold(tmp_path)
    while not list(tmp_path.rglob("*.nbc")):
        assert killed.poll() is None
        time.sleep(0.05)
    killed.kill()
    killed.communicate()

    together = [start_cold(tmp_path) for _ in range(2)]
    answers = [process.communicate(timeout=3 * PATIENCE_S)[0].split() for process in together]
    after = start_cold(tmp_path).communicate(timeout=3 * PATIENCE_S)[0].split()

    assert [expected] * 2 == [answer[0] for answer in answers]
    assert [expected, "1"] == after
    left = {path.name for path in tmp_path.rglob("*") if path.is_file() and path.suffix not in (".nbi", ".nbc")}
    assert {LOCK_NAME} == left  # which stays: to remove it would take it from whoever waits for it
