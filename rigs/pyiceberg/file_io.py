"""A FileIO for PyIceberg in pure Python: local files, every request journalled and delayed.

Opening a file is a GET, asking whether it exists or how long it is a HEAD, closing a new one a PUT, removing it a
DELETE; creating one that must not exist yet asks first, as PyIceberg's own FileIOs do (``PyArrowFile.create``,
``FsspecOutputFile.create``). What an S3 client adds to that is not covered.
"""

from __future__ import annotations

import io
import os
from types import TracebackType
from typing import Any

from pyiceberg.io import FileIO, InputFile, OutputFile

from rigs.pyiceberg.journal import (
    DELETE,
    HEAD,
    JOURNAL_PROPERTY,
    JOURNALS,
    READ,
    WRITE,
    Journal,
    Request,
    object_of,
)


class JournalledFileIO(FileIO):
    """PyIceberg's ``py-io-impl``: made from properties, one of which names the journal."""

    def __init__(self, properties: dict[str, str]) -> None:
        super().__init__(properties)
        self.journal = JOURNALS[properties[JOURNAL_PROPERTY]]

    def new_input(self, location: str) -> JournalledFile:
        return JournalledFile(location, self.journal)

    def new_output(self, location: str) -> JournalledFile:
        return JournalledFile(location, self.journal)

    def delete(self, location: Any) -> None:
        path = location if isinstance(location, str) else location.location
        request = self.journal.begin(object_of(path), DELETE)
        os.remove(path)
        self.journal.end(request)


class JournalledFile(InputFile, OutputFile):
    """A local file, read or written as a whole."""

    def __init__(self, location: str, journal: Journal) -> None:
        super().__init__(location)
        self._journal = journal

    def _begin(self, operation: str) -> Request:
        return self._journal.begin(object_of(self.location), operation)

    def __len__(self) -> int:
        request = self._begin(HEAD)
        size_bytes = os.path.getsize(self.location)
        self._journal.end(request)
        return size_bytes

    def exists(self) -> bool:
        request = self._begin(HEAD)
        is_there = os.path.exists(self.location)
        self._journal.end(request)
        return is_there

    def open(self, seekable: bool = True) -> io.BytesIO:
        request = self._begin(READ)
        with open(self.location, "rb") as file:
            content = file.read()
        self._journal.end(request)
        return io.BytesIO(content)

    def create(self, overwrite: bool = False) -> _Output:
        if not overwrite and self.exists():
            raise FileExistsError(self.location)
        return _Output(self.location, self._journal)

    def to_input_file(self) -> JournalledFile:
        return self


class _Output(io.BytesIO):
    """Collects what is written; closing it is the PUT."""

    def __init__(self, location: str, journal: Journal) -> None:
        super().__init__()
        self._location = location
        self._journal = journal

    def close(self) -> None:
        if self.closed:
            return
        request = self._journal.begin(object_of(self._location), WRITE)
        os.makedirs(os.path.dirname(self._location), exist_ok=True)
        with open(self._location, "wb") as file:
            file.write(self.getvalue())
        self._journal.end(request)
        super().close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
