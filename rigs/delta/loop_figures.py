"""What the closed loops of both clients have in common: delays, endings, and what is kept of a kind of request."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from verification.recordings import QUANTILES, quantiles, today

WRITERS: Final = (1, 2, 4, 8, 16)
DELAYS_MS: Final = {"GET": 20.0, "LIST": 20.0, "PUT": 30.0, "HEAD": 10.0, "DELETE": 20.0, "POST": 20.0}
COMMITTED: Final = "committed"
EXHAUSTED: Final = "retries exhausted"
CLEANED: Final = "log cleaned up"
OTHER: Final = "other"
ENDINGS: Final = (COMMITTED, EXHAUSTED, CLEANED, OTHER)


def describe(values: Sequence[float]) -> dict[str, Any]:
    """What is kept of a kind of request."""
    mean_ms = round(sum(values) / len(values), 3)
    return {"count": len(values), "mean_ms": mean_ms, "quantiles_ms": quantiles(values)}


class Cells:
    """The cells of a recording by what names them; those that are not recorded again stay as they are."""

    def __init__(self, path: Path, *names: str) -> None:
        self._path, self._names = path, names
        known: dict[str, Any] = {"cells": [], "date": ""}
        if path.is_file():
            known = json.loads(path.read_text(encoding="utf-8"))
        self._date = known["date"]
        self._cells = {self._key(cell): cell for cell in known["cells"]}

    def _key(self, cell: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(cell[name] for name in self._names)

    def replace(self, cell: dict[str, Any]) -> None:
        """A cell that is recorded again keeps its former runs, behind those that they replaced themselves."""
        before, earlier = self._cells.get(self._key(cell)), []
        if before is not None:
            runs = {"date": self._date, "seconds": before["seconds"], "runs": before["runs"]}
            earlier = [*before.get("earlier", ()), runs]
        self._cells[self._key(cell)] = {**cell, "earlier": earlier}

    def write(self, head: dict[str, Any]) -> None:
        """All of them, behind what they were recorded with."""
        document = {
            **head,
            "date": today(),
            "cores": os.cpu_count(),
            "delays_ms": DELAYS_MS,
            "shares": QUANTILES,
            "endings": ENDINGS,
            "cells": [self._cells[key] for key in sorted(self._cells)],
        }
        self._path.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")
