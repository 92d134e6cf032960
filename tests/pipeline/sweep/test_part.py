"""One part: its object is there as a whole or not at all, and says what its rows say."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor

import pyarrow.parquet as pq
import pytest

import endive.results.writer as writer
from endive.pipeline.dataset.files import place_of
from endive.pipeline.dataset.runs_table import RESULT_SCHEMA
from endive.pipeline.dataset.seal import content_digest
from endive.pipeline.sweep import part as part_module
from endive.pipeline.sweep.part import PART_SCHEMA, RunSpec, part_name, read_part, simulate_part


class LostError(BaseException):
    """The process is gone: nothing of it may catch this."""


@pytest.fixture
def specs(planned):
    """A part of three runs."""
    runs = planned("transaction.inter_arrival.scale=[2000]", "transaction.retry_backoff.policy=none", seeds=3).runs
    return [RunSpec(run.seed, run.config, True, run.run_id, run.config_hash, run.point) for run in runs]


@pytest.fixture
def folder(tmp_path):
    return place_of(tmp_path / "parts")


def names(folder):
    return [path.name for path in folder.sizes()]


def test_an_object_holds_its_runs_one_after_the_other_and_its_rows_tell_of_it(specs, folder):
    rows = simulate_part(specs, "auto", folder)

    place = folder / f"{part_name(specs)}.parquet"
    table = pq.ParquetFile(str(place)).read()
    assert PART_SCHEMA.remove_metadata() == table.schema.remove_metadata()
    run_ids = table["run_id"].to_pylist()
    assert [spec.run_id for spec in specs] == list(dict.fromkeys(run_ids)) == rows["run_id"].to_pylist()
    assert [run_ids.count(spec.run_id) for spec in specs] == rows["txns"].to_pylist()
    content = place.read_bytes()
    assert {(place.name, len(content), content_digest(content))} == set(
        zip(*(rows[name].to_pylist() for name in ("file", "bytes", "digest")), strict=True)
    )


def test_an_object_that_is_there_gives_the_same_rows_without_a_simulation(specs, folder, monkeypatch):
    expected = simulate_part(specs, "auto", folder)
    monkeypatch.setattr(part_module, "simulate_run", lambda *_, **__: pytest.fail("it is there"))

    assert expected == simulate_part(specs, "auto", folder)
    assert {"reference"} == set(simulate_part(specs, "reference", folder)["engine"].to_pylist())


def test_an_object_with_a_flipped_bit_is_written_again(specs, folder):
    expected = simulate_part(specs, "auto", folder)
    place = folder / names(folder)[0]
    whole = place.read_bytes()
    for index in (100, len(whole) // 2, len(whole) - 2_000):
        place.write(whole[:index] + bytes([whole[index] ^ 16]) + whole[index + 1 :])

        assert expected == simulate_part(specs, "auto", folder)
        assert whole == place.read_bytes()


def test_the_name_stands_for_the_runs_what_is_kept_and_the_writer(specs, monkeypatch):
    name = part_name(specs)

    assert name == part_name(list(specs))
    fewer = [RunSpec(spec.seed, spec.config, False, spec.run_id) for spec in specs]
    assert 3 == len({name, part_name(specs[:2]), part_name(fewer)})
    monkeypatch.setattr(part_module, "WRITER_VERSION", 99)
    assert name != part_name(specs)


def test_runs_that_keep_nothing_write_no_object(specs, folder):
    rows = simulate_part([RunSpec(spec.seed, spec.config, False) for spec in specs], "auto", folder)

    assert not folder.exists()
    assert RESULT_SCHEMA == rows.schema
    assert [spec.run_id for spec in specs] == rows["run_id"].to_pylist()
    assert [[None] * 3] * 3 == [rows[name].to_pylist() for name in ("file", "timeline", "outcomes")]


def test_two_workers_at_once_on_one_part_leave_the_bytes_of_one_alone(specs, folder):
    simulate_part(specs, "auto", folder)
    place = folder / names(folder)[0]
    alone = place.read_bytes()
    place.unlink()
    with ThreadPoolExecutor(2) as pool:
        first, second = (pool.submit(simulate_part, specs, "auto", folder) for _ in range(2))

    assert first.result() == second.result()
    assert (alone, [place.name]) == (place.read_bytes(), names(folder))


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_an_object_is_whole_or_absent_whenever_its_process_is_lost(specs, folder, monkeypatch, step):
    def lose(*_):
        raise LostError

    monkeypatch.setattr(writer.os, step, lose)
    with pytest.raises(LostError):
        simulate_part(specs, "auto", folder)
    monkeypatch.undo()

    assert all(read_part(place) is not None for place in folder.sizes() if not place.name.startswith("."))
    expected = simulate_part(specs, "auto", folder)
    assert expected == simulate_part(specs, "auto", folder)


def test_a_run_that_killed_its_process_before_is_not_tried_again(specs, folder):
    rows = simulate_part(specs, "auto", folder, lost={specs[1].run_id})

    assert ["ok", "failed", "ok"] == rows["status"].to_pylist()
    assert rows["error"][1].as_py().startswith("The process that simulated it died")
    assert [False, True, False] == [name is None for name in rows["file"].to_pylist()]


def test_a_run_is_marked_before_and_after(specs, folder):
    marks = []
    simulate_part(specs, "auto", folder, on_run=lambda run_id, has_ended: marks.append((run_id, has_ended)))

    assert [(spec.run_id, has_ended) for spec in specs for has_ended in (False, True)] == marks


def test_a_configuration_that_cannot_be_read_fails_alone(specs, folder):
    broken = [specs[0], RunSpec(1, '{"simulation": {"duration": 1}}', True), specs[2]]

    rows = simulate_part(broken, "auto", folder)

    assert ["ok", "failed", "ok"] == rows["status"].to_pylist()
    assert "simulation.duration" in rows["error"][1].as_py()


@pytest.fixture
def written(planned):
    """``written({name: seed})``: the object of as many copies of one run, and the run's transactions."""
    run = planned("transaction.inter_arrival.scale=[500]").runs[0]
    txns = part_module.simulate_run(RunSpec(run.seed, run.config, True), "auto").txns

    def write(runs):
        stream = io.BytesIO()
        part = part_module.PartWriter(stream)
        for name, seed in runs.items():
            part.add(name, 0, seed, txns)
        part.close()
        stream.seek(0)
        return pq.ParquetFile(stream), txns

    return write


def test_row_groups_are_full_but_for_the_last(written, monkeypatch):
    monkeypatch.setattr(part_module, "ROW_GROUP_ROWS", 64)
    file, txns = written(dict.fromkeys("abcd", 1))

    sizes = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
    total = 4 * txns.num_rows
    assert [64] * (total // 64) + [total % 64] == sizes
    assert [name for name in "abcd" for _ in range(txns.num_rows)] == file.read()["run_id"].to_pylist()
    assert 4 * txns["txn_id"].to_pylist() == file.read()["txn_id"].to_pylist()


def test_a_run_of_some_size_begins_a_row_group_so_that_queries_skip_the_others(written, monkeypatch):
    monkeypatch.setattr(part_module, "RUN_GROUP_ROWS", 10)
    metadata = written({"7": 7, "8": 8, "9": 9})[0].metadata

    place = PART_SCHEMA.names.index("seed")
    statistics = [metadata.row_group(number).column(place).statistics for number in range(metadata.num_row_groups)]
    assert [(7, 7), (8, 8), (9, 9)] == [(one.min, one.max) for one in statistics]
