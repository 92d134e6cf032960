"""Memory stays flat however often something is moved; a thousand moves of a real server are in ``test_server``."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from tests.explore.conftest import SHORT, TOKEN, WRITERS, events_in

PAGE_BYTES = 4096
SETTLING, MOVES = 8, 12
GROWTH_MIB_MAX = 24.0  # of noise: caches of tables fill within the first moves


def resident_mib() -> float:
    """Memory of this process, in which the jobs of these tests run."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES / 2**20


def move(client, number: int) -> None:
    changes = {**SHORT, "source.writers.arrivals.clients": str(2 + number % 30), "simulation.seed": str(number)}
    events = events_in(client.post(f"/{TOKEN}/api/ask", json={"start": WRITERS, "changes": changes}).text)
    assert "answer" == events[0]["type"]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_memory_is_flat_over_many_moves(client, monkeypatch):
    monkeypatch.setattr("endive.explore.jobs.SEEDS", (1,))
    for number in range(SETTLING):
        move(client, number)
    gc.collect()
    before = resident_mib()
    for number in range(SETTLING, SETTLING + MOVES):
        move(client, number)
    gc.collect()

    assert resident_mib() - before < GROWTH_MIB_MAX
