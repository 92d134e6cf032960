"""A curve along a key, kept as a page: what it says of its figures and of its end."""

from __future__ import annotations

from endive.answers.replicate import Replicator
from endive.answers.variation import base_of
from endive.explore.curve import NOTE, Progress, _report
from endive.explore.live_study import LiveStudy

TABLE = {
    "simulation": {"duration_ms": 20_000, "warmup_ms": 0, "cooldown_ms": 0},
    "storage": {"provider": "constant", "latency_ms": 20.0},
    "source": [
        {
            "name": "writers",
            "arrivals": {"kind": "closed", "clients": 3},
            "runtime": {"distribution": "fixed", "ms": 100.0},
        }
    ],
}


def test_a_kept_curve_says_how_its_figures_were_made_and_why_it_ends():
    base, key = base_of(TABLE), "source.writers.arrivals.clients"
    progress = Progress(LiveStudy("writers", key), now=3, note="The search was stopped.")
    with Replicator() as running:
        for clients in (2, 3):
            config = base.with_values({key: clients})
            progress.study.add(clients, config, running.samples(config, range(1, 3)))

    assert (NOTE, "The search was stopped.") == _report(progress).notes
