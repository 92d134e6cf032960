"""Plays pairs of victim and rival on the real PyIceberg and writes down verdicts and requests.

Which pairs there are lives in ``verification.suites.pyiceberg.met``; how requests are journalled in
``journalled_catalog``.
"""

from __future__ import annotations

import datetime
import logging
import os
import re
import tempfile
import warnings
from pathlib import Path
from typing import Any, Final

import pyiceberg
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.expressions import And, BooleanExpression, EqualTo, GreaterThanOrEqual, LessThanOrEqual
from pyiceberg.table import Table

from verification.pyiceberg_rig.journal import MANIFEST_LIST, WRITE, Journal, Request
from verification.pyiceberg_rig.journalled_catalog import JournalledCatalog
from verification.pyiceberg_rig.story_stage import SCHEMA, SPEC, TABLE, append, counted_runs, data_file
from verification.recordings import today
from verification.suites.pyiceberg.met import DURING, TOUCHED, Met, all_met
from verification.suites.pyiceberg.stories import COMMITTED, EXHAUSTED, INVALID

# The files of the table, a manifest and a snapshot each: partition and the first of ten ids.
FILES: Final = {"E": (1, 0), "C": (0, 10), "A": (0, 0)}
_NAMES: Final = re.compile(r"\{?\b\d{15,}\b(, \d+)*\}?|\[.*\]|DataFile\[.*")


def selecting(name: str) -> BooleanExpression:
    """Selects the rows of one file, as a whole."""
    partition, low = FILES[name]
    return And(EqualTo("p", partition), And(GreaterThanOrEqual("id", low), LessThanOrEqual("id", low + 9)))


class MetStage:
    """One pair's table, its victim and its rival, in a folder of their own."""

    def __init__(self, met: Met, folder: Path) -> None:
        self.met = met
        self.journal = Journal()
        self._rivals = JournalledCatalog("rivals", folder, Journal())
        self._victim = JournalledCatalog("victim", folder, self.journal)
        self._has_come = met.when != DURING
        self._rivals.create_namespace("db")
        isolation = met.isolation or "serializable"
        properties = {
            "commit.retry.min-wait-ms": "1",
            "write.delete.isolation-level": isolation,
            "write.update.isolation-level": isolation,
        }
        table = self._rivals.create_table(TABLE, SCHEMA, partition_spec=SPEC, properties=properties)
        for name, (partition, low) in FILES.items():
            append(table, data_file(partition, low, name))

    def play(self) -> dict[str, Any]:
        """From loading the table to the end of the commit."""
        table = self._victim.load_table(TABLE)
        if self._has_come:
            self._rival_commits()
        self.journal.before = self._before
        self.journal.attempt = 1
        found: dict[str, Any] = {"outcome": COMMITTED}
        try:
            act(self.met.victim, table, "A", "victim")
        except CommitFailedException:
            found = {"outcome": EXHAUSTED}
        except Exception as error:
            message = _NAMES.sub("...", str(error).split("\n")[0])
            found = {"outcome": INVALID, "exception": type(error).__name__, "message": message[:110]}
        self.journal.before = None
        return {**found, "attempts": [counted_runs(names) for names in self.journal.by_attempt()]}

    def _before(self, request: Request) -> None:
        """A late rival comes when the victim is about to write its first list."""
        if not self._has_come and (request.object, request.operation) == (MANIFEST_LIST, WRITE):
            self._has_come = True
            self._rival_commits()

    def _rival_commits(self) -> None:
        if not self.met.rival:
            return
        table = self._rivals.load_table(TABLE)
        if self.met.rival == "append":
            append(table, data_file(*TOUCHED_ROWS[self.met.touches], "rival"))
        elif self.met.rival == "appends, then expire_snapshots":
            for turn in range(self.met.count):
                append(table, data_file(1, 50, f"rival-{turn}"))
            now = datetime.datetime.now() + datetime.timedelta(seconds=1)
            table.maintenance.expire_snapshots().older_than(now).commit()
        else:
            act(self.met.rival, table, TOUCHED[self.met.touches], "rival")


TOUCHED_ROWS: Final = {"rows the victim read": (0, 5), "its partition": (0, 50), "another partition": (1, 50)}


def act(operation: str, table: Table, name: str, new: str) -> None:
    """One operation on the file ``name``; what it adds has the rows of that file."""
    partition, low = FILES[name]
    added = data_file(partition, low, new)
    with table.transaction() as txn:
        if operation == "fast_append":
            with txn.update_snapshot().fast_append() as update:
                update.append_data_file(added)
        elif operation == "overwrite":
            with txn.update_snapshot().overwrite() as update:
                update.delete_by_predicate(selecting(name))
                update.delete_data_file(data_file(partition, low, name))
                update.append_data_file(added)
        elif operation == "overwrite unfiltered":
            with txn.update_snapshot().overwrite() as update:
                update.delete_data_file(data_file(partition, low, name))
                update.append_data_file(added)
        else:
            txn.delete(selecting(name))
            if operation == "delete and append":
                with txn.update_snapshot().fast_append() as update:
                    update.append_data_file(added)


def record() -> dict[str, Any]:
    """Every pair on the installed PyIceberg."""
    os.environ["PYICEBERG_MAX_WORKERS"] = "1"
    logging.getLogger("pyiceberg").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    found = {}
    for met in all_met():
        with tempfile.TemporaryDirectory() as folder:
            found[met.key] = MetStage(met, Path(folder)).play()
    return {"pyiceberg": pyiceberg.__version__, "recorded": today(), "scenarios": found}
