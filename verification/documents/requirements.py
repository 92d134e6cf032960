"""Requirements as the TOML files beside this one state them, and where their evidence lives.

A requirement names tests by their function, so that a test may move between files. What a run cannot show is not
listed: speed of the earlier program, its file names, plans of a migration.
"""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent.parent
DOCUMENTS: Final = ("internals", "plan", "specification", "report", "design")
_EVIDENCE: Final = re.compile(r"test_\w+|(?:claim|run): .+?(?=$| test_| claim: | run: )")
_TEST: Final = re.compile(r"^\s*def (test_\w+)\(", re.MULTILINE)
MEASURED: Final = "measured"  # a recording or a run says otherwise than the document
DISAGREE: Final = "documents disagree"  # other lines of the documents say otherwise
NOTE: Final = "note"  # as written, in the place that is named
GROUNDS: Final = (MEASURED, DISAGREE, NOTE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """What some lines of a document ask for."""

    lines: str
    text: str
    tests: tuple[str, ...]
    claims: tuple[str, ...]
    runs: tuple[str, ...] = ()
    ground: str = ""  # one of GROUNDS, if there is more to say than "as written"
    words: str = ""

    @property
    def is_different(self) -> bool:
        """Whether Endive does something else on purpose."""
        return self.ground in (MEASURED, DISAGREE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One of the five."""

    title: str
    requirements: tuple[Requirement, ...]


def read_document(name: str) -> Document:
    """The requirements of one document, in the order of its lines."""
    table = tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))
    return Document(title=table["title"], requirements=tuple(_requirement(*row) for row in table["rows"]))


def _requirement(lines: str, text: str, evidence: str, difference: str = "") -> Requirement:
    parts = _EVIDENCE.findall(evidence)
    ground, _, words = difference.partition(": ")
    return Requirement(
        lines=lines,
        text=text,
        tests=tuple(part for part in parts if part.startswith("test_")),
        claims=tuple(part.removeprefix("claim: ") for part in parts if part.startswith("claim: ")),
        runs=tuple(part.removeprefix("run: ") for part in parts if part.startswith("run: ")),
        ground=ground,
        words=words,
    )


@functools.cache
def find_tests(folder: Path = ROOT / "tests") -> dict[str, str]:
    """Where each test function stands: ``tests/.../test_x.py`` by name (its first place)."""
    places: dict[str, str] = {}
    for path in sorted(folder.rglob("test_*.py")):
        for name in _TEST.findall(path.read_text(encoding="utf-8")):
            places.setdefault(name, path.relative_to(folder.parent).as_posix())
    return places
