"""Plays the scenarios on the real PyIceberg and writes down its requests.

The comparison lives in ``verification.suites.pyiceberg``. Data files are made up, so that no request is about data.
"""

from __future__ import annotations

import logging
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import pyiceberg
from pyiceberg.conversions import to_bytes
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.expressions import And, BooleanExpression, EqualTo, LessThanOrEqual
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.typedef import Record
from pyiceberg.types import LongType, NestedField

from rigs.pyiceberg.journal import CAS, CATALOG, MANIFEST_LIST, WRITE, Journal, Request
from rigs.pyiceberg.journalled_catalog import JournalledCatalog
from verification.recordings import today
from verification.suites.pyiceberg.stories import (
    BEFORE_SWAP,
    COMMITTED,
    DELETE,
    DELETE_AND_APPEND,
    EXHAUSTED,
    FAST_APPEND,
    INVALID,
    MERGE_APPEND,
    OVERWRITE,
    RIVALS_DELETE,
    Scenario,
    beyond_the_model,
    scenarios,
)

TABLE: Final = "db.events"
SCHEMA: Final = Schema(NestedField(1, "p", LongType(), required=True), NestedField(2, "id", LongType(), required=True))
SPEC: Final = PartitionSpec(PartitionField(source_id=1, field_id=1000, transform=IdentityTransform(), name="p"))
_NAMES: Final = re.compile(r"\{?\b\d{15,}\b(, \d+)*\}?|\[.*\]|DataFile\[.*")
RIVALS_PARTITION: Final = 1_000_000  # where rivals append: no filter of ours selects it


def data_file(partition: int, low: int, name: str) -> DataFile:
    """A file of ten rows, ids ``low`` to ``low + 9``, that exists nowhere."""
    bounds = {1: (partition, partition), 2: (low, low + 9)}
    file = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=f"data/{name}.parquet",
        file_format=FileFormat.PARQUET,
        partition=Record(partition),
        record_count=10,
        file_size_in_bytes=1_000,
        column_sizes={1: 100, 2: 100},
        value_counts={1: 10, 2: 10},
        null_value_counts={1: 0, 2: 0},
        nan_value_counts={},
        lower_bounds={column: to_bytes(LongType(), low) for column, (low, _) in bounds.items()},
        upper_bounds={column: to_bytes(LongType(), high) for column, (_, high) in bounds.items()},
        key_metadata=None,
        split_offsets=None,
        equality_ids=None,
        sort_order_id=None,
    )
    file.spec_id = 0
    return file


def first_file_of(partition: int) -> BooleanExpression:
    """Selects the first of the two files every partition begins with, as a whole."""
    return And(EqualTo("p", partition), LessThanOrEqual("id", 9))


def append(table: Table, *files: DataFile) -> None:
    """A fast append of made-up files."""
    with table.transaction() as txn, txn.update_snapshot().fast_append() as update:
        for file in files:
            update.append_data_file(file)


class Ground:
    """A table without snapshots, its victim and its rivals, in a folder of their own."""

    def __init__(self, folder: Path, isolation: str, **properties: str) -> None:
        self.journal = Journal()
        self.rivals = JournalledCatalog("rivals", folder, Journal())
        self.victim = JournalledCatalog("victim", folder, self.journal)
        self.rivals.create_namespace("db")
        own = {
            "commit.retry.min-wait-ms": "1",
            "write.delete.isolation-level": isolation,
            "write.update.isolation-level": isolation,
        }
        self.table = self.rivals.create_table(TABLE, SCHEMA, partition_spec=SPEC, properties=own | properties)

    def play(
        self, come_before: Callable[[], None], before: Callable[[Request], None], commit: Callable[[Table], None]
    ) -> dict[str, Any]:
        """From loading the table to the end of the commit; ``before`` is told of each of its requests."""
        table = self.victim.load_table(TABLE)
        come_before()
        self.journal.before = before
        self.journal.attempt = 1
        end: dict[str, Any] = {"outcome": COMMITTED}
        try:
            commit(table)
        except CommitFailedException:
            end = {"outcome": EXHAUSTED}
        except Exception as error:
            message = _NAMES.sub("...", str(error).split("\n")[0])
            end = {"outcome": INVALID, "exception": type(error).__name__, "message": message[:110]}
        self.journal.before = None
        return {**end, "attempts": [counted_runs(names) for names in self.journal.by_attempt()]}


class Stage:
    """One scenario."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario = scenario
        merging = {}
        if scenario.merge_count_min is not None:
            merging = {"commit.manifest-merge.enabled": "true"}
            merging["commit.manifest.min-count-to-merge"] = str(scenario.merge_count_min)
        self._ground = Ground(folder, scenario.isolation, **merging)
        self._acted = 0  # attempts in which rivals have acted
        self._rivals_so_far = 0
        partitions = scenario.manifests
        if scenario.rivals == RIVALS_DELETE:  # each rival takes a file of a partition of its own
            partitions += scenario.behind + sum(scenario.during)
        for partition in range(partitions):
            append(self._ground.table, *(data_file(partition, low, f"{partition}-{low}") for low in (0, 10)))

    def play(self) -> dict[str, Any]:
        """From loading the table to the end of the commit."""
        told = self._ground.play(lambda: self._let_rivals_commit(self.scenario.behind), self._before, self._commit)
        assert told.get("exception", "ValidationException") == "ValidationException", told
        return {name: told[name] for name in ("outcome", "attempts")}

    def _before(self, request: Request) -> None:
        """Let this attempt's rivals commit when the victim is about to send the request they are to precede."""
        is_now = (request.object, request.operation) == (CATALOG, CAS)
        if self.scenario.place != BEFORE_SWAP:
            is_now = (request.object, request.operation) == (MANIFEST_LIST, WRITE)
        if is_now and self._acted < request.attempt:
            self._acted = request.attempt
            if request.attempt <= len(self.scenario.during):
                self._let_rivals_commit(self.scenario.during[request.attempt - 1])

    def _let_rivals_commit(self, count: int) -> None:
        for _ in range(count):
            self._rivals_so_far += 1
            n = self._rivals_so_far
            table = self._ground.rivals.load_table(TABLE)
            if self.scenario.rivals == RIVALS_DELETE:
                table.delete(first_file_of(self.scenario.manifests - 1 + n))
            elif self.scenario.is_conflict_real and n == 1:
                append(table, data_file(0, 5, f"rival-{n}"))
            else:
                append(table, data_file(RIVALS_PARTITION, 0, f"rival-{n}"))

    def _commit(self, table: Table) -> None:
        operation = self.scenario.operation
        new = data_file(0, 20, "victim")
        with table.transaction() as txn:
            if operation == FAST_APPEND:
                with txn.update_snapshot().fast_append() as update:
                    update.append_data_file(new)
            elif operation == MERGE_APPEND:
                with txn.update_snapshot().merge_append() as update:
                    update.append_data_file(new)
            elif operation == OVERWRITE:
                with txn.update_snapshot().overwrite() as update:
                    update.delete_by_predicate(first_file_of(0))
                    update.delete_data_file(data_file(0, 0, "0-0"))
                    update.append_data_file(data_file(0, 0, "victim"))
            else:
                assert operation in (DELETE, DELETE_AND_APPEND), operation
                txn.delete(first_file_of(0))
                if operation == DELETE_AND_APPEND:
                    with txn.update_snapshot().fast_append() as update:
                        update.append_data_file(data_file(0, 0, "victim"))


def counted_runs(names: list[str]) -> list[str]:
    """Requests in order; what repeats is counted: ``manifest_list.read x5``."""
    counted = [(name, len(list(same))) for name, same in groupby(names)]
    return [name if count == 1 else f"{name} x{count}" for name, count in counted]


def record_each(stories: Iterable[Any], play: Callable[[Any, Path], dict[str, Any]]) -> dict[str, Any]:
    """Every story on the installed PyIceberg. One worker thread, so that the order of requests is one order."""
    os.environ["PYICEBERG_MAX_WORKERS"] = "1"
    logging.getLogger("pyiceberg").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    told = {}
    for story in stories:
        with tempfile.TemporaryDirectory() as folder:
            told[story.key] = play(story, Path(folder))
    return {"pyiceberg": pyiceberg.__version__, "recorded": today(), "scenarios": told}


def record() -> dict[str, Any]:
    """Every scenario."""
    return record_each((*scenarios(), *beyond_the_model()), lambda story, folder: Stage(story, folder).play())
