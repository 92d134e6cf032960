"""``DIR/analysis``: all tables of one analysis, or none of them.

An analysis is there while its index is: an earlier index goes first, the new one comes last. A folder that holds
anything else is not replaced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from endive.errors import OutputError
from endive.pipeline.dataset.check import ANALYSIS, INDEX
from endive.pipeline.dataset.files import Place, place_errors, place_of, remove_abandoned
from endive.pipeline.dataset.seal import content_digest, seal_document
from endive.results import MODEL_VERSION, package_version
from endive.results.writer import first_of
from endive.tables.table_files import to_csv, to_markdown, to_parquet, unit_of

FORMAT: Final = 2
FORMATS: Final = ("parquet", "csv", "md")


def write_analysis(
    folder: Place | Path,
    tables: Mapping[str, pa.Table],
    titles: Mapping[str, str],
    facts: Mapping[str, Any],
    model_version: int = MODEL_VERSION,
) -> dict[str, Any]:
    """Write every table and the index; return the index, which tells a reader what is there, and by which model."""
    root = place_of(folder)
    refuse_foreign(root)
    index = {
        "endive": "analysis",
        "format": FORMAT,
        "model_version": model_version,
        "version": package_version(),
        **facts,
        "tables": {name: _describe(name, titles[name], table) for name, table in tables.items()},
    }
    place = root / ANALYSIS
    with place_errors(place):
        place.mkdir()
        remove_abandoned(place)
        files = dict(_files(index, tables, titles))  # first all of it: nothing is removed for one that fails
        (place / INDEX).unlink()
        for earlier in place.children():
            if earlier.name not in files:
                earlier.unlink()
        for name, content in files.items():
            (place / name).write(content)
    return index


def _files(
    index: dict[str, Any], tables: Mapping[str, pa.Table], titles: Mapping[str, str]
) -> Iterator[tuple[str, bytes]]:
    """Yield every file by its name, the index last."""
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


def refuse_foreign(root: Place) -> None:
    """Raise OutputError if the place of the analysis holds anything that an analysis has not written."""
    place = root / ANALYSIS
    if place.is_symlink():
        raise OutputError(f"{place} is a link out of the dataset, which is not followed. Remove it.")
    if not place.exists():
        return
    if not place.is_dir():
        raise OutputError(f"Cannot write {place}: it is a file. Move it away.")
    foreign = sorted(entry.name for entry in place.children() if not _is_ours(entry))
    if foreign:
        raise OutputError(
            f"Cannot replace {place}: it holds files that no analysis has written ({first_of(foreign)}). "
            "Move them away."
        )


def _is_ours(entry: Place) -> bool:
    """Return whether a file has the name of a table; an analysis that was killed has no index to tell."""
    if entry.name == INDEX or (entry.name.startswith(".") and entry.name.endswith(".tmp")):
        return True
    from endive.pipeline.analysis.run_analysis import TITLES

    name, _, ending = entry.name.rpartition(".")
    return name in TITLES and ending in FORMATS and entry.is_file()


def _describe(name: str, title: str, table: pa.Table) -> dict[str, Any]:
    return {
        "title": title,
        "rows": table.num_rows,
        "files": {kind: f"{name}.{kind}" for kind in FORMATS},
        "columns": [{"name": column, "unit": unit_of(column)} for column in table.column_names],
    }
