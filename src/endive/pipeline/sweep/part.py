"""One part of a sweep: its runs are simulated one after another, and their transactions are one object.

The object is named by a hash of its runs and of the writer, and holds the rows of its runs too. Whoever writes it
writes the same bytes, so a task that is repeated or doubled needs no protocol, and a part that is there is not
simulated again. It knows no Spark.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from endive.config import parse_config
from endive.config.capabilities import is_profile_path
from endive.config.study import run_identity
from endive.errors import EndiveError, OutputError
from endive.pipeline.dataset.files import Place, place_errors
from endive.pipeline.dataset.runs_table import FAILED, NESTED, OBJECT, OK, RESULT_SCHEMA, nest
from endive.pipeline.dataset.seal import content_digest
from endive.results import MODEL_VERSION, SCHEMA_VERSION, TRANSACTION_SCHEMA
from endive.simulation import Simulation
from endive.tables.figure_columns import figures_of, window_of
from endive.tables.latency_counts import latency_counts
from endive.tables.tally import tally_outcomes, tally_time

WRITER_VERSION: Final = 1  # of the bytes of a part: a change that alters them takes the next number
ROW_GROUP_ROWS: Final = 131_072  # about 50 MB of Arrow memory
RUN_GROUP_ROWS: Final = 20_000  # from here on the next run begins a row group, so that a query for one run skips others
RUN_ID_FIELD: Final = pa.field(
    "run_id",
    pa.dictionary(pa.int32(), pa.string()),
    nullable=False,
    metadata={"unit": "id", "meaning": "identity of the run"},
)
POINT_FIELD: Final = pa.field(
    "point", pa.int32(), nullable=False, metadata={"unit": "id", "meaning": "configuration of the study"}
)
SEED_FIELD: Final = pa.field("seed", pa.int64(), nullable=False, metadata={"unit": "id", "meaning": "seed of the run"})
PART_SCHEMA: Final = pa.schema([RUN_ID_FIELD, POINT_FIELD, SEED_FIELD, *TRANSACTION_SCHEMA])
_ALL_DIFFERENT: Final = ("txn_id", "source_index", "bytes_read", "bytes_written")
_DICTIONARY_COLUMNS: Final = [
    field.name for field in PART_SCHEMA if field.type != pa.float64() and field.name not in _ALL_DIFFERENT
]
_ROWS: Final = b"endive.runs"  # in the metadata of the object
_ROWS_DIGEST: Final = b"endive.runs.digest"
_NOT_OF_THE_PART: Final = ("engine", *(field.name for field in OBJECT))  # its bytes do not depend on them

OnRun = Callable[[str, bool], None]  # run_id, whether it has ended


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One run of a part."""

    seed: int
    config: str  # as JSON
    keeps_transactions: bool
    run_id: str | None = None  # as planned; else it follows from the configuration
    config_hash: str | None = None  # what the plan says that the configuration hashes to
    point: int = 0


def part_name(specs: Sequence[RunSpec]) -> str:
    """Return a name that stands for one content: the runs, what is kept of them, and who writes."""
    runs = [[spec.run_id or [spec.config, spec.seed], spec.keeps_transactions, spec.point] for spec in specs]
    text = json.dumps([WRITER_VERSION, SCHEMA_VERSION, MODEL_VERSION, runs])
    return f"part-{blake2b(text.encode(), digest_size=12).hexdigest()}"


def simulate_part(
    specs: Sequence[RunSpec],
    engine: str,
    folder: Place | None = None,
    *,
    source: str = "<run>",
    lost: Collection[str] = (),
    on_run: OnRun = lambda run_id, has_ended: None,
) -> pa.Table:
    """Simulate the runs of a part and write their transactions into ``folder``; a row of ``RESULT_SCHEMA`` for each.

    ``lost`` names runs that have killed their process before; they are recorded as failed. A part whose object is there
    and whole is not simulated again.
    """
    place = None
    if folder is not None and any(spec.keeps_transactions for spec in specs):
        place = folder / f"{part_name(specs)}.parquet"
        if (there := read_part(place)) is not None:
            engines = [
                _engine_of(spec, engine, source, row) for spec, row in zip(specs, there.to_pylist(), strict=True)
            ]
            rows = there.set_column(there.column_names.index("engine"), "engine", pa.array(engines, pa.string()))
            return with_object(rows, place, place.read_bytes())
    stream = pa.BufferOutputStream()
    writer = None if place is None else PartWriter(stream)
    runs: list[SimulatedRun] = []
    for spec in specs:
        on_run(spec.run_id or "", False)
        run = simulate_run(spec, engine, source=source, is_lost=spec.run_id in lost)
        on_run(spec.run_id or "", True)
        if writer is not None and run.txns is not None:
            writer.add(run.row["run_id"], spec.point, spec.seed, run.txns)
        runs.append(SimulatedRun(run.row, run.nested, None))
        del run  # or two runs would be in memory at once
    rows = rows_of(runs)
    if writer is None or place is None:
        return rows
    writer.close(rows)
    content = stream.getvalue()
    with place_errors(place):
        place.parent.mkdir()
        place.write(content)
    return with_object(rows, place, content)


def with_object(rows: pa.Table, place: Place, content: Any) -> pa.Table:
    """Let the rows of runs whose transactions were kept name the object that holds them."""
    kept = rows["transactions_kept"].to_pylist()
    values = {"file": place.name, "bytes": len(memoryview(content)), "digest": content_digest(content)}
    for field in OBJECT:
        column = pa.array([values[field.name] if is_kept else None for is_kept in kept], field.type)
        rows = rows.set_column(rows.column_names.index(field.name), field, column)
    return rows


def read_part(place: Place) -> pa.Table | None:
    """Return the rows of a part that is there and whole, else None."""
    try:
        with place.parquet(page_checksum_verification=True) as file:
            known = file.schema_arrow.metadata or {}
            metadata = {**known, **(file.metadata.metadata or {})}
            content = metadata[_ROWS]
            if metadata[_ROWS_DIGEST].decode() != content_digest(content):
                return None
            for number in range(file.metadata.num_row_groups):
                file.read_row_group(number)  # which compares the checksum of each page
        rows = pa.ipc.open_stream(_decoded(content)).read_all()
        return rows if rows.schema.names == RESULT_SCHEMA.names else None
    except (OSError, ValueError, KeyError, pa.ArrowException):
        return None


def rows_of(runs: Sequence[SimulatedRun]) -> pa.Table:
    """Return the rows of runs in the columns of ``RESULT_SCHEMA``."""
    columns = {}
    for field in RESULT_SCHEMA:
        if field.name in NESTED and field.name != "groups":
            columns[field.name] = nest([run.nested.get(field.name) for run in runs], NESTED[field.name])
        else:
            columns[field.name] = pa.array([run.row.get(field.name) for run in runs], field.type)
    return pa.table(columns, schema=RESULT_SCHEMA)


# ---- one run -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """What one run leaves: plain columns, nested columns, and its transactions as they ended, if they are kept."""

    row: dict[str, Any]
    nested: dict[str, pa.Table]
    txns: pa.Table | None


def simulate_run(spec: RunSpec, engine: str, *, source: str = "<run>", is_lost: bool = False) -> SimulatedRun:
    """Simulate one run; one that fails has an error in its row and nothing else.

    ``source`` is where relative paths of the configuration start. OutputError if the configuration, with the files it
    names, is not the one that was planned.
    """
    about = {"run_id": spec.run_id, "config_hash": spec.config_hash, "model_version": MODEL_VERSION}
    about |= {"transactions_kept": False, "status": FAILED}
    try:
        if is_lost:
            raise EndiveError("The process that simulated it died, again and again. Is it too large for memory?")
        simulation = _simulation(spec.config, source)
        config_hash = _config_hash(spec.config, source)
        about |= {"config_hash": config_hash, "run_id": run_identity(config_hash, spec.seed, MODEL_VERSION)}
        if spec.config_hash not in (None, config_hash):
            raise _ChangedError
        sink = simulation.new_sink(keep_transactions=spec.keeps_transactions)
        result = simulation.run(seed=spec.seed, engine=engine, sink=sink)
        record = result.to_json_dict()
    except _ChangedError:
        raise OutputError(
            f"Run {spec.run_id} is not the one that was planned: a profile or trace that its configuration names has "
            "changed since. Start the same 'endive sweep' again; with the changed file it is another study."
        ) from None
    except Exception as error:
        told = str(error) if isinstance(error, EndiveError) else f"{type(error).__name__}: {error}"
        return SimulatedRun({**about, "error": told}, {}, None)
    nested = {"latencies": latency_counts(result.statistics)}
    txns = result.transactions_as_ended() if spec.keeps_transactions else None
    if txns is not None:
        window = result.statistics.window
        nested |= {"timeline": tally_time(txns, window), "outcomes": tally_outcomes(txns, window)}
    row = {
        **about,
        "status": OK,
        "transactions_kept": txns is not None,
        "engine": record["engine"],
        "fingerprint": record["fingerprint"],
        **window_of(record["window"]),
        "txns": result.statistics.n_txns,
        **figures_of({**record["summary"], "requests": record["requests"]}),
        "warnings": record["warnings"],
        "groups": [
            {"scope": scope, "name": name, **figures_of(block)}
            for scope, key in (("operation", "by_operation"), ("source", "by_source"))
            for name, block in record[key].items()
        ],
    }
    return SimulatedRun(row, nested, txns)


def _engine_of(spec: RunSpec, engine: str, source: str, row: dict[str, Any]) -> str | None:
    """Return the engine that would simulate a run whose part is there."""
    return _simulation(spec.config, source).engine_for(engine)[0] if row["status"] == OK else None


@lru_cache(maxsize=2)
def _simulation(text: str, source: str) -> Simulation:
    """Make the simulation of a configuration, which the seeds of a point share: they follow each other."""
    return Simulation(parse_config(json.loads(text), source=source))


def _config_hash(text: str, source: str) -> str:
    """Return the configuration's hash; files that it names are hashed every time, since they may have changed."""
    config = _simulation(text, source).config
    traces = any(each.arrivals.kind == "trace" for each in config.sources)
    return config.config_hash() if traces or is_profile_path(config.storage.provider) else _fixed_hash(text, source)


@lru_cache(maxsize=2)
def _fixed_hash(text: str, source: str) -> str:
    return _simulation(text, source).config.config_hash()


class _ChangedError(Exception):
    """The configuration of a run hashes to something else than its plan says."""


# ---- the object of transactions ----------------------------------------------------------------------


def with_run(run_id: str, point: int, seed: int, txns: pa.Table) -> pa.Table:
    """Return transactions of one run as rows of ``PART_SCHEMA``."""
    indices = pa.repeat(pa.scalar(0, pa.int32()), txns.num_rows)
    table = txns.replace_schema_metadata()
    for field, column in (
        (SEED_FIELD, pa.repeat(pa.scalar(seed, pa.int64()), txns.num_rows)),
        (POINT_FIELD, pa.repeat(pa.scalar(point, pa.int32()), txns.num_rows)),
        (RUN_ID_FIELD, pa.DictionaryArray.from_arrays(indices, pa.array([run_id]))),
    ):
        table = table.add_column(0, field, column)
    return table


class PartWriter:
    """Transactions of several runs as one Parquet stream."""

    def __init__(self, stream: Any) -> None:
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0
        self._writer: Any = pq.ParquetWriter(
            stream,
            PART_SCHEMA,
            compression="zstd",
            use_dictionary=_DICTIONARY_COLUMNS,
            write_page_checksum=True,
        )

    def add(self, run_id: str, point: int, seed: int, txns: pa.Table) -> None:
        """Take the transactions of one run."""
        if self._waiting_rows >= RUN_GROUP_ROWS:
            self._write(self._waiting_rows)
        self._waiting.append(with_run(run_id, point, seed, txns))
        self._waiting_rows += txns.num_rows
        if self._waiting_rows >= ROW_GROUP_ROWS:
            self._write(self._waiting_rows - self._waiting_rows % ROW_GROUP_ROWS)

    def close(self, runs: pa.Table | None = None) -> None:
        """Write the rest and the footer, which holds the rows of the runs."""
        self._write(self._waiting_rows)
        if runs is not None:
            content = _encoded(runs)
            self._writer.add_key_value_metadata({_ROWS: content, _ROWS_DIGEST: content_digest(content).encode()})
        self._writer.close()

    def _write(self, n_rows: int) -> None:
        """Write the first of the waiting rows, in one piece: the bytes must not depend on how they arrived."""
        if n_rows:
            table = pa.concat_tables(self._waiting)
            self._waiting = [table.slice(n_rows)]
            self._waiting_rows -= n_rows
            whole = table.slice(0, n_rows).unify_dictionaries().combine_chunks()
            self._writer.write_table(whole, row_group_size=ROW_GROUP_ROWS)


def _encoded(rows: pa.Table) -> bytes:
    """Return the rows as text, without what the bytes of a part do not depend on."""
    for name in _NOT_OF_THE_PART:
        index = rows.column_names.index(name)
        rows = rows.set_column(index, rows.schema.field(index), pa.nulls(rows.num_rows, rows.schema.field(index).type))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows.combine_chunks())
    content = sink.getvalue()
    packed = pa.compress(content, codec="zstd", asbytes=True)
    return base64.b64encode(struct.pack(">q", content.size) + packed)


def _decoded(content: bytes) -> Any:
    packed = base64.b64decode(content)
    return pa.decompress(packed[8:], decompressed_size=struct.unpack(">q", packed[:8])[0], codec="zstd")
