"""``DIR/analysis`` as values: the index, and the tables of each study.

Owns what is refused: a folder without an analysis, one that is damaged or of another layout, studies of two model
versions side by side. Refuses to own the tables' meaning (``docs/reference/analysis.md``) and what is drawn of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from endive.errors import OutputError

ANALYSIS: Final = "analysis"
INDEX: Final = "index.json"
FORMAT: Final = 1  # of the analysis, as far as this report can read it
SINGLE_TXN_TABLES: Final = ("attempts", "convoy", "timeline")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One study of an analysis: what it asked, and its rows."""

    name: str
    folder: Path
    facts: Mapping[str, Any]  # its entry in the index
    model_version: int
    tables: Mapping[str, pa.Table]

    @property
    def title(self) -> str:
        """What a reader calls it."""
        return str(self.facts.get("title") or self.name)

    @property
    def axes(self) -> tuple[str, ...]:
        """The keys that were varied, derived ones too."""
        return tuple(self.facts["axes"])

    def has(self, table: str) -> bool:
        """Whether the analysis holds the table; those of single txns may be missing."""
        return table in self.tables

    def rows(self, table: str, *, scope: str | None = "all", columns: Sequence[str] | None = None) -> list[Row]:
        """Rows of a table, of one scope if it has scopes; none if the table is not there."""
        if table not in self.tables:
            return []
        found = self.tables[table]
        if scope is not None and "scope" in found.column_names:
            found = found.filter(pc.equal(found["scope"], scope))
        if columns is not None:
            found = found.select([name for name in columns if name in found.column_names])
        return list(found.to_pylist())

    def figure_rows(self, figures: Sequence[str]) -> list[Row]:
        """Rows of the table ``figures`` for whole runs, of these figures only."""
        found = self.tables["figures"]
        wanted = pc.and_(pc.equal(found["scope"], "all"), pc.is_in(found["figure"], pa.array(figures, pa.string())))
        return list(found.filter(wanted).to_pylist())


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Everything ``endive analyze`` left in one folder."""

    folder: Path
    index: Mapping[str, Any]
    studies: tuple[Study, ...]
    notes: tuple[str, ...]  # what a reader must know about the folder itself


def open_analysis(folder: Path) -> Analysis:
    """The analysis of a folder that ``endive sweep`` filled; OutputError with what to do if there is none."""
    place = folder / ANALYSIS
    if not (place / INDEX).is_file():
        raise OutputError(_no_analysis(folder))
    index = _index(folder, place / INDEX)
    tables = {name: _table(folder, place, name, entry) for name, entry in index["tables"].items()}
    studies = tuple(_study(folder, name, facts, index, tables) for name, facts in index["studies"].items())
    if not studies:
        raise OutputError(f"The analysis in {place} holds no study. Run: endive analyze {folder}")
    return Analysis(folder=folder, index=index, studies=studies, notes=_notes(folder, index))


def refuse_two_models(studies: Sequence[Study]) -> None:
    """Numbers of two model versions must not stand side by side."""
    versions = sorted({study.model_version for study in studies})
    if len(versions) > 1:
        which = "; ".join(f"{study.folder}: version {study.model_version}" for study in studies)
        raise OutputError(
            f"These studies were simulated by model versions {' and '.join(map(str, versions))} ({which}), whose "
            f"numbers "
            "cannot be compared. Sweep the older one again into a new folder, and analyse it."
        )


def _no_analysis(folder: Path) -> str:
    if not folder.exists():
        return (
            f"{folder} does not exist. Fill it first: endive sweep STUDY --out {folder}, then endive analyze {folder}."
        )
    if not folder.is_dir():
        return (
            f"{folder} is a file. Name the folder that 'endive sweep --out' has filled and 'endive analyze' has read."
        )
    if (folder / INDEX).is_file() and folder.name == ANALYSIS:
        return f"{folder} is an analysis itself. Name the folder it lies in: endive report {folder.parent}"
    if not (folder / "_endive.json").is_file():
        return f"{folder} is not a folder that 'endive sweep --out' has filled, so there is nothing to report."
    failed, runs, error = _failures(folder)
    if runs and failed == runs:
        return (
            f"All {runs:,} runs in {folder} failed, so there is nothing to report. The first one: {error} "
            "Mend the study and sweep again with --retry-failed."
        )
    return f"{folder} has not been analysed. Run: endive analyze {folder}"


def _failures(folder: Path) -> tuple[int, int, str]:
    """Failed runs, all runs, and why the first one failed."""
    failed, runs, error = 0, 0, ""
    for file in sorted(folder.glob("runs/study=*/runs.parquet")):
        try:
            rows = pq.ParquetFile(file).read(columns=["status", "error"]).to_pylist()
        except (OSError, pa.ArrowException):
            continue
        runs += len(rows)
        errors = [row["error"] for row in rows if row["status"] != "ok"]
        failed += len(errors)
        error = error or (errors[0] if errors else "")
    return failed, runs, error


def _index(folder: Path, path: Path) -> dict[str, Any]:
    try:
        index = json.loads(path.read_bytes())
        kind, version = index["endive"], index["format"]
        _ = index["tables"], index["studies"], int(index["model_version"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OutputError(f"{path} cannot be read as the index of an analysis. Run: endive analyze {folder}") from error
    if kind != "analysis" or version != FORMAT:
        raise OutputError(
            f"{path} has layout {version}; this version of Endive reads layout {FORMAT}. Run: endive analyze {folder}"
        )
    return dict(index)


def _table(folder: Path, place: Path, name: str, entry: Mapping[str, Any]) -> pa.Table:
    path = place / str(entry["files"]["parquet"])
    try:
        table = pq.ParquetFile(path).read()
    except (OSError, pa.ArrowException) as error:
        raise OutputError(f"{path} is missing or damaged. Run: endive analyze {folder}") from error
    missing = {column["name"] for column in entry["columns"]} - set(table.column_names)
    if missing:
        raise OutputError(f"{path} lacks the column {min(missing)!r}. Run: endive analyze {folder}")
    return table


def _study(
    folder: Path, name: str, facts: Mapping[str, Any], index: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> Study:
    own = {
        table: whole.filter(pc.equal(whole["study"], name))
        for table, whole in tables.items()
        if facts.get("detail") != "runs" or table not in SINGLE_TXN_TABLES
    }
    return Study(name=name, folder=folder, facts=facts, model_version=int(index["model_version"]), tables=own)


def _notes(folder: Path, index: Mapping[str, Any]) -> tuple[str, ...]:
    """What has happened to the folder since it was analysed."""
    try:
        plans = json.loads((folder / "_endive.json").read_bytes())["studies"]
        planned = {name: sum(len(part["runs"]) for part in plan["parts"]) for name, plan in plans.items()}
    except (OSError, ValueError, KeyError, TypeError):
        return ()
    known = {name: facts["runs_planned"] for name, facts in index["studies"].items()}
    changed = sorted(name for name in planned if planned[name] != known.get(name))
    if not changed:
        return ()
    return (
        f"The folder was swept further after this analysis ({', '.join(changed)}). "
        f"Run 'endive analyze {folder}' and report again.",
    )
