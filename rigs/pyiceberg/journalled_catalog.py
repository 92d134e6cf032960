"""PyIceberg's own SqlCatalog on SQLite, with its pointer requests in a journal and its attempts counted.

A SELECT of the table's row is a read of the pointer, an UPDATE of it a swap. What the catalog does is not changed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyiceberg.table
from pyiceberg.catalog.sql import SqlCatalog
from sqlalchemy import event

from rigs.pyiceberg.journal import CAS, CATALOG, JOURNAL_PROPERTY, JOURNALS, READ, Journal, Request

_SQLITE_TIMEOUT_S = 30


class JournalledCatalog(SqlCatalog):
    """One client's catalog. A refused attempt lasts until the pointer is read again, for the next one."""

    def __init__(self, name: str, folder: Path, journal: Journal) -> None:
        JOURNALS[name] = journal
        super().__init__(
            "endive",  # the catalog's name is a column of its rows: every client has to use the same
            uri=f"sqlite:///{folder / 'catalog.sqlite'}?timeout={_SQLITE_TIMEOUT_S}",
            warehouse=str(folder / "warehouse"),
            **{"py-io-impl": "rigs.pyiceberg.file_io.JournalledFileIO", JOURNAL_PROPERTY: name},
        )
        self.journal = journal
        self._swap: Request | None = None
        self._is_refused = False
        event.listen(self.engine, "connect", _connected)
        event.listen(self.engine, "before_cursor_execute", self._before)
        event.listen(self.engine, "after_cursor_execute", self._after)
        self.engine.dispose()

    def _before(self, _c: Any, _u: Any, statement: str, _p: Any, context: Any, _many: bool) -> None:
        context.endive_request = None
        if "iceberg_tables" not in statement:
            return
        if statement.startswith("SELECT"):
            if self._is_refused:
                self._is_refused = False
                self.journal.attempt += 1
            context.endive_request = self.journal.begin(CATALOG, READ)
        elif statement.startswith("UPDATE"):
            self._swap = self.journal.begin(CATALOG, CAS)

    def _after(self, _c: Any, _u: Any, _s: str, _p: Any, context: Any, _many: bool) -> None:
        if context.endive_request is not None:
            self.journal.end(context.endive_request)

    def commit_table(self, table: Any, requirements: Any, updates: Any) -> Any:
        self._swap = None
        try:
            response = super().commit_table(table, requirements, updates)
        except Exception:
            self._end_swap()
            self._is_refused = True
            raise
        self._end_swap()
        return response

    def _end_swap(self) -> None:
        if self._swap is not None:
            self.journal.end(self._swap)


def _connected(connection: Any, _record: Any) -> None:
    """No wait for a disk: how long a pointer takes is SQLite's locks and no more."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous = OFF")
    cursor.execute("PRAGMA journal_mode = MEMORY")
    cursor.close()


@contextmanager
def journalled_backoff(journal: Journal) -> Iterator[None]:
    """Notes when PyIceberg sleeps before a retry (``Transaction.commit_transaction`` calls ``time.sleep``)."""

    def sleep(seconds: float) -> None:
        begin_s = time.perf_counter()
        journal.pauses.append((begin_s, begin_s + seconds))  # as long as asked for: waking up late is not a pause
        time.sleep(seconds)

    real = pyiceberg.table.time
    pyiceberg.table.time = SimpleNamespace(sleep=sleep, monotonic=time.monotonic)
    try:
        yield
    finally:
        pyiceberg.table.time = real
