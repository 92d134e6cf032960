"""Every file of a dataset compared with what was written down of it: ``endive check``, and what ``--repair`` removes.

Objects of transactions have their digest in the table of runs, objects of that table in their names, documents and
pages in themselves. An object that no row names does not belong to the dataset and is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

import pyarrow as pa

from endive.errors import OutputError
from endive.pipeline.dataset import previous_format
from endive.pipeline.dataset.files import Place, place_errors, place_of
from endive.pipeline.dataset.referred_files import FILES, is_intact
from endive.pipeline.dataset.runs_table import (
    RUNS,
    damaged_objects,
    folder_of,
    join_tables,
    one_row_per_run,
    run_objects,
)
from endive.pipeline.dataset.seal import file_digest, is_page_whole, read_document, read_sealed
from endive.pipeline.dataset.sweep_dataset import (
    FORMAT,
    MANIFEST,
    STUDIES,
    TRANSACTIONS,
    SweepDataset,
    read_entry,
    read_marker,
    refuse_link,
)

ANALYSIS: Final = "analysis"
INDEX: Final = "index.json"
REPORT: Final = "report.html"
_COLUMNS: Final = ("run_id", "status", "file", "bytes", "digest")


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that is not what it was, and how it is fixed."""

    text: str
    study: str | None  # that has to be swept again with --repair; None if that does not fix it


@dataclass(frozen=True, slots=True)
class Checked:
    """What was looked at, and what was found."""

    parts: int
    missing_runs: int
    runs: int
    damages: tuple[Damage, ...]


def check_dataset(path: str | Path | Place) -> Checked:
    """Read every byte of a dataset; OutputError if it is none, everything else is reported as damage."""
    root = place_of(path).resolve()
    if not (root / MANIFEST).is_file():
        raise OutputError(f"{path} is not the folder of a sweep: it has no {MANIFEST}. Name one that was swept into.")
    refuse_link(root / MANIFEST)
    names = sorted(place.name.removeprefix("study=") for place in (root / RUNS).children("study=*"))
    try:
        marker = read_marker(root)
    except OutputError as error:
        others = [Damage(f"Study {study} cannot be read without it.", study) for study in names[1:]]
        return Checked(0, 0, 0, (Damage(str(error), names[0] if names else None), *others))
    damages = [*_links(root), *_kept_files(root, names), *_analysis(root), *_report(root)]
    if marker["format"] != FORMAT:
        return _check_previous(root, damages)
    objects = runs = missing = 0
    documents = {place.stem: place for place in (root / STUDIES).children("*.json")}
    for study in sorted({*names, *documents}):
        planned = 0
        try:
            planned = read_entry(root / STUDIES / f"{study}.json").runs_planned
            _check_study_file(root, study)
        except OutputError as error:
            damages.append(Damage(str(error), study))
        found, rows, texts = _check_study(root, study)
        damages += [Damage(text, study) for text in texts]
        objects, runs, missing = objects + found, runs + rows, missing + max(0, planned - rows)
    return Checked(objects, missing, runs, tuple(damages))


def remove_damaged(dataset: SweepDataset, study: str) -> None:
    """Remove what is damaged of a study, so that it is simulated again."""
    with place_errors(dataset.place):
        for place in damaged_objects(dataset.place, study):
            place.unlink()
        for place in damaged_parts(dataset.place, study, read_state_rows(dataset.place, study)):
            place.unlink()


def read_state_rows(root: Place, study: str) -> pa.Table:
    """Return one row per run with the object it names, of the objects of the table of runs that are whole."""
    bad = set(damaged_objects(root, study))
    tables = []
    for place in run_objects(root, study):
        if place in bad:
            continue
        try:
            with place.parquet(page_checksum_verification=True) as file:
                rows = file.read(list(_COLUMNS))
        except (OSError, pa.ArrowException, ValueError):
            continue
        if missing := [name for name in _COLUMNS if name not in rows.column_names]:
            raise OutputError(f"{place} has no column {missing[0]}, so it is no table of runs. Remove it.")
        tables.append(rows)
    schema = pa.schema([("run_id", pa.string()), ("status", pa.string()), ("file", pa.string())])
    schema = schema.append(pa.field("bytes", pa.int64())).append(pa.field("digest", pa.string()))
    return one_row_per_run(join_tables(tables)) if tables else schema.empty_table()


def damaged_parts(root: Place, study: str, rows: pa.Table) -> list[Place]:
    """Return the objects of transactions that are there and not what the rows of their runs say."""
    folder = root / TRANSACTIONS / f"study={study}"
    named = {
        name: digest for name, digest in zip(rows["file"].to_pylist(), rows["digest"].to_pylist(), strict=True) if name
    }
    places = {folder / PurePath(name).name: digest for name, digest in named.items()}
    return [place for place, digest in places.items() if _is_there(place) and not _has_digest(place, digest)]


def _check_study(root: Place, study: str) -> tuple[int, int, list[str]]:
    """Return how many objects and runs there are, and what is damaged."""
    fix = "Sweep again with --repair: only what is damaged is simulated again."
    texts = [
        f"{place} is damaged: {_what(place)} its content is not what the sweep wrote. {fix}"
        for place in damaged_objects(root, study)
    ]
    rows = read_state_rows(root, study)
    names = sorted({name for name in rows["file"].to_pylist() if name})
    folder = root / TRANSACTIONS / f"study={study}"
    texts += [
        f"{folder / PurePath(name).name} is missing. Start the same 'endive sweep' again: only its runs are simulated."
        for name in names
        if not _is_there(folder / PurePath(name).name)
    ]
    for place in damaged_parts(root, study, rows):
        texts.append(f"{place} is damaged: {_what(place)} its bytes are not those that the sweep wrote. {fix}")
    return len(names), rows.num_rows, texts


def _what(place: Place) -> str:
    return "it is a link," if place.is_symlink() else ""


def _is_there(place: Place) -> bool:
    return place.is_symlink() or place.is_file()


def _has_digest(place: Place, digest: str) -> bool:
    try:
        return not place.is_symlink() and file_digest(place) == digest
    except OSError:
        return False


def _check_study_file(root: Place, study: str) -> None:
    """Raise OutputError if the study's file is not the one that its document tells of."""
    path = root / STUDIES / f"{study}.toml"
    refuse_link(path)
    try:
        is_whole = file_digest(path) == read_sealed(root / STUDIES / f"{study}.json").get("study_digest")
    except (OSError, ValueError):
        is_whole = False
    if not is_whole:
        raise OutputError(f"{path} is damaged or missing. Start the same 'endive sweep' again: it writes it anew.")


def _check_previous(root: Place, damages: list[Damage]) -> Checked:
    runs = parts = planned = 0
    for study, entry in previous_format.read_entries(root).items():
        damages += [
            Damage(f"{place} is damaged or missing. Sweep the study again, into another folder.", None)
            for place in previous_format.damaged_files(root, study)
        ]
        planned += entry.runs_planned
        parts += len(previous_format.transaction_objects(root, [study])[study])
        try:
            runs += previous_format.read_runs(root, study)[0].num_rows
        except OutputError:
            continue  # its file is among the damaged ones
    return Checked(parts, max(0, planned - runs), runs, tuple(damages))


def _links(root: Place) -> Iterator[Damage]:
    """Report links in the place of folders, which lead out of the dataset."""
    for name in (RUNS, TRANSACTIONS, STUDIES, FILES):
        for place in (root / name, *((root / name).children() if (root / name).is_dir() else ())):
            if place.is_symlink():
                yield Damage(f"{place} is a link out of the dataset, which is not followed. Remove it.", None)


def _kept_files(root: Place, studies: list[str]) -> Iterator[Damage]:
    for place in (root / FILES).children():
        if not place.name.startswith(".") and not is_intact(place):
            names = ", ".join(studies)
            yield Damage(f"{place} is damaged: its bytes are not those that were planned with ({names}).", None)


def _analysis(root: Place) -> Iterator[Damage]:
    """Check the files of the analysis against its index."""
    place = root / ANALYSIS
    if place.is_symlink():
        yield Damage(f"{place} is a link out of the dataset, which is not followed. Remove it.", None)
        return
    if not place.exists():
        return
    fix = f"Run: endive analyze {root}"
    try:
        refuse_link(place / INDEX)
        digests = dict(read_sealed(place / INDEX)["digests"])
    except (OSError, ValueError, KeyError, TypeError, OutputError):
        yield Damage(f"{place / INDEX} is damaged or missing. {fix}", None)
        return
    for name, digest in digests.items():
        path = place / PurePath(str(name)).name
        if path.is_symlink() or not path.is_file() or file_digest(path) != digest:
            yield Damage(f"{path} is damaged or missing. {fix}", None)


def _report(root: Place) -> Iterator[Damage]:
    """Check the page that was drawn of it, if there is one."""
    path = root / REPORT
    if not path.is_symlink() and not path.exists():
        return
    try:
        is_whole = not path.is_symlink() and is_page_whole(read_document(path))
    except (OSError, ValueError):
        is_whole = False
    if not is_whole:
        yield Damage(f"{path} is not what was written. Run: endive report {root}", None)


__all__ = ["ANALYSIS", "INDEX", "REPORT", "Checked", "Damage", "check_dataset", "folder_of", "remove_damaged"]
