"""The fingerprint sees every field of every txn and nothing of their order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from endive.results import Fingerprint, columns_of
from endive.results import schema as s
from endive.results.fingerprint import FIRST_FIELDS, row_hashes
from endive.results.schema import Ints
from endive.vocabulary import ABORTED, RETRIES_EXHAUSTED, TIMEOUT

place = s.ROW_FIELDS.index


def digest(rows: Ints, table_ids: Ints) -> str:
    fingerprint = Fingerprint()
    fingerprint.update(columns_of(rows, table_ids))
    return fingerprint.hexdigest()


def test_no_txn_has_the_fingerprint_zero():
    assert Fingerprint().hexdigest() == "0000000000000000"


def test_the_fingerprint_of_four_known_txns_never_changes(four_outcomes):
    assert digest(*four_outcomes) == "7f423a0abc6a635f"


def test_the_fingerprint_is_what_plain_integers_say(four_outcomes):
    def mix(word: int) -> int:
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
        return word ^ (word >> 31)

    def key(position: int) -> int:
        return mix((position + 1) * 0x9E3779B97F4A7C15 % 2**64) | 1

    rows, table_ids = four_outcomes
    total = 0
    for row, ids in zip(rows.tolist(), np.split(table_ids, [2, 3, 3]), strict=True):
        told = dict(zip(s.ROW_FIELDS, row, strict=True))
        words = [*(told.pop(field, 0) for field in FIRST_FIELDS), *ids.tolist()]
        assert {0} == set(told.values())  # which came later
        total += mix(sum(word * key(position) for position, word in enumerate(words)) % 2**64)

    assert f"{total % 2**64:016x}" == digest(rows, table_ids)


def test_rows_one_at_a_time_give_the_fingerprint_of_all_at_once(four_outcomes):
    rows, table_ids = four_outcomes
    fingerprint = Fingerprint()
    for row, ids in zip(rows, np.split(table_ids, [2, 3, 3]), strict=True):
        fingerprint.update(columns_of(row.reshape(1, -1), ids))

    assert digest(rows, table_ids) == fingerprint.hexdigest()


@given(order=st.permutations(range(4)), cut=st.integers(0, 4))
def test_neither_order_nor_grouping_of_rows_matters(order, cut):
    rows = np.zeros((4, s.N_ROW), np.int64)
    rows[:, place("txn_id")] = range(4)
    rows[:, place("n_tables_read")] = (1, 0, 2, 1)
    ids = [[7], [], [8, 9], [-3]]
    fingerprint = Fingerprint()
    for part in (order[:cut], order[cut:]):
        table_ids = np.array([each for i in part for each in ids[i]], np.int64)
        fingerprint.update(columns_of(rows[part], table_ids))

    assert digest(rows, np.array([7, 8, 9, -3])) == fingerprint.hexdigest()


# Fields whose change needs another field to change with it have a test of their own below.
BOUND_FIELDS = {"status", "reason", "n_tables_read", "n_tables_written"}


@pytest.mark.parametrize("field", [field for field in s.ROW_FIELDS if field not in BOUND_FIELDS])
@pytest.mark.parametrize("change", [1, 1 << 30])
def test_a_change_of_any_field_changes_the_fingerprint(make_row, field, change):
    before = make_row().reshape(1, -1)
    after = before.copy()
    after[0, place(field)] += change
    ids = np.zeros(1, np.int64)

    assert digest(before, ids) != digest(after, ids)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([{}], [{"status": ABORTED, "reason": TIMEOUT}]),
        ([{"status": ABORTED, "reason": RETRIES_EXHAUSTED}], [{"status": ABORTED, "reason": TIMEOUT}]),
        ([{}], [{"n_tables_written": 0}]),
        ([{}], [{"n_tables_read": 2}]),
        ([{"phase_history_us": 5, "phase_backoff_us": 6}], [{"phase_history_us": 6, "phase_backoff_us": 5}]),
        ([{"attempts": 1}, {"txn_id": 1, "attempts": 2}], [{"attempts": 2}, {"txn_id": 1, "attempts": 1}]),
        ([{}, {}], []),
    ],
    ids=["outcome", "reason", "written", "read", "fields that trade values", "txns that trade a value", "twice"],
)
def test_another_txn_has_another_fingerprint(make_row, one, other):
    def of(txns):
        rows = [make_row(**given) for given in txns]
        tables = sum(row[place("n_tables_read")] for row in rows)
        return digest(np.array(rows), np.zeros(tables, np.int64)) if rows else Fingerprint().hexdigest()

    assert of(one) != of(other)


def test_tables_in_another_order_change_the_fingerprint(make_row):
    row = make_row(n_tables_read=2).reshape(1, -1)

    assert digest(row, np.array([3, 8])) != digest(row, np.array([8, 3]))


def test_hashes_of_a_hundred_thousand_similar_rows_are_all_different():
    rows = np.zeros((100_000, s.N_ROW), np.int64)
    rows[:, place("txn_id")] = np.arange(100_000) // 10
    rows[:, place("submit_us")] = np.arange(100_000) % 10

    assert len(np.unique(row_hashes(columns_of(rows, np.empty(0, np.int64))))) == 100_000
