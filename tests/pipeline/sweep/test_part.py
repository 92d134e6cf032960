"""One part: it is there as a whole or not at all, at whatever step its process is lost."""

from __future__ import annotations

import io
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

import endive.results.writer as writer
from endive.errors import OutputError
from endive.pipeline.dataset.part_files import Part, PartFiles
from endive.pipeline.dataset.sweep_folder import StudyPlan, SweepFolder
from endive.pipeline.sweep import part as part_module
from endive.pipeline.sweep.part import PART_SCHEMA, simulate_part
from endive.pipeline.sweep.work import DEATHS_MAX, ProgressNotes, RunSpec, ended_runs


class LostError(BaseException):
    """The process is gone: nothing of it may catch this."""


@pytest.fixture
def job(planned, tmp_path):
    """A folder with one planned part of three runs, and a function that works on it."""
    runs = planned("transaction.inter_arrival.scale=[2000]", "transaction.retry_backoff.policy=none", seeds=3).runs
    run_ids = [run.run_id for run in runs]
    part = Part.of("part-00000-0123456789ab", run_ids, run_ids)
    folder = SweepFolder(tmp_path / "out", {"small": StudyPlan("transactions", [part])})
    folder.path.mkdir()
    folder.make_places("small")

    def work(kept=run_ids, lost: frozenset[str] = frozenset(), notes=lambda *_: None):
        files = PartFiles(folder.path, "small", Part.of(part.name, run_ids, kept))
        specs = [RunSpec(run.run_id, run.seed, run.config, run.config_hash, run.run_id in kept) for run in runs]
        return simulate_part(files, specs, "auto", notes, lost, dataset=folder.path)

    return folder.files("small", part), part, work


def names(files: PartFiles) -> set[str]:
    return {path.name for path in files.root.rglob("*") if path.is_file()}


def test_a_part_holds_its_runs_one_after_the_other(job):
    files, part, work = job
    records = work()

    table = pq.ParquetFile(files.transactions).read()
    assert table.schema.remove_metadata() == PART_SCHEMA.remove_metadata()
    order = list(dict.fromkeys(table["run_id"].to_pylist()))
    assert order == list(part.run_ids)
    assert [record["txns"] for record in records] == [table["run_id"].to_pylist().count(run_id) for run_id in order]
    assert files.read_record()["runs"] == records


@pytest.fixture
def written(planned):
    """``written({name: seed})``: the file of as many copies of one run, and the run's txns."""
    run = planned("transaction.inter_arrival.scale=[500]").runs[0]
    txns = part_module.simulate_run(RunSpec(run.run_id, run.seed, run.config, run.config_hash, True), "auto").txns

    def write(runs):
        stream = io.BytesIO()
        writer = part_module.PartWriter(stream)
        for name, seed in runs.items():
            writer.add(name, seed, txns)
        writer.close()
        stream.seek(0)
        return pq.ParquetFile(stream), txns

    return write


def test_row_groups_are_full_but_for_the_last(written, monkeypatch):
    monkeypatch.setattr(part_module, "ROW_GROUP_ROWS", 64)
    file, txns = written(dict.fromkeys("abcd", 1))

    sizes = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
    total = 4 * txns.num_rows
    assert sizes == [64] * (total // 64) + [total % 64]
    assert file.read()["run_id"].to_pylist() == [name for name in "abcd" for _ in range(txns.num_rows)]
    assert file.read()["txn_id"].to_pylist() == 4 * txns["txn_id"].to_pylist()


def test_a_run_of_some_size_begins_a_row_group_so_that_queries_skip_the_others(written, monkeypatch):
    monkeypatch.setattr(part_module, "RUN_GROUP_ROWS", 10)
    metadata = written({"7": 7, "8": 8, "9": 9})[0].metadata

    place = PART_SCHEMA.names.index("seed")
    told = [metadata.row_group(number).column(place).statistics for number in range(metadata.num_row_groups)]
    assert [(7, 7), (8, 8), (9, 9)] == [(one.min, one.max) for one in told]


def test_two_workers_at_once_on_one_part_leave_it_once_with_the_bytes_of_one_alone(job):
    files, part, work = job
    work()
    path = files.transactions
    alone = path.read_bytes()
    path.unlink()
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.submit(work), pool.submit(work)

    assert [run["fingerprint"] for run in first.result()] == [run["fingerprint"] for run in second.result()]
    assert path.read_bytes() == alone
    assert names(files) == {f"{part.name}.parquet", f"{part.name}.json"}  # latencies and txns have one name


@pytest.mark.parametrize("step", ["replace", "fsync"])
@pytest.mark.parametrize("survived", range(5))
def test_a_part_is_whole_or_absent_whenever_its_process_is_lost(job, monkeypatch, step, survived):
    files, part, work = job
    real = getattr(os, step)
    calls = []

    def lose(*arguments):
        calls.append(arguments)
        if len(calls) > survived:
            raise LostError
        return real(*arguments)

    monkeypatch.setattr(writer.os, step, lose)
    try:
        work()
    except LostError:
        pass
    monkeypatch.undo()

    if files.last.exists():
        before = files.transactions.read_bytes()
        assert [run["run_id"] for run in files.read_record()["runs"]] == list(part.run_ids)
        work()
        assert files.transactions.read_bytes() == before
    else:
        work()
        assert files.last.exists()
    assert files.read_record()["part"] == part.name


def test_a_record_about_other_runs_than_the_plan_is_damage(job):
    files, part, work = job
    work()

    with pytest.raises(OutputError, match="it is about other runs than the plan"):
        replace(files, part=replace(part, run_ids=part.run_ids[:2])).read_record()


def test_a_run_that_took_its_process_down_before_is_not_tried_again(job):
    _, part, work = job
    victim = part.run_ids[1]
    records = work(lost=frozenset({victim}))

    assert [record["status"] for record in records] == ["ok", "failed", "ok"]
    assert records[1]["error"].startswith("The process that simulated it died")


def test_a_note_is_left_before_and_after_every_run(job):
    _, part, work = job
    notes = []
    work(notes=lambda run_id, has_ended: notes.append((run_id, has_ended)))

    assert notes == [(run_id, has_ended) for run_id in part.run_ids for has_ended in (False, True)]


def test_a_failing_run_keeps_its_traceback_in_the_record(job, monkeypatch):
    files, _part, work = job
    monkeypatch.setattr("endive.pipeline.sweep.part.parse_config", lambda document, source: document["nothing"])
    records = work()

    assert [record["error"] for record in records] == ["KeyError: 'nothing'"] * 3
    assert records[0]["traceback"][-1].startswith("test_part.py:")
    assert pq.read_table(files.transactions).num_rows == 0


# ---- notes on progress -------------------------------------------------------------------------------


def test_runs_that_ended_are_counted_once(tmp_path):
    notes = ProgressNotes(tmp_path, "part-1")
    for _ in range(2):
        notes.write("a", False)
        notes.write("a", True)
    notes.write("b", False)

    assert ended_runs(tmp_path, ["part-1", "part-2"]) == {"a"}


def test_a_run_is_lost_when_its_process_died_so_often(tmp_path):
    notes = ProgressNotes(tmp_path, "part-1")
    for death in range(DEATHS_MAX):
        assert notes.lost_runs() == set(), death
        notes.write("innocent", False)
        notes.write("innocent", True)
        notes.write("poison", False)

    assert notes.lost_runs() == {"poison"}


def test_half_a_line_is_not_read(tmp_path):
    (tmp_path / "part-1").write_text("-aaaa\n-bb")

    assert ended_runs(tmp_path, ["part-1"]) == {"aaaa"}


def test_notes_that_cannot_be_written_stop_nobody(tmp_path):
    ProgressNotes(tmp_path / "nowhere", "part-1").write("a", False)

    assert ended_runs(tmp_path / "nowhere", ["part-1"]) == set()
