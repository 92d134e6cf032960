"""``DIR/analysis`` as values: the index, and the tables of each study.

Refused are a folder without an analysis, one that is damaged or of another layout, and studies of two model versions
side by side. What the tables mean is in ``docs/reference/analysis.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.config.printable import printable_values
from endive.errors import OutputError
from endive.pipeline.dataset.files import Place, place_of
from endive.pipeline.dataset.previous_format import summary
from endive.pipeline.dataset.runs_table import printable_table, read_state
from endive.pipeline.dataset.seal import file_digest, read_document, unseal_document

ANALYSIS: Final = "analysis"
INDEX: Final = "index.json"
MANIFEST: Final = "_endive.json"  # of the sweep
RUNS: Final = "runs"
UNFINISHED: Final = "unfinished_sweep"
FORMAT: Final = 2  # of the analysis, as far as this report can read it
SINGLE_TXN_TABLES: Final = ("attempts", "convoy", "timeline")

_TEXT: Final = (str, type(None))
_FACTS: Final = {  # of a study, by type
    **dict.fromkeys(("title", "question", "look_for", "subject", "load_axis"), _TEXT),
    **dict.fromkeys(("sources", "kinds", "axes", "series"), list),
    **dict.fromkeys(("runs", "runs_failed", "runs_planned", "points", "seeds_min", "seeds_max"), int),
    **dict.fromkeys(("objective", "detail"), str),
    **dict.fromkeys(("report", "simulated"), dict),
}

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One study of an analysis: what it asked, and its rows."""

    name: str
    folder: Place | Path
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
        table_rows = self.tables[table]
        if scope is not None and "scope" in table_rows.column_names:
            table_rows = table_rows.filter(pc.equal(table_rows["scope"], scope))
        if columns is not None:
            table_rows = table_rows.select([name for name in columns if name in table_rows.column_names])
        return list(table_rows.to_pylist())

    def figure_rows(self, figures: Sequence[str], scope: str = "all", name: str = "all") -> list[Row]:
        """Rows of the table ``figures`` for one group of txns, of these figures only."""
        figure_rows = self.tables["figures"]
        group = pc.and_(pc.equal(figure_rows["scope"], scope), pc.equal(figure_rows["name"], name))
        wanted = pc.and_(group, pc.is_in(figure_rows["figure"], pa.array(figures, pa.string())))
        return list(figure_rows.filter(wanted).to_pylist())


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Everything ``endive analyze`` left in one folder."""

    folder: Place
    index: Mapping[str, Any]
    studies: tuple[Study, ...]
    notes: tuple[str, ...]  # what a reader must know about the folder itself


def open_analysis(folder: Place | Path) -> Analysis:
    """Open the analysis of a folder that ``endive sweep`` filled; OutputError with what to do if there is none."""
    folder = place_of(folder)
    place = folder / ANALYSIS
    if place.is_symlink():
        raise OutputError(f"{place} is a link out of the dataset, which is not followed. Remove it.")
    if not (place / INDEX).is_file():
        raise OutputError(_no_analysis(folder))
    index = _index(folder, place / INDEX)
    tables = {name: _table(folder, place, name, index) for name in index["tables"]}
    changed = _changed(folder, index)
    if changed and "warnings" in tables:
        tables["warnings"] = _without_missing(tables["warnings"], changed)
    studies = tuple(_study(folder, name, facts, index, tables) for name, facts in index["studies"].items())
    if not studies:
        raise OutputError(f"The analysis in {place} holds no study. Run: endive analyze {folder}")
    return Analysis(folder=folder, index=index, studies=studies, notes=_notes(folder, index, changed))


def analysis_needed(folder: Place | Path, slo: str | None) -> str | None:
    """Say why a folder of a sweep has to be analysed before it is drawn; None if its analysis will do."""
    folder = place_of(folder)
    if not (folder / MANIFEST).is_file():
        return None  # no sweep: opening it says so
    path = folder / ANALYSIS / INDEX
    if not path.is_file():
        failed, runs, _ = _failures(folder)
        return None if runs and failed == runs else f"{folder} has not been analysed"
    try:
        index = _index(folder, path)
    except OutputError:
        return f"the analysis in {folder} is damaged or of another version"
    if _changed(folder, index):
        return f"{folder} was swept further since it was analysed"
    if slo is not None and any(facts.get("objective") != slo for facts in index["studies"].values()):
        return f"{folder} was judged by another objective"
    return None


def refuse_two_models(studies: Sequence[Study]) -> None:
    """Numbers of two model versions must not stand side by side."""
    versions = sorted({study.model_version for study in studies})
    if len(versions) > 1:
        which = "; ".join(f"{study.folder}: version {study.model_version}" for study in studies)
        raise OutputError(
            f"These studies were simulated by model versions {' and '.join(map(str, versions))} ({which}), whose "
            "numbers cannot be compared. Sweep the older one again into a new folder, and analyse it."
        )


def _no_analysis(folder: Place) -> str:
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
    if not (folder / MANIFEST).is_file():
        return f"{folder} is not a folder that 'endive sweep --out' has filled, so there is nothing to report."
    failed, runs, error = _failures(folder)
    if runs and failed == runs:
        return (
            f"All {runs:,} runs in {folder} failed, so there is nothing to report. The first one: {error} "
            "Mend the study and sweep again with --retry-failed."
        )
    return f"{folder} has not been analysed. Run: endive analyze {folder}"


def _failures(folder: Place) -> tuple[int, int, str]:
    """Failed runs, all runs, and why the first one failed."""
    failed, runs, error = 0, 0, ""
    for place in (folder / RUNS).children("study=*"):
        try:
            rows = _runs_of(folder, place.name.removeprefix("study="))
        except (OutputError, OSError, pa.ArrowException):
            continue
        runs += rows.num_rows
        errors = rows.filter(pc.not_equal(rows["status"], "ok"))["error"].to_pylist() if rows.num_rows else []
        failed += len(errors)
        error = error or (errors[0] if errors else "")
    return failed, runs, error


def _runs_of(folder: Place, study: str) -> pa.Table:
    """Read ``status`` and ``error`` of each run, in either format."""
    earlier = summary(folder, RUNS, study)
    if not earlier.is_file():
        return read_state(folder, study)
    with earlier.parquet() as file:
        return file.read(columns=["status", "error"])


def _index(folder: Place, path: Place) -> dict[str, Any]:
    try:
        index = printable_values(unseal_document(read_document(path)))
        kind, version = index["endive"], index["format"]
        if version == FORMAT:
            _check_index(index)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise OutputError(f"{path} cannot be read as the index of an analysis. Run: endive analyze {folder}") from error
    if kind != "analysis" or version != FORMAT:
        raise OutputError(
            f"{path} has layout {version}; this version of Endive reads layout {FORMAT}. Run: endive analyze {folder}"
        )
    return dict(index)


def _check_index(index: Mapping[str, Any]) -> None:
    """Raise TypeError or KeyError unless every part of the index has the type that its readers expect."""
    _expect(index, {"tables": dict, "studies": dict, "digests": dict, "model_version": int})
    for table in index["tables"].values():
        _expect(table, {"columns": list, "files": dict, "rows": int, "title": str})
        for column in table["columns"]:
            _expect(column, {"name": str, "unit": str})
    for name, digest in index["digests"].items():
        _expect({"name": name, "digest": digest}, {"name": str, "digest": str})
    for facts in index["studies"].values():
        _expect(facts, {"axes": list, "runs": int, "runs_planned": int})
        _expect(facts, {name: kind for name, kind in _FACTS.items() if name in facts})
        for name in ("axes", "series", "sources", "kinds"):
            if not all(isinstance(each, str) for each in facts.get(name, ())):
                raise TypeError(name)


def _expect(value: Any, types: Mapping[str, Any]) -> None:
    if not isinstance(value, dict):
        raise TypeError("it is no JSON object")
    for name, kind in types.items():
        if not isinstance(value[name], kind) or (kind is int and isinstance(value[name], bool)):
            raise TypeError(name)


def _table(folder: Place, place: Place, name: str, index: Mapping[str, Any]) -> pa.Table:
    entry = index["tables"][name]
    path = place / PurePath(f"{name}.parquet").name  # in the folder of the analysis, whatever the index says
    try:
        if file_digest(path) != index["digests"].get(path.name):
            raise OSError("its bytes are not those that the analysis wrote")
        table = printable_table(_read_parquet(path))
    except (OSError, pa.ArrowException) as error:
        raise OutputError(f"{path} is missing or damaged. Run: endive analyze {folder}") from error
    missing = {column["name"] for column in entry["columns"]} - set(table.column_names)
    if missing:
        raise OutputError(f"{path} lacks the column {min(missing)!r}. Run: endive analyze {folder}")
    return table


def _read_parquet(path: Place) -> pa.Table:
    with path.parquet() as file:
        return file.read()


def _study(
    folder: Place, name: str, facts: Mapping[str, Any], index: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> Study:
    own = {
        table: whole.filter(pc.equal(whole["study"], name))
        for table, whole in tables.items()
        if facts.get("detail") != "runs" or table not in SINGLE_TXN_TABLES
    }
    return Study(name=name, folder=folder, facts=facts, model_version=int(index["model_version"]), tables=own)


def _without_missing(warnings: pa.Table, changed: Sequence[str]) -> pa.Table:
    """Without what was said of missing runs before the sweep went on."""
    is_old = pc.and_(
        pc.equal(warnings["warning"], UNFINISHED), pc.is_in(warnings["study"], pa.array(changed, pa.string()))
    )
    return warnings.filter(pc.invert(is_old))


def _changed(folder: Place, index: Mapping[str, Any]) -> tuple[str, ...]:
    """Studies that hold other runs now than when they were analysed."""
    changed = []
    for name, facts in index["studies"].items():
        try:
            swept = _runs_of(folder, name).num_rows or facts["runs"]
        except (OutputError, OSError, pa.ArrowException):
            continue  # there is no sweep beside it, or 'endive check' says more
        if swept != facts["runs"]:
            changed.append(name)
    return tuple(changed)


def _notes(folder: Place, index: Mapping[str, Any], changed: Sequence[str]) -> tuple[str, ...]:
    """What is missing, and what has happened to the folder since it was analysed."""
    notes = [
        f"{facts['runs_planned'] - facts['runs']:,} of {facts['runs_planned']:,} runs of study {name} are missing: the "
        "sweep has not finished."
        for name, facts in index["studies"].items()
        if facts["runs"] < facts["runs_planned"] and name not in changed
    ]
    if changed:
        notes.append(
            f"The folder was swept further after this analysis ({', '.join(changed)}). "
            f"Run 'endive analyze {folder.name}' and report again."
        )
    return tuple(notes)
