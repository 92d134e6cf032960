"""PyIceberg's way to files, with limits: regular files only, so many bytes, in so much time.

PyIceberg makes a FileIO where it needs one, from the properties of the catalog; so the class is named there
(``py-io-impl``). Which places may be read at all is decided in ``endive.observation.tables.allowed_places``.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pyiceberg.io import FileIO, InputFile, OutputFile, load_file_io

from endive.errors import IntakeError
from endive.intake import expand_gzip, is_gzip, read_bytes, refuse_json_size, within
from endive.observation.tables.allowed_places import SECONDS_MAX, local_path
from endive.observation.tables.io_properties import OWN_SECONDS, unguarded_properties

FILE_BYTES_MAX: Final = 128 * 2**20  # 100,000 snapshots take less
NOUN: Final = "a file of a table"


_recorded: list[list[str]] = []


@contextmanager
def record_outputs() -> Iterator[list[str]]:
    """Collect the locations of files that are written meanwhile, by any thread."""
    locations: list[str] = []
    _recorded.append(locations)
    try:
        yield locations
    finally:
        _recorded.remove(locations)


class GuardedFileIO(FileIO):  # type: ignore[misc]  # PyIceberg has no types here
    """Reads with limits; writes and deletes as the FileIO behind it does."""

    def unguarded(self, location: str) -> Any:
        """The FileIO behind it."""
        return load_file_io(unguarded_properties(self.properties), location)

    def new_input(self, location: str) -> InputFile:
        return GuardedInput(location, self)

    def new_output(self, location: str) -> OutputFile:
        for locations in _recorded:
            locations.append(location)
        output: OutputFile = self.unguarded(location).new_output(location)
        return output

    def delete(self, location: str | InputFile | OutputFile) -> None:
        self.unguarded(location if isinstance(location, str) else location.location).delete(location)


class GuardedInput(InputFile):  # type: ignore[misc]
    """A file that is read as a whole, or not at all."""

    def __init__(self, location: str, files: GuardedFileIO) -> None:
        super().__init__(location)
        self._files = files
        self._seconds_max = float(files.properties.get(OWN_SECONDS, SECONDS_MAX))

    def __len__(self) -> int:
        path = local_path(self.location)
        if path is not None:
            return Path(path).stat().st_size
        return within(self._seconds_max, lambda: len(self._behind()), name=f"'{self.location}'")

    def exists(self) -> bool:
        path = local_path(self.location)
        if path is not None:
            return Path(path).exists()
        return within(self._seconds_max, lambda: bool(self._behind().exists()), name=f"'{self.location}'")

    def open(self, seekable: bool = True) -> io.BytesIO:
        name = f"'{self.location}'"
        path = local_path(self.location)
        if path is not None:
            content = read_bytes(path, bytes_max=FILE_BYTES_MAX, noun=NOUN, name=name)
        else:
            content = within(self._seconds_max, lambda: self._read(name), name=name)
        # PyIceberg expands and parses metadata by itself: what would explode there does not get there.
        plain = expand_gzip(content, bytes_max=FILE_BYTES_MAX, name=name) if is_gzip(content) else content
        if plain[:1] == b"{":
            refuse_json_size(plain, name=name)
        return io.BytesIO(content)

    def _read(self, name: str) -> bytes:
        with self._behind().open() as file:
            content = bytes(file.read(FILE_BYTES_MAX + 1))
        if len(content) > FILE_BYTES_MAX:
            raise IntakeError(name, f"is too large; {NOUN} may have {FILE_BYTES_MAX:,} bytes.")
        return content

    def _behind(self) -> Any:
        return self._files.unguarded(self.location).new_input(self.location)
