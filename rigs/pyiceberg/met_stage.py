"""Plays pairs of victim and rival on the real PyIceberg and writes down verdicts and requests.

Which pairs there are lives in ``verification.suites.pyiceberg.met``; how requests are journalled in
``journalled_catalog``.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any, Final

from pyiceberg.expressions import And, BooleanExpression, EqualTo, GreaterThanOrEqual, LessThanOrEqual
from pyiceberg.table import Table

from rigs.pyiceberg.journal import MANIFEST_LIST, WRITE, Request
from rigs.pyiceberg.story_stage import TABLE, Ground, append, data_file, record_each
from verification.suites.pyiceberg.met import DURING, TOUCHED, Met, all_met

# The files of the table, a manifest and a snapshot each: partition and the first of ten ids.
FILES: Final = {"E": (1, 0), "C": (0, 10), "A": (0, 0)}


def selecting(name: str) -> BooleanExpression:
    """Selects the rows of one file, as a whole."""
    partition, low = FILES[name]
    return And(EqualTo("p", partition), And(GreaterThanOrEqual("id", low), LessThanOrEqual("id", low + 9)))


class MetStage:
    """One pair."""

    def __init__(self, met: Met, folder: Path) -> None:
        self.met = met
        self._ground = Ground(folder, met.isolation or "serializable")
        self._has_come = met.when != DURING
        for name, (partition, low) in FILES.items():
            append(self._ground.table, data_file(partition, low, name))

    def play(self) -> dict[str, Any]:
        """From loading the table to the end of the commit."""
        come_before = self._rival_commits if self._has_come else lambda: None
        return self._ground.play(come_before, self._before, lambda table: act(self.met.victim, table, "A", "victim"))

    def _before(self, request: Request) -> None:
        """A late rival comes when the victim is about to write its first list."""
        if not self._has_come and (request.object, request.operation) == (MANIFEST_LIST, WRITE):
            self._has_come = True
            self._rival_commits()

    def _rival_commits(self) -> None:
        if not self.met.rival:
            return
        table = self._ground.rivals.load_table(TABLE)
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
    """Every pair."""
    return record_each(all_met(), lambda met, folder: MetStage(met, folder).play())
