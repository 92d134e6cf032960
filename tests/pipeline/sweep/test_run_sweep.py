"""A sweep as a whole: what runs, what is kept, and that the dataset does not depend on how it came to be."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.pipeline.in_process import InProcessSpark, _Write
from tests.pipeline.swept import change_manifest

import endive
from endive.errors import EndiveError, EngineError, OutputError
from endive.pipeline import run_sweep
from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.sweep import part as part_module
from endive.results import MODEL_VERSION, SCHEMA_VERSION

pytestmark = pytest.mark.lengthy


def contents(folder: Path) -> dict[str, bytes]:
    """Every file a reader may see, by its path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not str(path.relative_to(folder)).startswith(("_", "."))
    }


def swept(planned, out, spark, **options):
    return run_sweep(planned, out, lambda: spark, **options)


def rows(folder: Path, dataset: str) -> list[dict]:
    return pq.read_table(folder / dataset).to_pylist()


def txns_in_order(folder: Path) -> list[dict]:
    return sorted(rows(folder, "transactions"), key=lambda row: (row["run_id"], row["txn_id"]))


def test_every_run_of_the_grid_is_in_runs_with_its_axes_and_its_figures(planned, in_process, tmp_path):
    study = planned()
    outcome = swept(study, tmp_path / "out", in_process)

    found = rows(tmp_path / "out", "runs")
    assert (outcome.simulated, outcome.kept, outcome.failed) == (12, 0, ())
    axes = ("transaction.inter_arrival.scale", "transaction.retry_backoff.policy", "seed")
    assert [tuple(row[axis] for axis in axes) for row in found] == [
        (scale, policy, seed) for scale in (500, 1000, 2000) for policy in ("none", "iceberg") for seed in (42, 43)
    ]
    assert [row["run_id"] for row in found] == [run.run_id for run in study.runs]
    assert outcome.txns == sum(row["txns"] for row in found)
    alone = endive.simulate(json.loads(found[5]["config"]))
    assert found[5]["fingerprint"] == alone.fingerprint
    assert found[5]["commit_latency_p95_ms"] == alone.summary()["commit_latency_ms"]["p95"]
    assert found[5]["requests_catalog_cas"] == alone.requests()["counts"]["catalog"]["cas"]


def test_the_txns_of_a_run_are_those_of_the_run_alone(planned, in_process, tmp_path):
    study = planned()
    swept(study, tmp_path / "out", in_process)

    run = study.runs[3]
    table = pq.read_table(tmp_path / "out" / "transactions", filters=[("run_id", "=", run.run_id)])
    alone = endive.simulate(json.loads(run.config), seed=run.seed).transactions_as_ended()
    kept = table.drop_columns(["run_id", "seed", "study", "point"])
    assert kept.to_pylist() == alone.to_pylist()
    ends_ms = [end_ms for end_ms in kept["end_ms"].to_pylist() if end_ms is not None]
    assert ends_ms == sorted(ends_ms)


def test_groups_hold_the_figures_of_each_operation_and_source(planned, in_process, tmp_path):
    study = planned("transaction.operation_types={fast_append=0.5, validated_overwrite=0.5}")
    swept(study, tmp_path / "out", in_process)

    found = [row for row in rows(tmp_path / "out", "groups") if row["run_id"] == study.runs[0].run_id]
    alone = endive.simulate(json.loads(study.runs[0].config), seed=42).to_json_dict()
    assert [(row["scope"], row["name"]) for row in found] == [
        ("operation", "fast_append"),
        ("operation", "validated_overwrite"),
        ("source", "default"),
    ]
    assert found[1]["success_rate"] == alone["by_operation"]["validated_overwrite"]["success_rate"]
    assert found[1]["requests_total"] == alone["by_operation"]["validated_overwrite"]["requests"]["total"]


def test_detail_runs_keeps_the_same_figures_and_no_txns(planned, in_process, whole, tmp_path):
    outcome = swept(planned(), tmp_path / "few", in_process, detail="runs")

    assert not (tmp_path / "few" / "transactions").exists()
    assert [{**row, "transactions_kept": False} for row in rows(whole, "runs")] == rows(tmp_path / "few", "runs")
    assert rows(whole, "groups") == rows(tmp_path / "few", "groups")
    assert outcome.transactions_bytes == 0


def test_a_sample_keeps_the_txns_of_the_first_seed_of_every_point(planned, in_process, whole, tmp_path):
    swept(planned(), tmp_path / "some", in_process, detail="sample")
    swept(planned(seeds=3), tmp_path / "some", in_process, detail="sample")

    runs = rows(tmp_path / "some", "runs")
    chosen = {row["run_id"] for row in runs if row["seed"] == 42}
    assert chosen == {row["run_id"] for row in runs if row["transactions_kept"]}
    assert 6 == len(chosen)
    wanted = [row for row in txns_in_order(whole) if row["run_id"] in chosen]
    assert wanted == txns_in_order(tmp_path / "some")


def test_the_study_in_the_folder_makes_the_same_runs_again(planned, in_process, tmp_path):
    study = planned("transaction.retry=7")
    swept(study, tmp_path / "out", in_process)

    again = planned(path=tmp_path / "out" / "studies" / "small.toml")
    assert [run.run_id for run in again.runs] == [run.run_id for run in study.runs]


def test_two_studies_share_a_folder(planned, in_process, tmp_path, study_file):
    swept(planned("transaction.inter_arrival.scale=2000"), tmp_path / "out", in_process)
    other = tmp_path / "other.toml"
    other.write_text(study_file.read_text().replace('"small"', '"other"'))
    swept(planned("transaction.inter_arrival.scale=1000", path=other), tmp_path / "out", in_process)

    assert sorted({row["study"] for row in rows(tmp_path / "out", "runs")}) == ["other", "small"]


def test_a_small_sweep_is_one_job_of_one_partition_per_core_and_parts_of_one_point(planned, in_process, tmp_path):
    swept(planned(seeds=4), tmp_path / "out", in_process)

    assert (1, 2) == (in_process.jobs, len(in_process.partitions))
    assert sum(partition.num_rows for partition in in_process.partitions) == 24
    files = sorted((tmp_path / "out" / "transactions").rglob("*.parquet"))
    assert [f"point={point}" for point in range(6) for _ in range(2)] == [path.parent.name for path in files]
    assert {2} == {len(set(pq.ParquetFile(path).read()["seed"].to_pylist())) for path in files}


def test_the_work_is_committed_job_by_job(planned, in_process, whole, tmp_path):
    swept(planned(), tmp_path / "many", in_process, commit_every_s=0.0)

    assert 12 == in_process.jobs
    assert contents(whole) == contents(tmp_path / "many")


def test_rows_do_not_depend_on_the_number_of_cores(planned, whole, tmp_path):
    swept(planned(), tmp_path / "one", InProcessSpark(cores=1))

    assert txns_in_order(tmp_path / "one") == txns_in_order(whole)
    assert contents(tmp_path / "one" / "runs") == contents(whole / "runs")


def test_both_engines_write_the_same_bytes(planned, in_process, whole, tmp_path):
    swept(planned(), tmp_path / "reference", in_process, engine="reference")

    assert contents(whole / "transactions") == contents(tmp_path / "reference" / "transactions")
    assert contents(whole / "groups") == contents(tmp_path / "reference" / "groups")
    assert ({"compiled"}, {"reference"}) == tuple(
        {row["engine"] for row in rows(folder, "runs")} for folder in (whole, tmp_path / "reference")
    )


def test_a_sweep_that_is_complete_makes_no_session(planned, whole, out):
    outcome = run_sweep(planned(), out, lambda: pytest.fail("nothing is missing"))

    assert (outcome.simulated, outcome.kept) == (0, 12)
    assert contents(whole) == contents(out)


def test_tasks_that_are_repeated_leave_no_duplicates(planned, in_process, whole, tmp_path):
    in_process.repeats = 2
    swept(planned(), tmp_path / "twice", in_process)

    assert contents(whole) == contents(tmp_path / "twice")


@pytest.mark.parametrize("parts", [1, 7])
def test_after_an_interrupt_only_what_is_missing_runs_and_the_dataset_is_the_same(
    planned, in_process, whole, tmp_path, parts
):
    in_process.dies_after = parts
    with pytest.raises(KeyboardInterrupt):
        swept(planned(), tmp_path / "broken", in_process)
    kept = {row["run_id"] for row in rows(tmp_path / "broken", "runs")}
    assert kept == {row["run_id"] for row in rows(tmp_path / "broken", "transactions")}
    assert in_process.interrupted == 1

    in_process.dies_after = None
    outcome = swept(planned(), tmp_path / "broken", in_process)
    assert (outcome.simulated, outcome.kept) == (12 - len(kept), len(kept))
    assert contents(tmp_path / "broken") == contents(whole)


def test_what_a_killed_sweep_left_behind_is_swept_out(planned, in_process, out):
    leftover = out / "transactions" / "study=small" / ".part-00000-x.parquet.1-ab.tmp"
    leftover.write_bytes(b"half")
    for name in ("_progress", "_staging"):
        (out / name / "dead").mkdir(parents=True)

    swept(planned(), out, in_process)

    assert [False] * 3 == [place.exists() for place in (leftover, out / "_progress", out / "_staging")]


def test_more_seeds_add_runs_and_keep_the_others(planned, in_process, whole, out):
    outcome = swept(planned(seeds=3), out, in_process)

    assert (outcome.simulated, outcome.kept) == (6, 12)
    assert contents(whole / "transactions").items() <= contents(out / "transactions").items()
    assert [row["seed"] for row in rows(out, "runs")] == [42, 43, 44] * 6


@pytest.mark.parametrize(
    ("overrides", "detail", "told"),
    [
        (["transaction.retry=7"], "transactions", "holds 12 runs of a study 'small' that this study does not have"),
        ([], "runs", "keeps study 'small' with --detail transactions, not runs"),
        ([], "everything", "detail = 'everything' is not known"),
    ],
)
def test_a_study_that_lost_runs_or_has_another_detail_is_not_mixed_with_what_it_was(
    planned, in_process, out, overrides, detail, told
):
    with pytest.raises(EndiveError, match=told):
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
    swept_study = planned()
    outcome = swept(swept_study, tmp_path / "out", in_process)

    found = rows(tmp_path / "out", "runs")
    failed = [row for row in found if row["status"] == "failed"]
    assert [(row["transaction.inter_arrival.scale"], row["seed"], row["error"]) for row in failed] == [
        (1000, 43, "ZeroDivisionError: by nought")
    ] * 2
    assert outcome.failed == tuple((row["run_id"], "ZeroDivisionError: by nought") for row in failed)
    assert failed[0]["success_rate"] is None
    present = {row["run_id"] for row in rows(tmp_path / "out", "transactions")}
    assert present == {row["run_id"] for row in found if row["status"] == "ok"}
    assert outcome.simulated == 12


def test_failed_runs_are_kept_until_asked_for(planned, in_process, whole, tmp_path, one_fails, monkeypatch):
    swept(planned(), tmp_path / "out", in_process)
    monkeypatch.undo()

    outcome = swept(planned(), tmp_path / "out", in_process)
    assert (outcome.simulated, len(outcome.failed)) == (0, 2)
    outcome = swept(planned(), tmp_path / "out", in_process, retries_failed=True)
    assert outcome.failed == ()
    assert contents(tmp_path / "out") == contents(whole)


def test_a_full_disk_keeps_what_is_finished_and_the_rest_comes_later(planned, in_process, whole, tmp_path, monkeypatch):
    real = part_module.PartWriter._write
    writers = []

    def write(self, n_rows):
        writers.extend([self] if self not in writers else [])
        if len(writers) > 3:
            raise OSError(28, "No space left on device")
        real(self, n_rows)

    monkeypatch.setattr(part_module.PartWriter, "_write", write)
    with pytest.raises(OutputError, match="the disk is full"):
        swept(planned(), tmp_path / "out", in_process, commit_every_s=0.0)
    assert 3 == len(list((tmp_path / "out" / "transactions").rglob("*.parquet")))
    assert not (tmp_path / "out" / "_staging").exists()
    monkeypatch.undo()

    swept(planned(), tmp_path / "out", in_process)
    assert contents(tmp_path / "out") == contents(whole)


def test_what_spark_says_about_a_lost_job_becomes_one_line(planned, tmp_path):
    class Lost(InProcessSpark):
        def createDataFrame(self, table):  # noqa: N802
            raise RuntimeError("Job aborted due to stage failure\n  at org.apache\nCaused by: SparkException: lost")

    with pytest.raises(EngineError, match=r"^Spark gave up: .*What was finished is kept"):
        swept(planned(), tmp_path / "out", Lost())


def test_a_sweep_whose_parts_are_all_done_does_not_fail_because_spark_ended_afterwards(
    planned, in_process, whole, tmp_path, monkeypatch
):
    save = _Write.save

    def then_die(self, path):
        save(self, path)
        raise RuntimeError("Py4JNetworkError: Answer from Java side is empty")

    monkeypatch.setattr(_Write, "save", then_die)
    outcome = swept(planned(), tmp_path / "out", in_process)

    assert (12, ()) == (outcome.simulated, outcome.failed)
    assert contents(tmp_path / "out") == contents(whole)


# ---- folders that are not as they should be -----------------------------------------------------------


def test_a_truncated_file_is_named_and_nothing_is_changed(planned, in_process, out):
    victim = min((out / "transactions").rglob("*.parquet"))
    size = victim.stat().st_size
    victim.write_bytes(victim.read_bytes()[:-100])
    before = contents(out)

    told = f"is damaged: it has {size - 100:,} bytes of {size:,}. Sweep again with --repair, .*{victim.name}"
    with pytest.raises(OutputError, match=told):
        swept(planned(), out, in_process)
    assert contents(out) == before

    record = out / "_records" / "study=small" / f"{victim.stem}.json"
    victim.unlink()
    record.unlink()
    assert swept(planned(), out, in_process).simulated > 0


def test_a_folder_of_something_else_is_refused(planned, in_process, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")

    with pytest.raises(OutputError, match=r"holds files that are not of a sweep \(thesis.tex\)"):
        swept(planned(), tmp_path / "out", in_process)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]


def test_a_folder_of_the_layout_before_can_be_analysed_and_is_not_added_to(planned, in_process, out):
    def change(manifest):
        manifest["format"] = 4
        for part in manifest["studies"]["small"]["parts"]:
            place = next((out / "transactions").rglob(f"{part['name']}.parquet"))
            place.rename(place.parent.parent / place.name)
            del part["point"]

    change_manifest(out, change)
    for folder in (out / "transactions" / "study=small").glob("point=*"):
        folder.rmdir()

    assert 12 == open_dataset(out).runs.num_rows
    with pytest.raises(OutputError, match=r"folder format 4; this is 5, .* It can be analysed as it is"):
        swept(planned(), out, in_process)


@pytest.mark.parametrize("key", ["model_version", "schema_version"])
def test_a_folder_of_another_version_is_never_mixed_in(planned, in_process, out, key):
    written = {"model_version": MODEL_VERSION, "schema_version": SCHEMA_VERSION}[key] - 1
    change_manifest(out, lambda manifest: manifest.update({key: written}))
    before = contents(out)

    with pytest.raises(OutputError, match=f"{key.replace('_', ' ')} {written}.*must not be mixed"):
        swept(planned(), out, in_process)
    assert contents(out) == before


def test_a_sweep_without_a_session_leaves_no_trace_and_keeps_what_is_finished(planned, out, tmp_path):
    def no_session():
        raise EngineError("no Java")

    with pytest.raises(EngineError, match="no Java"):
        run_sweep(planned(), tmp_path / "new", no_session)
    assert not (tmp_path / "new").exists()

    min((out / "transactions").rglob("*.parquet")).unlink()
    before = contents(out / "transactions")
    with pytest.raises(EngineError, match="no Java"):
        run_sweep(planned(), out, no_session)
    assert before == contents(out / "transactions")
