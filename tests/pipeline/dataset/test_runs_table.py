"""The table of runs: one row per run, whatever objects hold it."""

import pyarrow as pa
import pytest
from tests.pipeline.contents import rows

from endive.errors import OutputError
from endive.pipeline.dataset.files import place_of
from endive.pipeline.dataset.runs_table import (
    GROUP_FIELDS,
    NESTED,
    append_rows,
    damaged_objects,
    join_tables,
    nest,
    one_row_per_run,
    read_rows,
    run_objects,
    unnest,
)


def test_rows_that_are_added_twice_are_there_once(out):
    (place,) = run_objects(place_of(out), "small")
    expected = rows(out)
    with place.parquet() as file:
        table = file.read()

    again = append_rows(place_of(out), "small", table)
    assert again == append_rows(place_of(out), "small", table)  # the same object
    append_rows(place_of(out), "small", table.slice(3, 5))

    assert 3 == len(run_objects(place_of(out), "small"))
    assert expected == rows(out)


def test_a_run_that_ended_well_comes_before_one_that_failed():
    table = pa.table({"run_id": ["a", "b", "a", "b"], "status": ["failed", "ok", "ok", "failed"], "n": [1, 2, 3, 4]})

    assert {"a": 3, "b": 2} == dict(
        zip(*(one_row_per_run(table)[name].to_pylist() for name in ("run_id", "n")), strict=True)
    )


def test_an_object_is_named_by_its_content(out):
    (place,) = run_objects(place_of(out), "small")
    assert [] == damaged_objects(place_of(out), "small")

    place.write(place.read_bytes() + b" ")

    assert [place] == damaged_objects(place_of(out), "small")
    with pytest.raises(OutputError, match=f"{place.name} is damaged"):
        read_rows(place_of(out), "small")


def test_a_study_that_is_not_there_has_no_rows(tmp_path):
    assert 0 == read_rows(place_of(tmp_path), "none").num_rows


def test_tables_nest_into_lists_of_structs_and_come_apart_again():
    kind = NESTED["latencies"]
    first = pa.table(
        {"source": ["a", "b"], "kind": ["k", "k"], "latency": ["commit"] * 2, "bin": [1, 2], "txns": [3, 4]}
    )

    lists = nest([first, None, first.slice(0, 0), first.slice(1)], kind)

    assert [2, None, 0, 1] == [None if each is None else len(each) for each in lists.to_pylist()]
    whole = pa.table({"run_id": ["w", "x", "y", "z"], "latencies": lists})
    back = unnest(whole, "latencies", ["run_id"])
    assert ["w", "w", "z"] == back["run_id"].to_pylist()
    assert [1, 2, 2] == back["bin"].to_pylist()
    assert GROUP_FIELDS.num_fields > 100


def test_a_column_that_two_tables_type_differently_is_a_double_or_a_text():
    joined = join_tables([pa.table({"x": [1], "y": [1]}), pa.table({"x": ["t"], "y": [0.5]})])

    assert {"x": ["1", "t"], "y": [1.0, 0.5]} == joined.to_pydict()
