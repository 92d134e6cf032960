"""``analysis/`` appears whole, gives way to the next one, and nothing foreign is lost."""

import pyarrow as pa
import pytest

from endive.errors import OutputError
from endive.pipeline.analysis import analysis_folder
from endive.pipeline.analysis.analysis_folder import refuse_foreign, write_analysis
from endive.pipeline.dataset.files import Place, place_of
from endive.pipeline.dataset.seal import file_digest, unseal_document

TITLES = {"runs": "Runs", "warnings": "Warnings"}


def tables(value):
    return {name: pa.table({"point": [value]}) for name in TITLES}


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_every_table_appears_in_three_formats_with_an_index(tmp_path):
    index = write_analysis(place_of(tmp_path), tables(7), TITLES, {"bins": 60})

    files = [f"{name}.{kind}" for name in TITLES for kind in ("csv", "md", "parquet")]
    assert sorted([*files, "index.json"]) == names(tmp_path / "analysis")
    assert ["analysis"] == names(tmp_path)
    written = unseal_document((tmp_path / "analysis" / "index.json").read_bytes())
    digests = {name: file_digest(place_of(tmp_path) / "analysis" / name) for name in files}
    assert {**index, "digests": digests} == written
    assert (60, "analysis") == (index["bins"], index["endive"])
    assert {
        "title": "Runs",
        "rows": 1,
        "files": {"parquet": "runs.parquet", "csv": "runs.csv", "md": "runs.md"},
        "columns": [{"name": "point", "unit": ""}],
    } == index["tables"]["runs"]


def test_the_next_analysis_replaces_the_one_before_it(tmp_path):
    write_analysis(place_of(tmp_path), tables(7), TITLES, {})
    write_analysis(place_of(tmp_path), {"runs": tables(8)["runs"]}, TITLES, {})

    assert ["index.json", "runs.csv", "runs.md", "runs.parquet"] == names(tmp_path / "analysis")
    assert '"point"\n8\n' == (tmp_path / "analysis" / "runs.csv").read_text()
    assert ["analysis"] == names(tmp_path)


def test_an_analysis_that_cannot_be_written_leaves_the_one_before_it(tmp_path, monkeypatch):
    write_analysis(place_of(tmp_path), tables(7), TITLES, {})

    def no_space(table, title):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(analysis_folder, "to_markdown", no_space)
    with pytest.raises(OutputError, match="the disk is full"):
        write_analysis(place_of(tmp_path), tables(8), TITLES, {})

    assert '"point"\n7\n' == (tmp_path / "analysis" / "runs.csv").read_text()
    assert ["analysis"] == names(tmp_path)


def test_a_folder_with_a_users_file_in_it_is_not_replaced(tmp_path):
    write_analysis(place_of(tmp_path), tables(7), TITLES, {})
    (tmp_path / "analysis" / "notes.txt").write_text("mine")

    with pytest.raises(OutputError, match=r"holds files that no analysis has written \(notes.txt\)"):
        refuse_foreign(place_of(tmp_path))
    with pytest.raises(OutputError, match=r"notes\.txt"):
        write_analysis(place_of(tmp_path), tables(8), TITLES, {})
    assert "mine" == (tmp_path / "analysis" / "notes.txt").read_text()
    assert '"point"\n7\n' == (tmp_path / "analysis" / "runs.csv").read_text()


def test_a_folder_called_analysis_that_is_none_is_not_replaced(tmp_path):
    (tmp_path / "analysis").mkdir()
    (tmp_path / "analysis" / "thesis.csv").write_text("")
    with pytest.raises(OutputError, match=r"thesis\.csv"):
        refuse_foreign(place_of(tmp_path))


def test_a_file_called_analysis_is_not_replaced(tmp_path):
    (tmp_path / "analysis").write_text("mine")
    with pytest.raises(OutputError, match="it is a file"):
        refuse_foreign(place_of(tmp_path))


def test_an_analysis_that_was_killed_is_none_and_gives_way_to_the_next(tmp_path, monkeypatch):
    write_analysis(place_of(tmp_path), tables(7), TITLES, {})
    real = Place.write

    def write(self, content):
        if self.name == "warnings.csv":
            raise KeyboardInterrupt
        real(self, content)

    monkeypatch.setattr(Place, "write", write)
    with pytest.raises(KeyboardInterrupt):
        write_analysis(place_of(tmp_path), tables(8), TITLES, {})
    monkeypatch.undo()
    assert "index.json" not in names(tmp_path / "analysis")

    write_analysis(place_of(tmp_path), tables(9), TITLES, {})
    assert '"point"\n9\n' == (tmp_path / "analysis" / "runs.csv").read_text()
    assert [] == [name for name in names(tmp_path / "analysis") if name.startswith(".")]
