"""One part of a sweep: its runs are simulated one after another, and written together.

It knows no Spark. A task writes its parts to a place of its attempt (``sweep_writer``), and their bytes are the same
whoever writes them. Where the files lie is in ``endive.pipeline.dataset.part_files``.
"""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from endive.config import SimulationConfig, parse_config
from endive.errors import EndiveError, OutputError
from endive.pipeline.dataset.latency_counts import LATENCY_SCHEMA, join_counts, latency_counts
from endive.pipeline.dataset.part_files import LATENCIES, TRANSACTIONS, FileFacts, PartFiles, Record
from endive.pipeline.dataset.places import DatasetPath, new_file, parquet_bytes, place_errors, write_whole
from endive.pipeline.dataset.referred_files import config_source
from endive.pipeline.dataset.seal import content_digest, file_digest
from endive.pipeline.sweep.work import RunSpec
from endive.results import TRANSACTION_SCHEMA
from endive.simulation import Simulation

ROW_GROUP_ROWS: Final = 131_072  # about 50 MB of Arrow memory
RUN_GROUP_ROWS: Final = 20_000  # from here on the next run begins a row group, so that a query for one run skips others
RUN_ID_FIELD: Final = pa.field(
    "run_id",
    pa.dictionary(pa.int32(), pa.string()),
    nullable=False,
    metadata={"unit": "id", "meaning": "identity of the run"},
)
SEED_FIELD: Final = pa.field("seed", pa.int64(), nullable=False, metadata={"unit": "id", "meaning": "seed of the run"})
PART_SCHEMA: Final = pa.schema([RUN_ID_FIELD, SEED_FIELD, *TRANSACTION_SCHEMA])
_ALL_DIFFERENT: Final = ("txn_id", "source_index", "bytes_read", "bytes_written")
_DICTIONARY_COLUMNS: Final = [
    field.name for field in PART_SCHEMA if field.type != pa.float64() and field.name not in _ALL_DIFFERENT
]

OnRun = Callable[[str, bool], None]  # run_id, whether it has ended


def simulate_part(
    files: PartFiles,
    specs: Sequence[RunSpec],
    engine: str,
    on_run: OnRun,
    lost: Collection[str],
    *,
    dataset: DatasetPath,
) -> list[Record]:
    """Simulate the runs of a part and write its files; the records of its runs.

    ``lost`` names runs that took their process down before; they are recorded as failed instead of tried again.
    ``dataset`` holds the files that configurations name.
    """
    records: list[Record] = []
    counts: list[pa.Table] = []
    with ExitStack() as stack:
        part = stack.enter_context(closing(PartFile(files.transactions))) if files.keeps_transactions else None
        for spec in specs:
            on_run(spec.run_id, False)
            run = simulate_run(spec, engine, source=config_source(dataset), is_lost=spec.run_id in lost)
            on_run(spec.run_id, True)
            records.append(run.record)
            counts.append(run.latencies)
            if part is not None and run.txns is not None:
                part.add(spec.run_id, spec.seed, run.txns)
            del run  # or two runs would be in memory at once
        told = {LATENCIES: write_latencies(files.latencies, counts)}
        if part is not None:
            part.finish()
            told[TRANSACTIONS] = part.facts()
        files.write_record(records, told)
        if part is not None:
            part.publish()
    return records


def write_latencies(path: DatasetPath, counts: Sequence[pa.Table]) -> FileFacts:
    """Write the counts of all runs of a part; what the record must know of the file."""
    content = parquet_bytes(join_counts(counts), write_page_checksum=True)
    write_whole(path, content)
    return FileFacts(bytes=len(content), digest=content_digest(content))


# ---- one run -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """What one run leaves: its record, its latencies as counts, and its txns as they ended, if they are kept."""

    record: Record
    latencies: pa.Table
    txns: pa.Table | None


def simulate_run(spec: RunSpec, engine: str, *, source: str = "<run>", is_lost: bool = False) -> SimulatedRun:
    """Simulate one run; one that fails has an error in its record, no latencies and no txns.

    ``source`` is where relative paths of the configuration start. OutputError if the configuration, with the files it
    names, is not the one that was planned.
    """
    start_s = time.perf_counter()
    txns, latencies = None, LATENCY_SCHEMA.empty_table()
    try:
        if is_lost:
            raise EndiveError("The process that simulated it died, again and again. Is it too large for memory?")
        config = _parse(spec.config, source)
        if config.config_hash() != spec.config_hash:
            raise _ChangedError
        simulation = Simulation(config)
        sink = simulation.new_sink(keep_transactions=spec.keeps_transactions)
        result = simulation.run(seed=spec.seed, engine=engine, sink=sink)
        txns = result.transactions_as_ended() if spec.keeps_transactions else None
        latencies = latency_counts(spec.run_id, result.statistics)
        record = {"status": "ok", "error": None, "txns": result.statistics.n_txns, **result.to_json_dict()}
    except _ChangedError:
        raise OutputError(
            f"Run {spec.run_id} is not the one that was planned: a profile or trace that its configuration names has "
            "changed since. Start the same 'endive sweep' again; with the changed file it is another study."
        ) from None
    except Exception as error:
        record = _failure(error)
    about = {"run_id": spec.run_id, "seed": spec.seed, "transactions_kept": txns is not None}
    wall_s = round(time.perf_counter() - start_s, 6)
    return SimulatedRun({**about, **record, "wall_s": wall_s}, latencies, txns)


@lru_cache(maxsize=4)
def _parse(text: str, source: str) -> SimulationConfig:
    """A configuration as its plan has it; the seeds of one follow each other. Files it names are hashed every time."""
    return parse_config(json.loads(text), source=source)


class _ChangedError(Exception):
    """The configuration of a run hashes to something else than its plan says."""


def _failure(error: Exception) -> Record:
    """Where it came from has the innermost place last, without the folders of this machine."""
    told = str(error) if isinstance(error, EndiveError) else f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in frames]
    return {"status": "failed", "error": told, "traceback": places}


# ---- the file of txns --------------------------------------------------------------------------------


def with_run(run_id: str, seed: int, txns: pa.Table) -> pa.Table:
    """Txns of one run as rows of ``PART_SCHEMA``."""
    indices = pa.repeat(pa.scalar(0, pa.int32()), txns.num_rows)
    column = pa.DictionaryArray.from_arrays(indices, pa.array([run_id]))
    seeds = pa.repeat(pa.scalar(seed, pa.int64()), txns.num_rows)
    return txns.replace_schema_metadata().add_column(0, SEED_FIELD, seeds).add_column(0, RUN_ID_FIELD, column)


class PartWriter:
    """Txns of several runs as one Parquet stream; memory is bounded by a row group and the largest run."""

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

    def add(self, run_id: str, seed: int, txns: pa.Table) -> None:
        """Take the txns of one run."""
        if self._waiting_rows >= RUN_GROUP_ROWS:
            self._write(self._waiting_rows)
        self._waiting.append(with_run(run_id, seed, txns))
        self._waiting_rows += txns.num_rows
        if self._waiting_rows >= ROW_GROUP_ROWS:
            self._write(self._waiting_rows - self._waiting_rows % ROW_GROUP_ROWS)

    def close(self) -> None:
        """Write the rest and the footer; does nothing when called again."""
        try:
            self._write(self._waiting_rows)
        finally:
            self._writer.close()

    def _write(self, n_rows: int) -> None:
        """Write the first of the waiting rows, in one piece: the bytes must not depend on how they arrived."""
        if n_rows:
            table = pa.concat_tables(self._waiting)
            self._waiting = [table.slice(n_rows)]
            self._waiting_rows -= n_rows
            whole = table.slice(0, n_rows).unify_dictionaries().combine_chunks()
            self._writer.write_table(whole, row_group_size=ROW_GROUP_ROWS)


class PartFile:
    """A file of txns that nobody sees before ``publish``."""

    def __init__(self, path: DatasetPath) -> None:
        self._path = path
        self._file = new_file(path)
        self._writer = PartWriter(self._file.stream)

    def add(self, run_id: str, seed: int, txns: pa.Table) -> None:
        """Take the txns of one run."""
        with place_errors(self._path):
            self._writer.add(run_id, seed, txns)

    def finish(self) -> None:
        """Write the rest; the bytes of the file are then known."""
        with place_errors(self._path):
            self._writer.close()
            self._file.stream.flush()

    def facts(self) -> FileFacts:
        """What the record of the part says of the file; after ``finish``."""
        with place_errors(self._path):
            return FileFacts(bytes=self._file.stream.tell(), digest=file_digest(self._file.temporary))

    def publish(self) -> None:
        """Let the file appear: the commit."""
        self._file.publish()

    def close(self) -> None:
        """Leave nothing behind; does nothing after ``publish``."""
        with suppress(OSError, ValueError, pa.ArrowException):
            self._writer.close()
        self._file.discard()
