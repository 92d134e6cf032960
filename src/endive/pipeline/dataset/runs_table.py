"""The table of runs: the commit of a sweep. A run is in the dataset when a row here says so.

One object holds the rows that one job brought back. Its name is the digest of its content, so damage shows, and a job
that is committed twice leaves one object. Several objects may hold a row of the same run: the rows are equal, unless a
run that had failed was tried again.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from endive.config.printable import CONTROL_CHARACTERS, REPLACEMENT
from endive.errors import OutputError
from endive.pipeline.dataset.files import Place, place_errors
from endive.pipeline.dataset.seal import content_digest, file_digest
from endive.tables.figure_columns import FIGURE_FIELDS, RESERVED, WINDOW
from endive.tables.latency_counts import LATENCY_FIELDS
from endive.tables.run_counts import OUTCOME_FIELDS, TIMELINE_FIELDS

RUNS: Final = "runs"
OK: Final = "ok"
FAILED: Final = "failed"
GROUP_FIELDS: Final = pa.struct([("scope", pa.string()), ("name", pa.string()), *FIGURE_FIELDS])
NESTED: Final = {
    "groups": GROUP_FIELDS,  # figures of operation types and sources
    "latencies": LATENCY_FIELDS,  # counts on the grid
    "timeline": TIMELINE_FIELDS,  # counts over simulated time, where transactions were kept
    "outcomes": OUTCOME_FIELDS,  # counts by attempts and n_behind, where transactions were kept
}
IDENTITY: Final = (
    pa.field("run_id", pa.string()),
    pa.field("config_hash", pa.string()),
    pa.field("status", pa.string()),
    pa.field("error", pa.string()),
    pa.field("engine", pa.string()),
    pa.field("fingerprint", pa.string()),
    pa.field("model_version", pa.int32()),
    pa.field("transactions_kept", pa.bool_()),
)
MEASURED: Final = (
    *(pa.field(name, pa.float64()) for name in WINDOW),
    pa.field("txns", pa.int64()),
    *FIGURE_FIELDS,
    pa.field("warnings", pa.list_(pa.string())),
)
OBJECT: Final = (
    pa.field("file", pa.string()),  # of the part whose transactions it holds
    pa.field("bytes", pa.int64()),
    pa.field("digest", pa.string()),
)
RESULT_SCHEMA: Final = pa.schema(
    [*IDENTITY, *MEASURED, *(pa.field(name, pa.list_(kind)) for name, kind in NESTED.items()), *OBJECT]
)
_PLAN: Final = (pa.field("point", pa.int32()), pa.field("seed", pa.int64()))
_CONFIG: Final = pa.field("config", pa.string())
_TYPES: Final[Mapping[str, Any]] = {field.name: field.type for field in (*RESULT_SCHEMA, *_PLAN, _CONFIG)}
_PLAIN: Final = tuple(field.name for field in (*IDENTITY, *_PLAN, *MEASURED))
_STATE: Final = ("run_id", "status", "error", "txns", "file", "bytes")


def run_schema(axes: Sequence[pa.Field]) -> pa.Schema:
    """Return the columns of a study's table of runs."""
    run_id, config_hash, *rest = RESULT_SCHEMA
    nested = [field for field in rest if field.name in NESTED or field in OBJECT]
    plain = [field for field in rest if field not in nested]
    about, measured = plain[: len(IDENTITY) - 2], plain[len(IDENTITY) - 2 :]
    return pa.schema([run_id, config_hash, *_PLAN, *about, *axes, *measured, _CONFIG, *nested])


def plain_columns(schema: pa.Schema) -> list[str]:
    """Return the columns that are neither nested nor about files."""
    return [name for name in schema.names if name not in NESTED and name not in {field.name for field in OBJECT}]


def run_objects(root: Place, study: str) -> list[Place]:
    """Return the objects of a study's table."""
    return [place for place in folder_of(root, study).children("*.parquet") if not place.name.startswith(".")]


def folder_of(root: Place, study: str) -> Place:
    """Return the folder of a study's table."""
    return root / RUNS / f"study={study}"


def append_rows(root: Place, study: str, rows: pa.Table) -> Place:
    """Add rows in one object."""
    stream = io.BytesIO()
    pq.write_table(rows, stream, compression="zstd", write_page_checksum=True)
    content = stream.getvalue()
    place = folder_of(root, study) / f"{content_digest(content)}.parquet"
    with place_errors(place):
        place.parent.mkdir()
        place.write(content)
    return place


def damaged_objects(root: Place, study: str) -> list[Place]:
    """Return the objects whose content is not what their names say."""
    return [place for place in run_objects(root, study) if not _is_whole(place)]


def read_rows(root: Place, study: str, columns: Iterable[str] | None = None, *, hashes: bool | None = None) -> pa.Table:
    """Read one row per run, in no order; OutputError if an object is damaged.

    ``columns`` none are the plain ones. ``hashes``: whether to compare digests, by default on a disk, where reading is
    cheap.
    """
    tables = []
    for place in run_objects(root, study):
        if (place.is_local if hashes is None else hashes) and not _is_whole(place):
            raise damage(place)
        with refuse_damaged(place), place.parquet(page_checksum_verification=True) as file:
            wanted = plain_columns(file.schema_arrow) if columns is None else list(columns)
            needed = _PLAIN if columns is None else wanted
            missing = [name for name in ("run_id", "status", *needed) if name not in file.schema_arrow.names]
            if missing:
                raise OutputError(f"{place} has no column {missing[0]}, so it is no table of runs. Remove it.")
            _check_types(place, file.schema_arrow)
            tables.append(file.read(list(dict.fromkeys(["run_id", "status", *wanted])), use_threads=False))
    if not tables:
        names = dict.fromkeys(["run_id", "status", *(columns or ())])
        return pa.schema([(name, _TYPES.get(name, pa.null())) for name in names]).empty_table()
    return one_row_per_run(printable_table(join_tables(tables)))


def read_state(root: Place, study: str) -> pa.Table:
    """Read what a sweep that goes on has to know of each run."""
    return read_rows(root, study, _STATE)


def one_row_per_run(rows: pa.Table) -> pa.Table:
    """Drop the rows of runs that another row tells of; one that ended well comes first."""
    if pc.count_distinct(rows["run_id"]).as_py() == rows.num_rows:
        return rows
    is_failed = pc.not_equal(rows["status"], OK)
    place = pa.array(np.arange(rows.num_rows))
    order = pc.sort_indices(
        pa.table({"failed": is_failed, "place": place}), [("failed", "ascending"), ("place", "ascending")]
    )
    ordered = rows.take(order)
    numbered = pa.table({"run_id": ordered["run_id"], "place": place})
    first = numbered.group_by("run_id", use_threads=False).aggregate([("place", "min")])["place_min"]
    return ordered.take(first)


def join_tables(tables: Sequence[pa.Table]) -> pa.Table:
    """Put tables under each other; a column that one of them lacks is null there.

    Where types differ, numbers become doubles and anything else text.
    """
    types: dict[str, pa.DataType] = {}
    for column in (column for table in tables for column in table.schema):
        kinds = {column.type, types.setdefault(column.name, column.type)}
        if len(kinds) > 1:
            types[column.name] = pa.float64() if kinds <= {pa.int64(), pa.float64()} else pa.string()
    cast = [table.cast(pa.schema([(name, types[name]) for name in table.column_names])) for table in tables]
    return pa.concat_tables(cast, promote_options="default")


def unnest(rows: pa.Table, column: str, keys: Sequence[str]) -> pa.Table:
    """Return the elements of a nested column as rows, each with the keys of its run."""
    lists = rows[column].combine_chunks()
    elements = pa.Table.from_struct_array(pc.list_flatten(lists))
    parents = pc.list_parent_indices(lists)
    for name in reversed(keys):
        elements = elements.add_column(0, name, rows[name].take(parents))
    return elements


def nest(tables: Sequence[pa.Table | None], kind: pa.StructType) -> pa.Array:
    """Return one list of structs for each table, null for none."""
    sizes = [0 if table is None else table.num_rows for table in tables]
    offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int32())
    schema = pa.schema(list(kind))
    rows = [table.select(schema.names).cast(schema) for table in tables if table is not None]
    whole = pa.concat_tables(rows).combine_chunks() if rows else schema.empty_table()
    arrays = [column.combine_chunks() if column.num_chunks != 1 else column.chunk(0) for column in whole.columns]
    values = pa.StructArray.from_arrays(arrays, fields=list(kind))
    mask = pa.array([table is None for table in tables], pa.bool_())
    return pa.ListArray.from_arrays(offsets, values, type=pa.list_(kind), mask=mask)


def axes_of(runs: pa.Table) -> list[str]:
    """Return the names of the axes among the columns of runs."""
    return [name for name in runs.column_names if name not in RESERVED and name not in NESTED]


def count_kept_txns(runs: pa.Table) -> int:
    """Return how many transactions the files hold, as the runs tell."""
    return (pc.sum(runs.filter(runs["transactions_kept"])["txns"]).as_py() or 0) if runs.num_rows else 0


def printable_table(table: pa.Table) -> pa.Table:
    """Return the table with a replacement character in its texts for what a terminal would obey."""
    for index, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            safe = pc.replace_substring_regex(table.column(index), CONTROL_CHARACTERS, REPLACEMENT)
            table = table.set_column(index, field, safe)
    return table


# ---- damage --------------------------------------------------------------------------------------------------


@contextmanager
def refuse_damaged(place: Place) -> Iterator[None]:
    """Turn what a file that cannot be read causes into an OutputError that names it."""
    try:
        yield
    except OutputError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise damage(place, f" ({reason})") from None


def damage(place: object, reason: str = "") -> OutputError:
    """Say that a file cannot be trusted, and what to do."""
    return OutputError(
        f"{place} is damaged{reason}. Sweep again with --repair: what is damaged is removed and simulated again."
    )


def _is_whole(place: Place) -> bool:
    try:
        return not place.is_symlink() and file_digest(place) == place.stem
    except OSError:
        return False


def _check_types(place: Place, schema: pa.Schema) -> None:
    """Raise OutputError if a column has the right name and another type."""
    for field in schema:
        if field.name in _TYPES and field.type != _TYPES[field.name]:
            raise OutputError(f"{place}: column {field.name} is {field.type}, not {_TYPES[field.name]}. Remove it.")
