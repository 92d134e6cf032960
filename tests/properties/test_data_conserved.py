"""No byte is invented and none is forgotten: what a stream writes is visible, waiting or counted lost."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from tests.properties.following import follow
from tests.properties.law import law
from tests.properties.recording import Row, Run

from endive.results.freshness import ages_of
from endive.results.window import Window
from endive.vocabulary import NONE, REASONS, STATUSES
from endive.workload.streams import streams_of

pytestmark = pytest.mark.lengthy

TYPES = {"txn_id": "int64", "client": "int32", "status": "string", "reason": "string", "commits_untold": "int32"}
SCHEMA = pa.schema({**TYPES, "submit_ms": "float64", "end_ms": "float64"})


def told(row: Row) -> dict[str, Any]:
    """A row of integers as a result shows it."""
    return {
        "txn_id": row["txn_id"],
        "client": None if row["client"] == NONE else row["client"],
        "status": STATUSES[row["status"]],
        "reason": REASONS[row["reason"]] if row["reason"] else None,
        "commits_untold": row["commits_untold"],
        "submit_ms": row["submit_us"] / 1000.0,
        "end_ms": None if row["end_us"] == NONE else row["end_us"] / 1000.0,
    }


@law
def test_every_batch_of_a_stream_is_visible_or_waiting_or_lost(run: Run):
    window = Window.of_ms(duration_ms=run.config.simulation.duration_ms, warmup_ms=0.0, cooldown_ms=0.0)
    for stream in streams_of(run.config):
        rows = [told(row) for row in run.rows if row["source"] == stream.source]
        if not rows:
            continue
        ages = ages_of(stream, window, pa.Table.from_pylist(rows, SCHEMA))
        visible, lost, twice = follow(rows, stream.is_carried, stream.is_written_again)

        assert (len(visible), len(lost), len(twice)) == (ages.visible, ages.lost, ages.twice)
        assert not visible & lost
        assert len(rows) == ages.batches == ages.visible + ages.lost + ages.waiting
        committed = {row["txn_id"] for row in rows if row["status"] == "committed"}
        assert committed <= visible
        assert not (stream.is_carried and lost)
