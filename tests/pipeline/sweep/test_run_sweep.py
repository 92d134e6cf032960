"""A sweep as a whole: what runs, what is kept, and that the dataset does not depend on how it came to be."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.pipeline.contents import contents, parts, rows, txns
from tests.pipeline.in_process import InProcessSpark
from tests.pipeline.swept import change_marker

import endive
from endive.errors import EndiveError, EngineError, OutputError
from endive.pipeline import run_sweep
from endive.pipeline.dataset.files import place_of
from endive.pipeline.dataset.runs_table import run_objects
from endive.pipeline.sweep import part as part_module
from endive.pipeline.sweep.run_sweep import Standing
from endive.results import MODEL_VERSION, SCHEMA_VERSION

pytestmark = pytest.mark.lengthy


def swept(planned, out, spark, **options):
    return run_sweep(planned, out, lambda: spark, **options)


def objects(folder: Path) -> list[Path]:
    return [Path(str(place)) for place in run_objects(place_of(folder), "small")]


def test_every_run_of_the_grid_is_in_the_table_with_its_axes_and_metrics(planned, in_process, tmp_path):
    study = planned()
    outcome = swept(study, tmp_path / "out", in_process)

    found = rows(tmp_path / "out")
    assert (12, 0, ()) == (outcome.simulated, outcome.kept, outcome.failed)
    axes = ("transaction.inter_arrival.scale", "transaction.retry_backoff.policy", "seed")
    assert [tuple(row[axis] for axis in axes) for row in found] == [
        (scale, policy, seed) for scale in (500, 1000, 2000) for policy in ("none", "iceberg") for seed in (42, 43)
    ]
    assert [run.run_id for run in study.runs] == [row["run_id"] for row in found]
    assert sum(row["txns"] for row in found) == outcome.txns
    assert sum(path.stat().st_size for path in parts(tmp_path / "out")) == outcome.transactions_bytes
    alone = endive.simulate(json.loads(found[5]["config"]))
    assert alone.fingerprint == found[5]["fingerprint"]
    assert alone.summary()["commit_latency_ms"]["p95"] == found[5]["commit_latency_p95_ms"]
    assert alone.requests()["counts"]["catalog"]["cas"] == found[5]["requests_catalog_cas"]
    assert {MODEL_VERSION} == {row["model_version"] for row in found}


def test_the_transactions_of_a_run_are_those_of_the_run_alone(planned, in_process, tmp_path):
    study = planned()
    swept(study, tmp_path / "out", in_process)

    run, row = study.runs[3], rows(tmp_path / "out")[3]
    path = tmp_path / "out" / "transactions" / "study=small" / row["file"]
    table = pq.ParquetFile(path).read()
    alone = endive.simulate(json.loads(run.config), seed=run.seed).transactions_as_ended()
    kept = [each for each in table.to_pylist() if each["run_id"] == run.run_id]
    assert alone.to_pylist() == [
        {key: value for key, value in each.items() if key not in ("run_id", "point", "seed")} for each in kept
    ]
    assert {(run.point, run.seed)} == {(each["point"], each["seed"]) for each in kept}


def test_groups_hold_the_metrics_of_each_operation_and_source(planned, in_process, tmp_path):
    study = planned("transaction.operation_types={fast_append=0.5, validated_overwrite=0.5}")
    swept(study, tmp_path / "out", in_process)

    found = rows(tmp_path / "out")[0]["groups"]
    alone = endive.simulate(json.loads(study.runs[0].config), seed=42).to_json_dict()
    assert [("operation", "fast_append"), ("operation", "validated_overwrite"), ("source", "default")] == [
        (row["scope"], row["name"]) for row in found
    ]
    assert alone["by_operation"]["validated_overwrite"]["success_rate"] == found[1]["success_rate"]
    assert alone["by_operation"]["validated_overwrite"]["requests"]["total"] == found[1]["requests_total"]


def of_transactions(row):
    """A row without what only a run has whose transactions are kept."""
    nothing = dict.fromkeys(("file", "bytes", "digest", "timeline", "outcomes"))
    return {**row, **nothing, "transactions_kept": False}


def test_detail_runs_keeps_the_same_metrics_and_no_transactions(planned, in_process, whole, tmp_path):
    outcome = swept(planned(), tmp_path / "few", in_process, detail="runs")

    assert [] == parts(tmp_path / "few")
    assert [of_transactions(row) for row in rows(whole)] == rows(tmp_path / "few")
    assert 0 == outcome.transactions_bytes


def test_a_sample_keeps_the_transactions_of_the_first_seed_of_every_point(planned, in_process, whole, tmp_path):
    swept(planned(), tmp_path / "some", in_process, detail="sample")
    swept(planned(seeds=3), tmp_path / "some", in_process, detail="sample")

    runs = rows(tmp_path / "some")
    chosen = {row["run_id"] for row in runs if row["seed"] == 42}
    assert chosen == {row["run_id"] for row in runs if row["transactions_kept"]}
    assert 6 == len(chosen)
    assert [row for row in txns(whole) if row["run_id"] in chosen] == txns(tmp_path / "some")


def test_the_study_in_the_folder_makes_the_same_runs_again(planned, in_process, tmp_path):
    study = planned("transaction.retry=7")
    swept(study, tmp_path / "out", in_process)

    again = planned(path=tmp_path / "out" / "studies" / "small.toml")
    assert [run.run_id for run in study.runs] == [run.run_id for run in again.runs]


def test_two_studies_share_a_folder(planned, in_process, tmp_path, study_file):
    swept(planned("transaction.inter_arrival.scale=2000"), tmp_path / "out", in_process)
    other = tmp_path / "other.toml"
    other.write_text(study_file.read_text().replace('"small"', '"other"'))
    swept(planned("transaction.inter_arrival.scale=1000", path=other), tmp_path / "out", in_process)

    assert (4, 4) == (len(rows(tmp_path / "out")), len(rows(tmp_path / "out", "other")))


def test_a_small_sweep_is_one_job_of_one_partition_per_core(planned, in_process, tmp_path):
    swept(planned(seeds=4), tmp_path / "out", in_process)

    assert (1, 2) == (in_process.jobs, len(in_process.partitions))
    assert 24 == sum(partition.num_rows for partition in in_process.partitions)


def test_the_work_is_committed_job_by_job(planned, in_process, whole, tmp_path):
    swept(planned(), tmp_path / "many", in_process, commit_every_s=1e-9)

    assert len(parts(whole)) == in_process.jobs == len(objects(tmp_path / "many")) > 1
    assert contents(whole) == contents(tmp_path / "many")


def test_the_dataset_does_not_depend_on_the_number_of_cores(planned, whole, tmp_path):
    swept(planned(), tmp_path / "one", InProcessSpark(cores=1))
    swept(planned(), tmp_path / "seven", InProcessSpark(cores=7))

    assert contents(whole) == contents(tmp_path / "one") == contents(tmp_path / "seven")


def test_both_engines_write_the_same_bytes(planned, in_process, whole, tmp_path):
    swept(planned(), tmp_path / "reference", in_process, engine="reference")

    assert [path.read_bytes() for path in parts(whole)] == [path.read_bytes() for path in parts(tmp_path / "reference")]
    assert ({"compiled"}, {"reference"}) == tuple(
        {row["engine"] for row in rows(folder)} for folder in (whole, tmp_path / "reference")
    )


def test_a_sweep_that_is_complete_makes_no_session_and_changes_nothing(planned, whole, out):
    times = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    outcome = run_sweep(planned(), out, lambda: pytest.fail("nothing is missing"))

    assert (0, 12) == (outcome.simulated, outcome.kept)
    assert contents(whole) == contents(out)
    assert times == {path: path.stat().st_mtime_ns for path in out.rglob("*")}


def test_tasks_that_are_repeated_leave_no_duplicates(planned, in_process, whole, tmp_path):
    in_process.repeats = 2
    swept(planned(), tmp_path / "twice", in_process)

    assert contents(whole) == contents(tmp_path / "twice")


@pytest.mark.parametrize("tasks", [0, 1])
def test_after_an_interrupt_the_parts_that_are_there_are_not_simulated_again(
    planned, in_process, whole, tmp_path, monkeypatch, tasks
):
    in_process.dies_after = tasks
    with pytest.raises(KeyboardInterrupt):
        swept(planned(), tmp_path / "broken", in_process)
    there = {path.name for path in parts(tmp_path / "broken")}
    assert (tasks > 0, []) == (bool(there), rows(tmp_path / "broken"))
    assert 1 == len(in_process.cancelled)
    assert not (tmp_path / "broken" / "_progress").exists()

    in_process.dies_after = None
    simulated = []
    real = part_module.simulate_run
    monkeypatch.setattr(
        part_module, "simulate_run", lambda spec, *more, **rest: (simulated.append(spec), real(spec, *more, **rest))[1]
    )
    outcome = swept(planned(), tmp_path / "broken", in_process)
    assert (12, 0) == (outcome.simulated, outcome.kept)
    held = sum(row["file"] in there for row in rows(tmp_path / "broken"))
    assert 12 - held == len(simulated)
    assert contents(whole) == contents(tmp_path / "broken")


def test_two_sweeps_at_once_end_with_each_run_once(planned, whole, tmp_path):
    class Concurrent(InProcessSpark):
        """Another sweep does all the work while this one starts Spark."""

        def createDataFrame(self, table):  # noqa: N802
            swept(planned(), tmp_path / "both", InProcessSpark())
            return super().createDataFrame(table)

    swept(planned(), tmp_path / "both", Concurrent(), commit_every_s=1e-9)

    assert len(objects(tmp_path / "both")) > 1
    assert contents(whole) == contents(tmp_path / "both")


def test_what_a_killed_sweep_left_behind_is_removed(planned, in_process, out):
    leftover = out / "transactions" / "study=small" / ".part-0.parquet.1-ab.tmp"
    leftover.write_bytes(b"half")
    notes = out / "_progress" / "dead"
    notes.mkdir(parents=True)
    for path in (leftover, notes):
        os.utime(path, (0, 0))

    swept(planned(), out, in_process)

    assert [False] * 2 == [path.exists() for path in (leftover, notes.parent)]


def test_more_seeds_add_runs_and_keep_the_others(planned, in_process, whole, out):
    outcome = swept(planned(seeds=3), out, in_process)

    assert (6, 12) == (outcome.simulated, outcome.kept)
    assert {path.name: path.read_bytes() for path in parts(whole)}.items() <= {
        path.name: path.read_bytes() for path in parts(out)
    }.items()
    assert [42, 43, 44] * 6 == [row["seed"] for row in rows(out)]


@pytest.mark.parametrize(
    ("overrides", "detail", "message"),
    [
        (["transaction.retry=7"], "transactions", "holds 12 runs of a study 'small' that this study does not have"),
        ([], "runs", "keeps study 'small' with --detail transactions, not runs"),
        ([], "everything", "detail = 'everything' is not known"),
    ],
)
def test_a_study_that_lost_runs_or_has_another_detail_is_not_mixed_with_what_it_was(
    planned, in_process, out, overrides, detail, message
):
    with pytest.raises(EndiveError, match=message):
        swept(planned(*overrides), out, in_process, detail=detail)


@pytest.fixture
def one_fails(monkeypatch):
    """Every run with 1000 ms between arrivals and seed 43 fails, until told otherwise."""
    real = part_module.Simulation.run

    def run(self, seed, **options):
        if seed == 43 and self.config.sources[0].arrivals.mean_ms == 1000.0:
            raise ZeroDivisionError("by nought")
        return real(self, seed, **options)

    monkeypatch.setattr(part_module.Simulation, "run", run)


def test_a_failing_run_is_recorded_and_its_neighbours_are_not_touched(planned, in_process, tmp_path, one_fails):
    outcome = swept(planned(), tmp_path / "out", in_process)

    found = rows(tmp_path / "out")
    failed = [row for row in found if row["status"] == "failed"]
    assert [(1000, 43, "ZeroDivisionError: by nought")] * 2 == [
        (row["transaction.inter_arrival.scale"], row["seed"], row["error"]) for row in failed
    ]
    assert tuple((row["run_id"], "ZeroDivisionError: by nought") for row in failed) == outcome.failed
    assert (None, None, None) == (failed[0]["success_rate"], failed[0]["file"], failed[0]["groups"])
    present = {row["run_id"] for row in txns(tmp_path / "out", columns=["run_id"])}
    assert {row["run_id"] for row in found if row["status"] == "ok"} == present
    assert 12 == outcome.simulated


def test_failed_runs_are_kept_until_asked_for(planned, in_process, whole, tmp_path, one_fails, monkeypatch):
    swept(planned(), tmp_path / "out", in_process)
    monkeypatch.undo()

    outcome = swept(planned(), tmp_path / "out", in_process)
    assert (0, 2) == (outcome.simulated, len(outcome.failed))
    outcome = swept(planned(), tmp_path / "out", in_process, retries_failed=True)
    assert (2, 10, ()) == (outcome.simulated, outcome.kept, outcome.failed)
    assert txns(whole) == txns(tmp_path / "out")
    without_files = [{**row, "file": "", "bytes": 0, "digest": ""} for row in rows(whole)]
    assert without_files == [{**row, "file": "", "bytes": 0, "digest": ""} for row in rows(tmp_path / "out")]


def test_a_full_disk_keeps_what_is_finished_and_the_rest_comes_later(planned, in_process, whole, tmp_path, monkeypatch):
    real = part_module.Place.write
    written = []

    def write(self, content):
        if "part-" in self.name and self.name.endswith(".parquet"):
            written.append(self.name)
            if len(written) > 1:
                raise OSError(28, "No space left on device")
        real(self, content)

    monkeypatch.setattr(part_module.Place, "write", write)
    with pytest.raises(OutputError, match="the disk is full"):
        swept(planned(), tmp_path / "out", in_process, commit_every_s=1e-9)
    assert 1 == len(parts(tmp_path / "out"))
    monkeypatch.undo()

    swept(planned(), tmp_path / "out", in_process)
    assert contents(whole) == contents(tmp_path / "out")


def test_what_spark_says_about_a_lost_job_becomes_one_line(planned, tmp_path):
    class Lost(InProcessSpark):
        def createDataFrame(self, table):  # noqa: N802
            raise RuntimeError("Job aborted due to stage failure\n  at org.apache\nCaused by: SparkException: lost")

    with pytest.raises(EngineError, match=r"^Spark failed: .*SparkException: lost\. Completed runs are kept"):
        swept(planned(), tmp_path / "out", Lost())


def test_progress_begins_with_what_is_there_and_ends_with_everything(planned, in_process, out):
    parts(out)[0].unlink()
    standings: list[Standing] = []

    swept(planned(), out, in_process, progress=standings.append)

    assert (12, 12, 1.0) == (standings[-1].runs_done, standings[-1].runs_total, pytest.approx(standings[-1].share_done))
    assert standings[0].runs_before == standings[0].runs_done < 12


# ---- folders that are not as they should be -----------------------------------------------------------


def test_a_truncated_file_is_named_and_nothing_is_changed(planned, in_process, whole, out):
    victim = parts(out)[0]
    size = victim.stat().st_size
    victim.write_bytes(victim.read_bytes()[:-100])

    with pytest.raises(
        OutputError, match=f"{victim.name} is damaged: it has {size - 100:,} bytes of {size:,}.*--repair"
    ):
        swept(planned(), out, in_process)
    assert size - 100 == victim.stat().st_size

    swept(planned(), out, in_process, repairs=True)
    assert contents(whole) == contents(out)


def test_a_flipped_bit_in_the_table_of_runs_stops_a_sweep_that_goes_on(planned, in_process, whole, out):
    (victim,) = objects(out)
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 4
    victim.write_bytes(content)

    with pytest.raises(OutputError, match=f"{victim.name} is damaged. Sweep again with --repair"):
        swept(planned(), out, in_process)
    swept(planned(), out, in_process, repairs=True)
    assert contents(whole) == contents(out)


def test_a_flipped_bit_in_a_part_that_no_row_names_yet_is_not_taken_over(planned, in_process, whole, out):
    objects(out)[0].unlink()  # as if the driver had died before the commit
    victim = parts(out)[0]
    content = bytearray(victim.read_bytes())
    content[1_000] ^= 4
    victim.write_bytes(content)

    swept(planned(), out, in_process)
    assert contents(whole) == contents(out)


def test_a_file_that_is_gone_is_simulated_again(planned, in_process, whole, out):
    parts(out)[0].unlink()

    assert swept(planned(), out, in_process).failed == ()
    assert contents(whole) == contents(out)


def test_a_folder_of_something_else_is_refused(planned, in_process, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")

    with pytest.raises(OutputError, match=r"holds files that are not of a sweep \(thesis.tex\)"):
        swept(planned(), tmp_path / "out", in_process)
    assert ["thesis.tex"] == [path.name for path in (tmp_path / "out").iterdir()]


@pytest.mark.parametrize("key", ["model_version", "schema_version", "format"])
def test_a_folder_of_another_version_is_never_mixed_in(planned, in_process, out, key):
    written = {"model_version": MODEL_VERSION, "schema_version": SCHEMA_VERSION, "format": 6}[key] - 1
    change_marker(out, lambda marker: marker.update({key: written}))

    with pytest.raises(OutputError, match=f"{key.replace('_', ' ')} {written}.*must not be mixed"):
        swept(planned(), out, in_process)


def test_a_sweep_without_a_session_leaves_no_trace(planned, tmp_path):
    def no_session():
        raise EngineError("no Java")

    with pytest.raises(EngineError, match="no Java"):
        run_sweep(planned(), tmp_path / "new", no_session)
    assert not (tmp_path / "new").exists()
