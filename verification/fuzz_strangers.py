"""What ``verification.fuzz_config`` mutates besides configurations: a stranger's table, folders, questions of the page.

Each subject is a text and the way a command reads it. Folders are made once, with everything whole; a case has a copy
in which one file is another.
"""

from __future__ import annotations

import atexit
import json
import random
import re
import shutil
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa

from verification.fuzz_config import MUTATIONS, Subject

START_MS = 1_772_366_400_000
COMMITS = 24
REPLAY_SEEDS = 2
TOKEN, PORT = "token", 8765
ORIGIN = f"http://127.0.0.1:{PORT}"
ROUTES = ("open", "ask", "curve", "compare")
ANSWERS = (200, 413, 422)
NASTY = (
    "null", "true", "[]", "{}", "[[]]", '""', "-1", "0", "1e999", "-1e999", "NaN", "1.5", "9223372036854775808",
    "9" * 5_000, '"' + "9" * 5_000 + '"', '"\\ud800"', '"\\u001b[2J"', '"\\u0000"', '"/dev/zero"', '"../../x"',
    "[" * 400 + "]" * 400, "[" * 60_000 + "]" * 60_000, '{"a": ' * 400 + "1" + "}" * 400, '"' + "x" * 5_000 + '"',
    '["append"]', '{"operation": 7}', '"s3://elsewhere/x.avro"', '"file:///dev/zero"', "2", '"2"', "[null]",
)  # fmt: skip
_VALUE = re.compile(r'(?<=: )("(?:[^"\\]|\\.)*"|[^\s,{}\[\]]+)')


# ---- mutations ---------------------------------------------------------------------------------------


def with_nasty_member(chance: random.Random, text: str) -> str:
    """One value of a JSON document becomes one that few expect."""
    places = list(_VALUE.finditer(text))
    if not places:
        return text
    at = chance.choice(places)
    return text[: at.start()] + chance.choice(NASTY) + text[at.end() :]


def without_member(chance: random.Random, text: str) -> str:
    """A line of a JSON document is lost, with its comma."""
    lines = text.splitlines() or [""]
    del lines[chance.randrange(len(lines))]
    return re.sub(r",(\s*[}\]])", r"\1", "\n".join(lines))


def with_byte(chance: random.Random, text: str) -> str:
    """One byte is another."""
    at = chance.randrange(len(text) or 1)
    return text[:at] + chr(chance.randrange(256)) + text[at + 1 :]


OF_JSON = (with_nasty_member, with_nasty_member, with_nasty_member, without_member, *MUTATIONS[-4:])
OF_LINES = (with_nasty_member, with_nasty_member, with_nasty_member, *MUTATIONS[-4:])
OF_BYTES = (with_byte, with_byte, MUTATIONS[-1])


# ---- a stranger's table --------------------------------------------------------------------------------


def metadata_text() -> str:
    """A harmless table with two writers."""
    snapshots = [
        {
            "snapshot-id": 1000 + number,
            "parent-snapshot-id": 999 + number,
            "sequence-number": number,
            "timestamp-ms": START_MS + 60_000 * number,
            "manifest-list": f"/tables/t/metadata/snap-{1000 + number}-1-abc.avro",
            "summary": {
                "operation": ("append", "overwrite", "replace", "append")[number % 4],
                "spark.app.id": f"job-{number % 2}",
                "added-data-files": "3",
                "total-data-files": str(3 * number),
                "added-files-size": "900",
                "changed-partition-count": "1",
            },
        }
        for number in range(1, COMMITS)
    ]
    document = {
        "format-version": 2,
        "location": "/tables/t",
        "partition-specs": [{"spec-id": 0, "fields": [{"name": "day"}]}],
        "default-spec-id": 0,
        "properties": {"commit.retry.num-retries": "7", "commit.manifest.min-count-to-merge": "50"},
        "current-snapshot-id": 1000 + COMMITS - 1,
        "metadata-log": [],
        "snapshots": snapshots,
    }
    return json.dumps(document, indent=1)


LOG = "timestamp,operation,table,duration_ms,attempts,outcome,writer\n" + "".join(
    f"2026-03-01T12:{minute:02d}:00Z,append,events,{200 + minute},{1 + minute % 2},committed,flink\n"
    for minute in range(20)
)
REPORT = json.dumps(
    {
        "report-type": "commit-report",
        "table-name": "t",
        "snapshot-id": 1005,
        "metrics": {
            "total-duration": {"count": 1, "time-unit": "nanoseconds", "total-duration": 900_000_000},
            "attempts": {"unit": "count", "value": 2},
        },
    }
).replace('": ', '": ')


_SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"
_PLAN = "== Physical Plan ==\nAppendData (2)\nArguments: x, IcebergWrite(table=lake.db.t, format=PARQUET)"
EVENTS = "\n".join(
    json.dumps(event)
    for number in range(20)
    for event in (
        {"Event": f"{_SQL}Start", "executionId": number, "rootExecutionId": number, "description": "sql",
         "physicalPlanDescription": _PLAN, "sparkPlanInfo": {"nodeName": "AppendData"},
         "time": START_MS + 60_000 * number},
        {"Event": "SparkListenerJobStart", "Job ID": number, "Properties": {"spark.sql.execution.id": str(number)}},
        {"Event": "SparkListenerJobEnd", "Job ID": number, "Completion Time": START_MS + 60_000 * number + 500},
        {"Event": f"{_SQL}End", "executionId": number, "time": START_MS + 60_000 * number + 900, "errorMessage": ""},
    )
)  # fmt: skip
DELTA_COMMIT = "\n".join(
    json.dumps(action)
    for action in (
        {"commitInfo": {"timestamp": START_MS, "operation": "MERGE", "operationParameters": {"predicate": "day = 1"},
                        "operationMetrics": {"num_retries": 1, "execution_time_ms": "7"},
                        "engineInfo": "delta-rs:1.6"}},
        {"metaData": {"partitionColumns": ["day"], "configuration": {"delta.checkpointInterval": "10"}}},
        {"add": {"path": "a", "size": 7, "partitionValues": {"day": "1"}, "dataChange": True}},
        {"remove": {"path": "b", "dataChange": True, "deletionTimestamp": START_MS}},
    )
)  # fmt: skip


def observe_lines(path: Path) -> None:
    """As ``endive observe`` does with lines of an engine, or Spark's events."""
    from endive.observation.observe import observe, read_any_log

    for history in read_any_log(path):
        observe(history)


def observe_delta(path: Path) -> None:
    """As ``endive observe`` does with a Delta table, whose second commit is that of the case."""
    from endive.observation.observe import observe
    from endive.observation.tables.delta_log import read_delta_log

    with tempfile.TemporaryDirectory(dir=_scratch()) as scratch:
        log = Path(scratch) / "t" / "_delta_log"
        log.mkdir(parents=True)
        for version in range(5):
            text = DELTA_COMMIT.replace(str(START_MS), str(START_MS + 60_000 * version)).replace('"a"', f'"a{version}"')
            (log / f"{version:020d}.json").write_text(text)
        shutil.copyfile(path, log / f"{1:020d}.json")
        observe(read_delta_log(str(log.parent)))


def observe_metadata(path: Path) -> None:
    """As ``endive observe`` does with a file."""
    from endive.observation.observe import observe
    from endive.observation.tables.catalogs import read_metadata_file

    observe(read_metadata_file(str(path), {}, seconds_max=1.0))


def observe_log(path: Path) -> None:
    """As ``endive observe`` does with a log."""
    from endive.observation.logs.statement_log import read_log
    from endive.observation.observe import observe

    for history in read_log(path):
        observe(history)


def join_a_report(path: Path) -> None:
    """As ``endive observe --reports`` does."""
    from endive.observation.logs.commit_reports import join_reports, read_reports
    from endive.observation.tables.metadata import history_of

    join_reports(history_of(metadata_text().encode(), "t"), read_reports(path))


# ---- folders -------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _scratch() -> Path:
    place = tempfile.mkdtemp(prefix="endive-fuzz-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return Path(place)


@lru_cache(maxsize=1)
def observed_folder() -> Path:
    """What ``endive observe`` writes of the harmless table."""
    from endive.observation.folder import write_folder
    from endive.observation.observe import observe
    from endive.observation.tables.metadata import history_of

    place = _scratch() / "observed"
    write_folder(place, [observe(history_of(metadata_text().encode(), "t"))])
    return place


@lru_cache(maxsize=1)
def dataset_folder() -> Path:
    """What a sweep of four small runs leaves."""
    from tests.pipeline.in_process import InProcessSpark

    from endive.config.study import load_study
    from endive.pipeline import PlannedStudy, run_sweep

    file = _scratch() / "tiny.toml"
    file.write_text(
        '[study]\nname = "tiny"\nseeds = 2\n[axes]\n"transaction.inter_arrival.scale" = [500, 1000]\n'
        "[base.simulation]\nduration_ms = 5_000\n"
        "[base.transaction]\nruntime = { mean = 1_000, sigma = 0.5, min = 200 }\n"
    )
    planned = PlannedStudy.of(load_study(file))
    made: Callable[[], Any] = InProcessSpark
    run_sweep(planned, _scratch() / "dataset", made, engine="reference")
    return _scratch() / "dataset"


def _with_file(folder: Path, name: str, use: Callable[[Path], None]) -> Callable[[Path], None]:
    """A reader of a folder in which one file is that of the case."""

    def read(path: Path) -> None:
        with tempfile.TemporaryDirectory(dir=_scratch()) as scratch:
            copy = Path(scratch) / "copy"
            shutil.copytree(folder, copy)
            shutil.copyfile(path, copy / name)
            use(copy)

    return read


def _with_document_sealed_again(folder: Path, name: str, use: Callable[[Path], None]) -> Callable[[Path], None]:
    """A reader of a folder in which one document is that of the case, with a digest that fits it.

    Without that no case would get past the digest, and what reads the document would never be tried.
    """

    def read(path: Path) -> None:
        from endive.pipeline.dataset.seal import DIGEST, seal_document

        content = path.read_bytes()
        try:
            document = json.loads(content)
            document.pop(DIGEST, None)
            content = seal_document(document)
        except (ValueError, AttributeError, RecursionError):
            pass  # no JSON object, or one that cannot be written: read as it is
        with tempfile.TemporaryDirectory(dir=_scratch()) as scratch:
            copy = Path(scratch) / "copy"
            shutil.copytree(folder, copy)
            (copy / name).write_bytes(content)
            use(copy)

    return read


def _with_rows_sealed_again(folder: Path, name: str, use: Callable[[Path], None]) -> Callable[[Path], None]:
    """A reader of a folder whose table of runs has one wrong column, under the name that its content asks for."""

    def read(path: Path) -> None:
        import pyarrow.parquet as pq

        from endive.pipeline.dataset.files import place_of
        from endive.pipeline.dataset.runs_table import append_rows

        chance = random.Random(zlib.crc32(path.read_bytes()))
        rows = with_wrong_column(chance, pq.read_table(folder / name))
        with tempfile.TemporaryDirectory(dir=_scratch()) as scratch:
            copy = Path(scratch) / "copy"
            shutil.copytree(folder, copy)
            (copy / name).unlink()
            append_rows(place_of(copy), "tiny", rows)
            use(copy)

    return read


def with_wrong_column(chance: random.Random, rows: pa.Table) -> pa.Table:
    """One column of a table is lost, empty, of another type, or holds values that few expect; or rows are."""
    column = chance.choice(rows.column_names)
    index, kind, count = rows.column_names.index(column), rows.schema.field(column).type, rows.num_rows
    choice = chance.randrange(7)
    if choice == 0:
        return rows.drop_columns([column])
    if choice == 1:
        return rows.set_column(index, column, pa.nulls(count, kind))
    if choice == 2:
        other = chance.choice([pa.string(), pa.int64(), pa.float64(), pa.list_(pa.int64()), pa.bool_(), pa.binary()])
        return rows.set_column(index, column, pa.nulls(count, other))
    if choice == 3:
        return pa.concat_tables([rows, rows.slice(chance.randrange(count), 1)])
    if choice == 4:
        return rows.slice(0, chance.randrange(count))
    nasty: list[Any] = ["", "../../x", "\x1b[2J", "x" * 5_000] if pa.types.is_string(kind) else [-1, 0, 2**31 - 1]
    nasty = [float("nan"), float("inf"), -1.0, 1e308] if pa.types.is_floating(kind) else nasty
    nasty = [[], None] if pa.types.is_list(kind) else nasty
    values = rows[column].to_pylist()
    values[chance.randrange(count)] = chance.choice([True, False] if pa.types.is_boolean(kind) else nasty)
    return rows.set_column(index, column, pa.array(values, kind))


def replay_folder(folder: Path) -> None:
    """As ``endive replay`` does, with few runs."""
    from endive.observation.replay.replay import replay

    assert replay(folder, seeds=REPLAY_SEEDS).verdict


def open_folder(folder: Path) -> None:
    """As ``endive check`` and the beginning of ``endive analyze`` do."""
    from endive.pipeline.analysis.open_dataset import open_dataset
    from endive.pipeline.dataset.check import check_dataset

    check_dataset(folder)
    open_dataset(folder)


def folder_subjects() -> list[Subject]:
    """Every file of both folders."""
    found = []
    for folder, use in ((observed_folder(), replay_folder), (dataset_folder(), open_folder)):
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size):
            name = str(path.relative_to(folder))
            kinds = {".json": OF_JSON, ".parquet": OF_BYTES}.get(path.suffix, MUTATIONS)
            subject = Subject(
                f"{folder.name}/{name}", path.read_bytes().decode("latin-1"), _with_file(folder, name, use)
            )
            found.append(replace(subject, ending=path.suffix or ".txt", mutations=kinds, encoding="latin-1"))
            again = {".json": _with_document_sealed_again, ".parquet": _with_rows_sealed_again}.get(path.suffix)
            if use is open_folder and again is not None and not name.startswith("transactions"):
                sealed = replace(found[-1], name=f"{found[-1].name}, sealed again", reader=again(folder, name, use))
                found.append(sealed)
    return found


# ---- the page ------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _client() -> Any:
    """The page's server, without processes that simulate."""
    from starlette.testclient import TestClient

    from endive.explore import app as app_module
    from endive.explore.starting_points import BUILT_IN, Starts, start_of

    class NoCrew:
        async def run(self, *_: Any) -> Any:
            yield {"type": "answer"}

        def close(self) -> None:
            pass

    start = start_of(BUILT_IN / "twenty_writers.toml", group="", prefix="built-in/")
    app = app_module.make_app(Starts({start.id: start}), token=TOKEN, port=PORT)
    client = TestClient(app, base_url=ORIGIN, headers={"Origin": ORIGIN})
    with mock.patch.object(app_module, "Crew", return_value=NoCrew()):
        client.__enter__()
    return client


def ask_page(path: Path) -> None:
    """As the page does, at every address: an answer in words, with the headers that guard it."""
    for route in ROUTES:
        answer = _client().post(f"/{TOKEN}/api/{route}", content=path.read_bytes())
        assert answer.status_code in ANSWERS, f"{route}: {answer.status_code} {answer.text[:200]}"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"], route


def page_subjects() -> list[Subject]:
    """Questions, each as one of the routes has it."""
    question = {
        "start": "built-in/twenty_writers",
        "changes": {"source.writers.retry": "7", "catalog.num_tables": "2", "storage.provider": "s3"},
        "vary": "source.writers.arrivals.clients",
    }
    bodies = [question, {"a": question, "b": question}, {"study": "x", "roles": {"x": "a"}, "selection": {"a": "1"}}]
    return [
        Subject(f"a question of the page {number}", json.dumps(body, indent=1), ask_page, ".json", OF_JSON)
        for number, body in enumerate(bodies)
    ]


def stranger_subjects() -> list[Subject]:
    """All of it; what is read as JSON is mutated as JSON."""
    found = [
        Subject("a table's metadata", metadata_text(), observe_metadata, ".json", OF_JSON),
        Subject("a log of commits", LOG, observe_log, ".csv"),
        Subject("a commit report", REPORT, join_a_report, ".json", OF_JSON),
        Subject("Spark's events", EVENTS, observe_lines, ".json", OF_LINES),
        Subject("a commit of Delta's", DELTA_COMMIT, observe_delta, ".json", OF_LINES),
        *page_subjects(),
        *folder_subjects(),
    ]
    return found
