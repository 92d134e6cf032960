"""A run's folder holds all of a run or nothing of it."""

import json
import os
import time

import pyarrow.parquet as pq
import pytest

from endive.errors import OutputError
from endive.results import MODEL_VERSION, Provenance, RowSink, RunFolder, Window, columns_of

WINDOW = Window(duration_us=10_000, warmup_us=0, cooldown_us=0)


def write_run(path, part, seed=7) -> None:
    with RunFolder(path) as folder:
        sink = RowSink(WINDOW, ("stream", "nightly"), writers=[folder.writer], keep_transactions=False)
        sink.start(Provenance(config_hash="c0ffee", seed=seed, engine="reference"))
        sink.add(columns_of(*part))
        folder.publish(sink.finish(), "seed = 7\n")


def names(path):
    return sorted(entry.name for entry in path.iterdir())


def test_a_finished_run_leaves_its_txns_its_summary_and_its_configuration(tmp_path, four_outcomes):
    write_run(tmp_path / "deep" / "run", four_outcomes)

    folder = tmp_path / "deep" / "run"
    assert names(folder) == ["config.toml", "summary.json", "transactions.parquet"]
    assert (folder / "config.toml").read_text() == "seed = 7\n"
    assert pq.read_table(folder / "transactions.parquet").num_rows == 4
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["summary"]["txns"]["submitted"] == 4
    assert summary["provenance"]["config_hash"] == "c0ffee"
    assert summary["provenance"]["model_version"] == MODEL_VERSION


def test_a_later_run_replaces_an_earlier_one(tmp_path, four_outcomes):
    write_run(tmp_path, four_outcomes)
    write_run(tmp_path, four_outcomes, seed=8)

    assert json.loads((tmp_path / "summary.json").read_text())["seed"] == 8
    assert pq.read_schema(tmp_path / "transactions.parquet").metadata[b"endive.seed"] == b"8"


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_a_run_that_fails_leaves_no_folder_and_an_earlier_run_alone(tmp_path, four_outcomes, failure):
    with pytest.raises(failure), RunFolder(tmp_path / "run"):
        raise failure
    assert names(tmp_path) == []

    write_run(tmp_path, four_outcomes)
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    with pytest.raises(failure), RunFolder(tmp_path):
        raise failure
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


def test_a_folder_with_foreign_files_is_refused_untouched(tmp_path):
    (tmp_path / "thesis.tex").touch()
    (tmp_path / "notes.md").touch()
    with pytest.raises(OutputError) as caught:
        RunFolder(tmp_path)

    assert str(caught.value) == (
        f"Cannot write {tmp_path}: it holds files that are not of a run (notes.md and 1 more). "
        "Choose an empty or a new folder."
    )
    assert names(tmp_path) == ["notes.md", "thesis.tex"]


def test_a_file_is_refused(tmp_path):
    (tmp_path / "run").touch()
    with pytest.raises(OutputError, match="it is a file; name a folder"):
        RunFolder(tmp_path / "run")


def test_a_folder_that_cannot_be_made_is_refused(tmp_path, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(OutputError, match="permission denied; choose a folder you may write to"):
        RunFolder(tmp_path / "run")


def test_what_a_killed_run_left_behind_does_not_stop_the_next(tmp_path, four_outcomes):
    (tmp_path / ".partial-1-abcd").mkdir()
    write_run(tmp_path, four_outcomes)

    assert names(tmp_path) == [".partial-1-abcd", "config.toml", "summary.json", "transactions.parquet"]


def test_no_moment_shows_a_summary_beside_the_txns_of_another_run(tmp_path, four_outcomes, monkeypatch):
    write_run(tmp_path, four_outcomes)
    seen = []
    replace = os.replace

    def watched(source, target):
        if os.path.dirname(target) == str(tmp_path):
            seen.append((os.path.basename(target), (tmp_path / "summary.json").exists()))
        replace(source, target)

    monkeypatch.setattr(os, "replace", watched)
    write_run(tmp_path, four_outcomes, seed=8)

    assert seen == [("transactions.parquet", False), ("config.toml", False), ("summary.json", False)]


def test_what_a_killed_run_left_is_removed_by_the_next_and_what_a_living_one_holds_is_not(tmp_path, four_outcomes):
    left = tmp_path / ".partial-1-dead"
    left.mkdir()
    (left / "transactions.parquet").write_bytes(b"half")
    long_ago_s = time.time() - 60
    os.utime(left, (long_ago_s, long_ago_s))

    with RunFolder(tmp_path):
        held = next(path for path in tmp_path.glob(".partial-*") if path != left)
        os.utime(held, (long_ago_s, long_ago_s))
        write_run(tmp_path, four_outcomes)
        assert held.exists()

    assert names(tmp_path) == ["config.toml", "summary.json", "transactions.parquet"]
