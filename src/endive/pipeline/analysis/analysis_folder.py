"""``DIR/analysis``: all tables of one analysis, or none of them.

Everything is written beside the folder and renamed into place, and the previous analysis gives way. In a store, which
cannot rename, an analysis is there while its index is: that goes first and comes last. A folder that holds anything
else is not replaced.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from endive.errors import IntakeError, OutputError
from endive.intake import parse_json
from endive.pipeline.dataset.check import ANALYSIS, INDEX
from endive.pipeline.dataset.places import DatasetPath, place_errors
from endive.pipeline.dataset.seal import DOCUMENT_BYTES_MAX, content_digest, read_document, seal_document
from endive.pipeline.dataset.store_path import StorePath
from endive.results import MODEL_VERSION, package_version
from endive.results.writer import first_of, hold_folder, is_abandoned
from endive.tables.table_files import to_csv, to_markdown, to_parquet, unit_of

FORMAT: Final = 2
FORMATS: Final = ("parquet", "csv", "md")
_PARTIAL: Final = ".analysis-"
_SWAPS_MAX: Final = 5


def write_analysis(
    root: DatasetPath,
    tables: Mapping[str, pa.Table],
    titles: Mapping[str, str],
    facts: Mapping[str, Any],
    model_version: int = MODEL_VERSION,
) -> dict[str, Any]:
    """Write every table and the index; the index, which tells a reader what is there, and by which model."""
    refuse_foreign(root)
    index = {
        "endive": "analysis",
        "format": FORMAT,
        "model_version": model_version,
        "version": package_version(),
        **facts,
        "tables": {name: _describe(name, titles[name], table) for name, table in tables.items()},
    }
    with place_errors(root / ANALYSIS):
        if isinstance(root, Path):
            _write_and_swap(root, _files(index, tables, titles))
        else:
            _put(root, _files(index, tables, titles))
    return index


def _files(
    index: dict[str, Any], tables: Mapping[str, pa.Table], titles: Mapping[str, str]
) -> Iterator[tuple[str, bytes]]:
    """Every file by its name, the index last."""
    digests: dict[str, str] = {}
    for name, table in tables.items():
        for file, content in (
            (f"{name}.parquet", to_parquet(table)),
            (f"{name}.csv", to_csv(table)),
            (f"{name}.md", to_markdown(table, titles[name]).encode()),
        ):
            digests[file] = content_digest(content)
            yield file, content
    yield INDEX, seal_document({**index, "digests": dict(sorted(digests.items()))}, indent=1)


def _write_and_swap(root: Path, files: Iterator[tuple[str, bytes]]) -> None:
    partial = root / f"{_PARTIAL}{os.getpid()}-{secrets.token_hex(4)}"
    _sweep_out(root)
    with contextlib.ExitStack() as stack:
        partial.mkdir()
        stack.callback(shutil.rmtree, partial, ignore_errors=True)
        stack.enter_context(hold_folder(partial))
        for name, content in files:
            with (partial / name).open("xb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
        _swap(partial, root / ANALYSIS)


def _put(root: StorePath, files: Iterator[tuple[str, bytes]]) -> None:
    place = root / ANALYSIS
    (place / INDEX).unlink(missing_ok=True)
    place.remove_all()
    for name, content in files:
        (place / name).write(content)


def refuse_foreign(root: DatasetPath) -> None:
    """Raise OutputError if the place of the analysis holds anything that an analysis has not written."""
    place = root / ANALYSIS
    if place.is_symlink():
        raise OutputError(f"{place} is a link out of the dataset, which is not followed. Remove it.")
    if not place.exists():
        return
    if not place.is_dir():
        raise OutputError(f"Cannot write {place}: it is a file. Move it away.")
    ours = {INDEX}
    try:
        index = parse_json(read_document(place / INDEX), name=INDEX, bytes_max=DOCUMENT_BYTES_MAX)
        ours |= {file for table in index["tables"].values() for file in table["files"].values()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IntakeError):
        pass  # then everything in it is foreign
    foreign = sorted(entry.name for entry in place.iterdir() if entry.name not in ours)
    if foreign:
        raise OutputError(
            f"Cannot replace {place}: it holds files that no analysis has written ({first_of(foreign)}). "
            "Move them away."
        )


def _describe(name: str, title: str, table: pa.Table) -> dict[str, Any]:
    return {
        "title": title,
        "rows": table.num_rows,
        "files": {kind: f"{name}.{kind}" for kind in FORMATS},
        "columns": [{"name": column, "unit": unit_of(column)} for column in table.column_names],
    }


def _swap(partial: Path, place: Path) -> None:
    """Put the new folder in the place of the old one; a reader finds one or the other, or for an instant none."""
    old = place.with_name(f"{partial.name}-old")
    for _ in range(_SWAPS_MAX):
        shutil.rmtree(old, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            os.rename(place, old)
        try:
            os.rename(partial, place)
            break
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # another analysis was quicker: replace that
                if old.exists() and not place.exists():
                    os.rename(old, place)
                raise
    else:
        raise OutputError(f"Cannot write {place}: other analyses of this folder keep replacing it. Try again.")
    shutil.rmtree(old, ignore_errors=True)


def _sweep_out(root: Path) -> None:
    """Remove what killed analyses left behind."""
    for leftover in root.glob(f"{_PARTIAL}*"):
        if is_abandoned(leftover):
            shutil.rmtree(leftover, ignore_errors=True)
