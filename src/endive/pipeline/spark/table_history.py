"""A table's past through the user's Spark: his ``spark-submit``, or his server of Spark Connect.

Our own PySpark is newer than any runtime of Iceberg. What is asked of Spark is in ``metadata_rows``; what is made of
the rows in ``endive.observation``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from endive.errors import IntakeError, ObservationError
from endive.intake import parse_json, read_bytes
from endive.observation.history import TableHistory, TableShape, in_order, is_cut
from endive.observation.secrets import redact
from endive.observation.tables.snapshots import commit_of
from endive.observation.tables.table_properties import read_properties
from endive.pipeline.spark import metadata_rows
from endive.pipeline.spark.session import make_session

SUBMIT: Final = "ENDIVE_SPARK_SUBMIT"
REMOTE: Final = "SPARK_REMOTE"
SECONDS_MAX: Final = 900.0
BYTES_MAX: Final = 256 * 2**20
NEEDED: Final = (
    "It takes a Spark with Iceberg's runtime whose spark-defaults.conf has your catalog: name its spark-submit by "
    f"{SUBMIT} (else the one of SPARK_HOME or of the PATH is used), or its Connect server by {REMOTE}=sc://host"
)


def read_spark_table(table: str, *, writer_key: str | None = None, spark: SparkSession | None = None) -> TableHistory:
    """The history of a table by the name Spark knows it by."""
    submit = None if spark is not None or REMOTE in os.environ else find_submit()
    if submit is not None:
        document = _submitted(submit, table)
    else:
        try:
            document = metadata_rows.describe(make_session("endive observe") if spark is None else spark, table)
        except PySparkException as error:
            raise _unreadable(table, str(error).splitlines()[0]) from None
    return _history(table, document, writer_key)


def find_submit() -> Path | None:
    """The user's ``spark-submit``: named, or of SPARK_HOME, or on the path."""
    named = os.environ.get(SUBMIT)
    if named is not None:
        if not Path(named).is_file():
            raise ObservationError(f"{SUBMIT} = '{named}' does not exist. {NEEDED}.")
        return Path(named)
    home = os.environ.get("SPARK_HOME")
    command = shutil.which("spark-submit", path=f"{home}/bin" if home else None)
    return None if command is None else Path(command)


def _submitted(submit: Path, table: str) -> Mapping[str, Any]:
    """What the user's Spark wrote down."""
    with tempfile.TemporaryDirectory(prefix="endive-spark-") as scratch:
        out = Path(scratch) / "rows.json"
        command = [str(submit), str(Path(metadata_rows.__file__)), table, str(out)]
        environment = {
            key: value for key, value in os.environ.items() if SUBMIT not in os.environ or key != "SPARK_HOME"
        }
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=SECONDS_MAX, env=environment
            )
        except subprocess.TimeoutExpired:
            raise _unreadable(table, f"no answer within {SECONDS_MAX:,.0f} s") from None
        if done.returncode or not out.is_file():
            raise _unreadable(table, _cause(done.stderr + done.stdout))
        try:
            content = read_bytes(out, bytes_max=BYTES_MAX, noun="what Spark says of a table")
            document: Mapping[str, Any] = parse_json(content, name=table, bytes_max=BYTES_MAX)
        except IntakeError as error:
            raise _unreadable(table, str(error)) from None
    return document


def _cause(text: str) -> str:
    """The line that names an exception, the last of them."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if ("Exception" in line or "Error" in line) and not line.startswith("at ")]
    return (named or lines or ["nothing said"])[-1]


def _unreadable(table: str, text: str) -> ObservationError:
    told = redact(text)[:400].rstrip(".")
    return ObservationError(f"table '{table}' cannot be read through Spark: {told}. {NEEDED}.")


def _history(table: str, document: Mapping[str, Any], writer_key: str | None) -> TableHistory:
    commits = in_order(commit_of(row, writer_key) for row in document["snapshots"])
    if not commits:
        raise ObservationError(f"table '{table}' has no snapshots.")
    newest = commits[-1]
    told = {str(key): str(value) for key, value in (document["properties"] or {}).items()}
    version = told.get("format-version", "2")
    properties, notes = read_properties(told)
    if is_cut(commits):
        notes = [
            *notes,
            f"the history begins with snapshot {commits[0].snapshot_id}; what came before it is expired.",
        ]
    return TableHistory(
        name=table,
        commits=commits,
        shape=TableShape(
            snapshots=len(commits),
            manifests=int(document["manifests"]),
            manifest_bytes=None if document["manifest_bytes"] is None else float(document["manifest_bytes"]),
            data_files=newest.total_files,
            partition_fields=int(document["partitions"] is not None),
            partitions=document["partitions"],
            format_version=int(version) if version in ("1", "2", "3") else 2,
            properties=properties,
        ),
        location=newest.manifest_list.partition("://")[0] if "://" in newest.manifest_list else "",
        notes=tuple(f"{table}: {note}" for note in notes),
    )
