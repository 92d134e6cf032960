"""Hand-made rows: what an engine would deliver, one txn at a time."""

from collections.abc import Callable

import numpy as np
import pytest

from endive.results import schema as s
from endive.results.schema import Ints
from endive.vocabulary import (
    ABORTED,
    COMMITTED,
    FAST_APPEND,
    IN_FLIGHT_COMMITTING,
    IN_FLIGHT_EXECUTING,
    NO_REASON,
    RETRIES_EXHAUSTED,
    VALIDATED_OVERWRITE,
)

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


_COLUMNS = "kind source status reason client submit_us commit_start_us end_us attempts n_behind_first hazard_window_us"
_OUTCOMES = [  # and behind them n_tables_read and n_tables_written
    (FAST_APPEND, 0, COMMITTED, NO_REASON, s.NONE, 0, 1_000_000, 1_100_000, 1, 0, 50_000, 2, 1),
    (VALIDATED_OVERWRITE, 0, ABORTED, RETRIES_EXHAUSTED, 3, 500, 1_500, 2_750, 5, 7, 50_000, 1, 1),
    (FAST_APPEND, 1, IN_FLIGHT_EXECUTING, NO_REASON, s.NONE, 2_000, s.NONE, s.NONE, 0, s.NONE, s.NONE, 0, 0),
    (FAST_APPEND, 0, IN_FLIGHT_COMMITTING, NO_REASON, s.NONE, 3_000, 4_000, s.NONE, 1, 0, 50_000, 1, 0),
]


@pytest.fixture
def four_outcomes() -> tuple[Ints, Ints]:
    """A committed, an aborted, an executing and a committing txn, with 2, 1, 0 and 1 tables."""
    names = [*_COLUMNS.split(), "n_tables_read", "n_tables_written"]
    rows = [_make_row(txn_id=txn, **dict(zip(names, each, strict=True))) for txn, each in enumerate(_OUTCOMES)]
    return np.array(rows), np.array([4, 9, 5, 6], np.int64)
