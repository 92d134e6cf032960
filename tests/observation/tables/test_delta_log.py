"""The log of a Delta table: what its commits say, and what is left of one that was cleaned up or damaged."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from endive.errors import ObservationError
from endive.observation.folder import load_observed, write_folder
from endive.observation.observe import observe, with_reports
from endive.observation.replay.replay import replay
from endive.observation.tables.delta_log import delta_folder, read_delta_log

RECORDED = Path(__file__).parents[1] / "data" / "delta_rs"

START_MS = 1_700_000_000_000


def info(operation="WRITE", *, at=START_MS, **more):
    return {"commitInfo": {"timestamp": at, "operation": operation, **more}}


def file(kind, path, *, changes=True, size=10, partition=None):
    return {kind: {"path": path, "dataChange": changes, "size": size, "partitionValues": partition or {}}}


def write_log(folder, commits, first=0):
    log = folder / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    for version, actions in enumerate(commits, start=first):
        text = "\n".join(map(json.dumps, actions)) if isinstance(actions, list) else actions
        (log / f"{version:020d}.json").write_text(text + "\n")
    return str(folder)


def test_a_recorded_log_of_delta_rs():
    history = read_delta_log(str(RECORDED))

    kinds = Counter(commit.kind for commit in history.commits)
    failed = (RECORDED / "attempts.csv").read_text().count("failed")
    assert {"blind_append", "merge", "optimize"} == set(kinds)
    assert {"delta-rs"} == {commit.engine for commit in history.commits}
    assert failed > 0, "a log of commits tells of none that failed"
    shape = history.shape
    assert (1, 2, "20") == (shape.partition_fields, shape.partitions, shape.settings["delta.checkpointInterval"])
    assert max(commit.attempts or 0 for commit in history.commits) > 1


def test_a_recorded_log_of_delta_spark():
    """With deletion vectors: a statement removes a file and adds it again with its vector."""
    history = read_delta_log(str(RECORDED.parent / "delta_spark"))

    kinds = ["blind_append", "merge", "blind_append", "append_after_read", "optimize"]
    assert kinds == [commit.kind for commit in history.commits[-5:]]
    assert ["files"] == [commit.read for commit in history.commits if commit.kind == "merge"]
    assert ("spark", "true") == (history.commits[0].engine, history.shape.settings["delta.enableDeletionVectors"])
    assert 2 == history.shape.partitions


@pytest.mark.parametrize(
    ("actions", "operation", "kind"),
    [
        ([info(isBlindAppend=True), file("add", "a")], "append", "blind_append"),
        ([info(isBlindAppend=False), file("add", "a")], "append", "append_after_read"),
        ([info(readVersion=3), file("add", "a")], "append", "append_after_read"),
        ([info(), file("add", "a")], "append", "blind_append"),
        ([info("MERGE"), file("add", "a"), file("remove", "b")], "overwrite", "merge"),
        ([info("DELETE"), file("remove", "b")], "delete", "merge"),
        ([info("OPTIMIZE"), *(file(op, op, changes=False) for op in ("add", "remove"))], "replace", "optimize"),
    ],
)
def test_a_commit_is_known_by_its_files(tmp_path, actions, operation, kind):
    (commit,) = read_delta_log(write_log(tmp_path / "t", [actions])).commits

    assert (operation, kind) == (commit.operation, commit.kind)


def test_who_committed(tmp_path):
    spark = {"engineInfo": "Apache-Spark/4.1.0 Delta-Lake/4.1.0"}
    commits = [
        [info("STREAMING UPDATE", **spark), {"txn": {"appId": "q-7", "version": 1}}, file("add", "a")],
        [info(**spark, job={"jobId": "12"}), file("add", "b")],
        [info(engineInfo="delta-rs:py-1.6.6"), file("add", "c")],
    ]
    place = write_log(tmp_path / "t", commits)

    assert ["spark-streaming-q-7", "spark-12", "delta-rs"] == [each.writer for each in read_delta_log(place).commits]
    by_job = read_delta_log(place, writer_key="job.jobId").commits
    assert ["unknown", "12", "unknown"] == [each.writer for each in by_job]


def test_attempts_files_and_partitions_are_counted(tmp_path):
    commits = [
        [info(), file("add", "a", partition={"p": "3"}), file("add", "b", partition={"p": "9"}, size=5)],
        [info("DELETE", operationMetrics={"num_retries": "2"}), file("remove", "a", partition={"p": "3"})],
        [info("SET TBLPROPERTIES"), {"metaData": {"partitionColumns": ["p"], "configuration": {}}}],
    ]

    history = read_delta_log(write_log(tmp_path / "t", commits))

    first, second = history.commits
    assert (15, 2, 2, None) == (first.added_bytes, first.changed_partitions, first.total_files, first.attempts)
    assert (1, 1, 3) == (second.removed_files, second.total_files, second.attempts)
    assert (1, 1, 3) == (history.shape.partition_fields, history.shape.partitions, history.shape.snapshots)
    assert any("1 commits changed no file (1 SET TBLPROPERTIES)" in note for note in history.notes)


@pytest.mark.parametrize(
    ("engine", "predicate", "read"),
    [
        ("Apache-Spark/4.1.0", '["((p#12 = 3) AND (id#11 = 30))"]', "files"),
        ("Apache-Spark/4.1.0", '["(p#12 IN (3, 9))"]', "partitions"),
        ("Apache-Spark/4.1.0", '["(id#11 = 30)"]', "table"),
        ("Apache-Spark/4.1.0", "[]", "table"),
        ("delta-rs:py-1.6.6", "id = 30", "files"),
        ("delta-rs:py-1.6.6", "p = 3 AND NOT p IS NULL", "partitions"),
    ],
)
def test_a_predicate_says_what_was_read(tmp_path, engine, predicate, read):
    told = info("DELETE", engineInfo=engine, operationParameters={"predicate": predicate})
    commits = [[{"metaData": {"partitionColumns": ["p"]}}], [told, file("remove", "a")]]

    (commit,) = read_delta_log(write_log(tmp_path / "t", commits)).commits

    assert read == commit.read


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Observed from the log and from what its clients noted."""
    history = with_reports(read_delta_log(str(RECORDED)), [RECORDED / "attempts.csv"])
    (written,) = write_folder(tmp_path_factory.mktemp("delta") / "seen", [observe(history)])
    return written


def test_an_observed_table_can_be_run(folder):
    config = load_observed(folder)
    kinds = {source.name: source.operation_types for source in config.sources}
    assert ("delta", "delta_rs", 20) == (config.table.format, config.delta.client, config.delta.checkpoint_interval)
    assert (1.0, 1.0, 1.0) == (kinds["stream"].blind_append, kinds["deletes"].merge, kinds["compactions"].optimize)
    assert {"files"} == {source.read for source in config.sources if source.name == "deletes"}


@pytest.mark.slow
def test_an_observed_table_is_replayed(folder):
    """Commits from before the clients' log began keep the name of their engine."""
    sources = {"stream", "deletes", "compactions", "delta-rs-append", "delta-rs-delete"}

    assert sources == set(replay(folder, seeds=2).sources)


def test_what_was_seen_is_told_in_words_of_delta():
    seen = observe(read_delta_log(str(RECORDED))).findings

    assert {"append", "delete", "merge", "optimize"} == set(seen["operations"])
    assert set() == {name for name in ("overwrite", "compaction") if name in str(seen["sources"])}


def test_what_spark_works_to_read_a_log_is_told_as_assumed_of_its_tables_alone():
    told = {
        name: [line for line in observe(read_delta_log(str(place))).findings["assumed"] if "log_replay_ms" in line]
        for name, place in (("delta_rs", RECORDED), ("spark", RECORDED.parent / "delta_spark"))
    }

    line = "delta.log_replay_ms = 350: no log tells how long Spark works each time it reads one"
    assert {"delta_rs": [], "spark": [line]} == told


def test_a_log_that_was_cleaned_up(tmp_path):
    place = write_log(tmp_path / "t", [[info(), file("add", f"f{at}")] for at in range(4)], first=10)
    hint = tmp_path / "t" / "_delta_log" / "_last_checkpoint"
    hint.write_text(json.dumps({"version": 10, "size": 50, "numOfAddFiles": 40}))
    (tmp_path / "t" / "_delta_log" / f"{12:020d}.json").unlink()

    history = read_delta_log(place)

    assert (10, 43) == (history.expired, history.shape.data_files)
    for told in ("begins with version 10", "1 versions between"):
        assert any(told in note for note in history.notes)
    hint.write_text(json.dumps({"version": 11, "numOfAddFiles": 30}))  # one of its files is version 10's, one 11's
    assert 31 == read_delta_log(place).shape.data_files
    hint.unlink()
    assert read_delta_log(place).shape.data_files is None


def test_settings_that_were_cleaned_up_are_taken_from_what_is_left(tmp_path):
    own, rearranging = info(isolationLevel="WriteSerializable"), info("OPTIMIZE", isolationLevel="SnapshotIsolation")
    commits = [[own, file("add", f"f{at}", partition={"day": at % 3})] for at in range(4)]
    commits.append([rearranging, file("add", "g", changes=False, partition={"day": 7})])
    place = write_log(tmp_path / "t", commits, first=10)
    for version in (5, 10, 15, 17):
        (tmp_path / "t" / "_delta_log" / f"{version:020d}.checkpoint.parquet").touch()

    shape = read_delta_log(place).shape

    expected = {"delta.checkpointInterval": "5", "delta.isolationLevel": "WriteSerializable"}
    assert expected.items() <= shape.settings.items()
    assert (1, 4) == (shape.partition_fields, shape.partitions)


def test_a_merge_that_only_inserts_is_no_source_of_appends(tmp_path):
    columns = {"metaData": {"partitionColumns": ["p"]}}
    merging = {"readVersion": 3, "operationParameters": {"predicate": "p = 1"}}
    commits = [[columns, info(), file("add", "f", partition={"p": 0})]]
    commits += [[info(at=START_MS + 1000 * at), file("add", f"f{at}", partition={"p": 1})] for at in range(1, 20)]
    commits += [
        [info("MERGE", at=START_MS + 900 * at, **merging), file("add", f"g{at}", partition={"p": 1})]
        for at in range(1, 20)
    ]

    written = observe(read_delta_log(write_log(tmp_path / "t", commits))).config

    assert [({"append_after_read": 1.0}, "partitions"), ({"blind_append": 1.0}, None)] == sorted(
        ((each["operation_types"], each.get("read")) for each in written["source"]), key=str
    )


@pytest.mark.lengthy
def test_a_verdict_on_a_table_of_delta_has_no_words_of_icebergs(tmp_path):
    commits = [[info(at=START_MS + 60 * at, engineInfo="delta-rs:1"), file("add", f"f{at}")] for at in range(80)]
    seen = tmp_path / "seen"
    write_folder(seen, [observe(read_delta_log(write_log(tmp_path / "t", commits)))])

    told = replay(seen, seeds=2)

    assert not told.explains
    assert [] == re.findall("catalog|commit.retry|summar|write\\.", told.verdict)


def test_a_commit_without_info_has_the_time_of_its_file(tmp_path):
    history = read_delta_log(write_log(tmp_path / "t", [[file("add", "a")]]))

    assert history.commits[0].time_us > 1_700_000_000_000_000
    assert any("no commitInfo" in note for note in history.notes)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[1]", "is no action of Delta's"),
        ("{", "is not JSON"),
        ('{"add": {"size": 1}}', "has a file without a path"),
        ("[" * 10_000, "nested"),
        (None, "has no commit"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path, content, told):
    place = write_log(tmp_path / "t", [] if content is None else [content])

    with pytest.raises(ObservationError, match=told):
        read_delta_log(place)
    with pytest.raises(ObservationError, match="has no _delta_log"):
        read_delta_log(str(tmp_path))


def test_a_table_is_found_by_its_folder_or_its_log(tmp_path):
    shutil.copytree(RECORDED, tmp_path / "t")

    log = tmp_path / "t" / "_delta_log"
    assert [log, log, log] == [delta_folder(str(each)) for each in (tmp_path / "t", log, f"file://{tmp_path / 't'}")]
    assert delta_folder(str(tmp_path / "t" / "attempts.csv")) is None
