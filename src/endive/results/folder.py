"""The folder of one run: its txns, its summary and the configuration that made it, or none of them.

This file defines the names in the folder and the moment they appear. Refuses to touch a folder that holds anything
else.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
from pathlib import Path
from types import TracebackType
from typing import Final

from endive.errors import OutputError
from endive.results.result import SimulationResult
from endive.results.writer import ResultWriter, hold, is_abandoned, output_errors, write_atomically

TRANSACTIONS_FILE: Final = "transactions.parquet"
CONFIG_FILE: Final = "config.toml"
SUMMARY_FILE: Final = "summary.json"  # the last to appear: where it is, the folder is whole
_PARTIAL: Final = ".partial-"


class RunFolder:
    """A context manager: files grow in a hidden folder inside, and ``publish`` moves them out.

    An existing folder may be empty or hold an earlier run, which is replaced; anything else is refused
    before the simulation starts.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._is_new = not self.path.exists()
        self._refuse_foreign_files()
        self._partial = self.path / f"{_PARTIAL}{os.getpid()}-{secrets.token_hex(4)}"
        with output_errors(self.path):
            self._partial.mkdir(parents=True)
            self._held = os.open(self._partial, os.O_RDONLY)
        hold(self._held)
        self._remove_abandoned()
        try:
            self.writer = ResultWriter(self._partial / TRANSACTIONS_FILE)
        except BaseException:
            self._discard()
            os.close(self._held)
            raise

    def publish(self, result: SimulationResult, config_toml: str) -> None:
        """Let the finished run appear. ``writer`` must have been closed by the run."""
        summary = {**result.to_json_dict(), "provenance": result.provenance.to_dict()}
        text = json.dumps(summary, indent=2, allow_nan=False) + "\n"
        write_atomically(self._partial / CONFIG_FILE, config_toml.encode())
        write_atomically(self._partial / SUMMARY_FILE, text.encode())
        with output_errors(self.path):
            (self.path / SUMMARY_FILE).unlink(missing_ok=True)
            for name in (TRANSACTIONS_FILE, CONFIG_FILE, SUMMARY_FILE):
                os.replace(self._partial / name, self.path / name)
            self._partial.rmdir()

    def _refuse_foreign_files(self) -> None:
        if self._is_new:
            return
        if not self.path.is_dir():
            raise OutputError(f"Cannot write {self.path}: it is a file; name a folder.")
        with output_errors(self.path):
            found = sorted(entry.name for entry in self.path.iterdir())
        ours = (TRANSACTIONS_FILE, CONFIG_FILE, SUMMARY_FILE)
        foreign = [name for name in found if name not in ours and not name.startswith(_PARTIAL)]
        if foreign:
            others = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
            raise OutputError(
                f"Cannot write {self.path}: it holds files that are not of a run ({foreign[0]}{others}). "
                "Choose an empty or a new folder."
            )

    def _remove_abandoned(self) -> None:
        """What killed runs left in the folder."""
        for leftover in self.path.glob(f"{_PARTIAL}*"):
            if leftover != self._partial and is_abandoned(leftover):
                shutil.rmtree(leftover, ignore_errors=True)

    def _discard(self) -> None:
        shutil.rmtree(self._partial, ignore_errors=True)
        if self._is_new:
            with contextlib.suppress(OSError):
                self.path.rmdir()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.writer.discard()
        if self._partial.exists():
            self._discard()
        os.close(self._held)
