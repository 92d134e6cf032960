"""A word of the model is defined once, and its code is its place."""

import pytest

from endive import vocabulary as v
from endive.kernel import layout_of


@pytest.mark.parametrize(
    ("names", "prefix", "words"),
    [
        (v.KINDS, "", {}),
        (v.OVERWRITE_FORMS, "", {}),
        (v.ISOLATIONS, "", {}),
        (v.STATUSES, "", {}),
        (v.REASONS, "", {"none": "NO_REASON"}),
        (v.PHASES, "PHASE_", {}),
        (v.OBJECTS, "", {}),
        (v.OPERATIONS, "", {}),
    ],
    ids=["kinds", "forms", "isolations", "statuses", "reasons", "phases", "objects", "operations"],
)
def test_every_code_is_the_index_of_its_name(names, prefix, words):
    codes = [getattr(v, words.get(name, f"{prefix}{name.upper()}")) for name in names]

    assert list(range(len(names))) == codes


def test_a_request_is_an_object_and_an_operation_that_somebody_declares():
    place = v.REQUEST_PLACES[v.MANIFEST_LIST * v.N_OPERATIONS + v.HEAD]

    assert ("manifest_list_head", ("manifest_list", "head")) == (v.REQUESTS[place], v.REQUEST_PAIRS[place])
    assert v.OTHER_REQUEST == v.REQUEST_PAIRS[v.REQUEST_PLACES[v.MANIFEST * v.N_OPERATIONS + v.CAS]]
    assert 8 + 12 + 13 + 1 == v.N_REQUESTS  # of commit points, Iceberg, Delta, and all others together


def test_what_is_counted_takes_half_the_room_of_what_is_timed():
    narrow = len(v.NARROW_FIELDS)
    assert 8 * len(v.WIDE_FIELDS) + 4 * (narrow + narrow % 2) == layout_of(v.Row).itemsize


def test_a_row_is_as_many_numbers_as_it_has_fields_in_their_order():
    row = v.Row(txn_id=7, bytes_read=8, n_tables_written=9)
    row.phases_us[v.PHASE_RUNTIME] = 10
    row.requests[-1] = 11

    told = dict(zip(v.ROW_FIELDS, v.values_of(row), strict=True))

    assert {"txn_id": 7, "bytes_read": 8, "n_tables_written": 9, "phase_runtime_us": 10, "requests_other_any": 11} == {
        name: value for name, value in told.items() if value > 0
    }
    assert {"client", "commit_start_us", "end_us", "n_behind_first", "hazard_window_us"} == {
        name for name, value in told.items() if value == v.NONE
    }


def test_the_counters_are_the_row_fields_after_history():
    assert v.COUNTERS == v.ROW_FIELDS[v.ROW_FIELDS.index("history_lists") + 1 :]
    assert "false_conflicts" == v.COUNTERS[0]
