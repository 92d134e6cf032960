"""The folder of one run: its txns, its summary and the configuration that made it, or none of them.

A folder that holds anything else is not touched.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
from pathlib import Path
from typing import Final

from endive.errors import OutputError
from endive.results.result import SimulationResult
from endive.results.writer import ResultWriter, first_of, hold_folder, is_abandoned, output_errors, write_atomically

TRANSACTIONS_FILE: Final = "transactions.parquet"
CONFIG_FILE: Final = "config.toml"
SUMMARY_FILE: Final = "summary.json"  # the last to appear: where it is, the folder is whole
FILES: Final = (TRANSACTIONS_FILE, CONFIG_FILE, SUMMARY_FILE)
_PARTIAL: Final = ".partial-"


def place_below(folder: Path, path: str) -> Path:
    """The place of ``simulation.output_path`` below a folder; OutputError if a link leads out of it."""
    place = folder / path
    name = Path(path).parts[0]
    if name in FILES or name.startswith(_PARTIAL):
        raise OutputError(f"simulation.output_path = '{path}' is the name of another file of a run. Choose another.")
    with output_errors(place):
        is_below = place.resolve().is_relative_to(folder.resolve())
    if not is_below:
        raise OutputError(
            f"simulation.output_path = '{path}' leads out of {folder.absolute()} by a link. Name a file below it."
        )
    return place


class RunFolder:
    """A context manager: files grow in a hidden folder inside, and ``publish`` moves them out.

    An existing folder may be empty or hold an earlier run, which is replaced; anything else is refused
    before the simulation starts.
    """

    def __init__(self, path: str | os.PathLike[str], also: str | None = None) -> None:
        """``also`` is a file of the run's own below the folder, as ``simulation.output_path`` names one."""
        self.path = Path(path)
        self._ours = (*FILES, *([] if also is None else [Path(also).parts[0]]))
        self._left = (_PARTIAL, *([] if also is None else [f".{also}."]))  # how what a killed run leaves begins
        self._is_new = not self.path.exists()
        self._refuse_foreign_files()
        self._partial = self.path / f"{_PARTIAL}{os.getpid()}-{secrets.token_hex(4)}"
        with contextlib.ExitStack() as stack:
            with output_errors(self.path):
                self._partial.mkdir(parents=True)
                stack.callback(self._discard)
                stack.enter_context(hold_folder(self._partial))
            for leftover in self.path.glob(f"{_PARTIAL}*"):  # by killed runs
                if leftover != self._partial and is_abandoned(leftover):
                    shutil.rmtree(leftover, ignore_errors=True)
            self.writer = ResultWriter(self._partial / TRANSACTIONS_FILE)
            stack.callback(self.writer.discard)
            self._stack = stack.pop_all()

    def publish(self, result: SimulationResult, config_toml: str) -> None:
        """Let the finished run appear. ``writer`` must have been closed by the run."""
        summary = {**result.to_json_dict(), "provenance": result.provenance.to_dict()}
        text = json.dumps(summary, indent=2, allow_nan=False) + "\n"
        write_atomically(self._partial / CONFIG_FILE, config_toml.encode())
        write_atomically(self._partial / SUMMARY_FILE, text.encode())
        with output_errors(self.path):
            (self.path / SUMMARY_FILE).unlink(missing_ok=True)
            for name in FILES:
                os.replace(self._partial / name, self.path / name)
            self._partial.rmdir()

    def _refuse_foreign_files(self) -> None:
        if self._is_new:
            return
        if not self.path.is_dir():
            raise OutputError(f"Cannot write {self.path}: it is a file; name a folder.")
        with output_errors(self.path):
            names = sorted(entry.name for entry in self.path.iterdir())
        foreign = [name for name in names if name not in self._ours and not name.startswith(self._left)]
        if foreign:
            raise OutputError(
                f"Cannot write {self.path}: it holds files that are not of a run ({first_of(foreign)}). "
                "Choose an empty or a new folder."
            )

    def _discard(self) -> None:
        if self._partial.exists():
            shutil.rmtree(self._partial, ignore_errors=True)
            if self._is_new:
                with contextlib.suppress(OSError):
                    self.path.rmdir()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
