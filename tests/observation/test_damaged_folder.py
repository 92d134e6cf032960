"""A damaged folder of an observation: one line that names the file, whatever is wrong with it."""

import json

import pytest
from tests.observation.conftest import metadata, snapshot

from endive.errors import EndiveError
from endive.observation.folder import CONFIG_FILE, FINDINGS_FILE, TRACE_FILE, read_findings, read_trace
from endive.observation.folder import write_folder as write
from endive.observation.observe import observe
from endive.observation.tables.metadata import history_of


@pytest.fixture
def folder(tmp_path):
    plain = [snapshot(number, 60_000 * number, **{"manifest-list": ""}) for number in range(1, 14)]
    write(tmp_path / "observed", [observe(history_of(metadata(plain, location="/t"), "t"))])
    return tmp_path / "observed"


def refusal(folder) -> str:
    with pytest.raises(EndiveError) as error:
        read_all(folder)
    return str(error.value)


def read_all(folder) -> None:
    read_findings(folder)
    read_trace(folder)


def test_a_folder_that_is_whole_is_read(folder):
    assert "t" == read_findings(folder)["table"]
    assert 13 == len(read_trace(folder))


@pytest.mark.parametrize("value", [None, "x", [], True, -1, 1e400, 10**30])
@pytest.mark.parametrize("key", ["duration_ms", "commits"])
def test_findings_that_make_no_sense_are_named(folder, key, value):
    document = json.loads((folder / FINDINGS_FILE).read_text())
    (folder / FINDINGS_FILE).write_text(json.dumps({**document, key: value}))

    told = refusal(folder)
    assert f"{FINDINGS_FILE}' is damaged: {key} is missing" in told or "is not JSON" in told


@pytest.mark.parametrize("content", ["", "{", "[]", "7", "[" * 100_000, '{"table": "\\ud800"}', "9" * 5000])
def test_findings_that_are_no_findings_are_refused(folder, content):
    (folder / FINDINGS_FILE).write_text(content)

    assert FINDINGS_FILE in refusal(folder)


@pytest.mark.parametrize(
    ("column", "cell", "told"),
    [
        ("operation", "drop", "operation makes no sense"),
        ("source", "nobody", "source makes no sense"),
        ("duration_ms", "nan", "duration_ms makes no sense"),
        ("duration_ms", "-1", "duration_ms makes no sense"),
        ("duration_ms", "9" * 5000, "duration_ms makes no sense"),
        ("attempts", "many", "attempts makes no sense"),
        ("attempts", "9999999999", "attempts makes no sense"),
        ("attempts", "1.5", "attempts makes no sense"),
    ],
)
def test_a_cell_of_the_trace_that_makes_no_sense_is_named(folder, column, cell, told):
    lines = (folder / TRACE_FILE).read_text().splitlines()
    cells = lines[3].split(",")
    cells[lines[0].split(",").index(column)] = cell
    (folder / TRACE_FILE).write_text("\n".join([*lines[:3], ",".join(cells), *lines[4:]]) + "\n")

    assert f"{TRACE_FILE}', row 3 is damaged: {told}" in refusal(folder)


def test_a_trace_without_rows_or_columns_and_a_configuration_without_sources_are_refused(folder):
    whole = (folder / TRACE_FILE).read_text()
    (folder / TRACE_FILE).write_text(whole.splitlines()[0] + "\n")
    assert "it has no rows" in refusal(folder)
    (folder / TRACE_FILE).write_text("timestamp,operation\n2026-03-01T12:00:00Z,append\n")
    assert "it has no source" in refusal(folder)
    (folder / TRACE_FILE).write_text(whole)
    (folder / CONFIG_FILE).write_text("[simulation]\nseed = 1\n")
    assert "it has no [[source]] with a name" in refusal(folder)
