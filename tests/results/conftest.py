"""Hand-made rows: what an engine would deliver, one txn at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from endive.results import schema as s
from endive.results.schema import Ints
from endive.vocabulary import ABORTED, IN_FLIGHT_COMMITTING, IN_FLIGHT_EXECUTING, RETRIES_EXHAUSTED, VALIDATED_OVERWRITE

MakeRow = Callable[..., Ints]


def _make_row(**given: int) -> Ints:
    """A fast append submitted at 0 that commits after 1 s of work and 100 ms of commit, at one table."""
    fields = {
        "client": s.NONE,
        "commit_start_us": 1_000_000,
        "end_us": 1_100_000,
        "attempts": 1,
        "n_behind_first": 0,
        "hazard_window_us": 50_000,
        "n_tables_read": 1,
        "n_tables_written": 1,
        **given,
    }
    row = np.zeros(s.N_ROW, np.int64)
    for name, value in fields.items():
        row[s.ROW_FIELDS.index(name)] = value
    return row


@pytest.fixture
def make_row() -> MakeRow:
    """``make_row(field=value, ...)``: one row; fields left out are those of an uneventful commit."""
    return _make_row


@pytest.fixture
def four_outcomes() -> tuple[Ints, Ints]:
    """A committed, an aborted, an executing and a committing txn, with 2, 1, 0 and 1 tables."""
    rows = np.array(
        [
            _make_row(txn_id=0, n_tables_read=2, n_tables_written=1),
            _make_row(
                txn_id=1,
                kind=VALIDATED_OVERWRITE,
                status=ABORTED,
                reason=RETRIES_EXHAUSTED,
                client=3,
                submit_us=500,
                commit_start_us=1_500,
                end_us=2_750,
                attempts=5,
                n_behind_first=7,
            ),
            _make_row(
                txn_id=2,
                source=1,
                status=IN_FLIGHT_EXECUTING,
                submit_us=2_000,
                commit_start_us=s.NONE,
                end_us=s.NONE,
                attempts=0,
                n_behind_first=s.NONE,
                hazard_window_us=s.NONE,
                n_tables_read=0,
                n_tables_written=0,
            ),
            _make_row(
                txn_id=3,
                status=IN_FLIGHT_COMMITTING,
                submit_us=3_000,
                commit_start_us=4_000,
                end_us=s.NONE,
                n_tables_written=0,
            ),
        ]
    )
    return rows, np.array([4, 9, 5, 6], np.int64)
