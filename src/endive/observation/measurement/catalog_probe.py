"""A catalog measured through PyIceberg: loading a table and committing to it, alone and beside others.

It makes one scratch table, commits to it, and drops it whatever happens. What the client itself asks of the
store (metadata files) is measured apart, so that ``catalog_profile`` can tell the catalog's own answers from it.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from endive.errors import ObservationError
from endive.observation.measurement.clients import run_clients, timed
from endive.observation.measurement.snapshot_list import REQUESTS as LONG_REQUESTS
from endive.observation.measurement.snapshot_list import LongAnswers, measure_long_answers
from endive.observation.tables.catalogs import OpenCatalog, one_line, pyiceberg

REST: Final = "rest"
SAMPLES: Final = 20
COMMITS: Final = 20  # of all clients of one step together
CLIENTS: Final = (1, 2, 4, 8)
NAME: Final = "endive_measure_"
NO_RETRY: Final = {"commit.retry.num-retries": "0"}
Progress = Callable[[int, int], None]


@dataclass(slots=True, kw_only=True)
class CatalogMeasured:
    """Latencies in ms; commits by number of clients: those that succeeded and those that were refused."""

    load_ms: list[float] = field(default_factory=list)
    long_answers: LongAnswers | None = None  # behind REST, where an answer carries the list of snapshots
    metadata_read_ms: list[float] = field(default_factory=list)
    metadata_write_ms: list[float] = field(default_factory=list)
    commit_ms: dict[int, list[float]] = field(default_factory=dict)
    refused_ms: dict[int, list[float]] = field(default_factory=dict)


def planned_requests(kind: str) -> int:
    """How many loads and commits a measurement makes."""
    return 2 * SAMPLES + COMMITS * len(CLIENTS) * 2 + LONG_REQUESTS * (kind == REST)


def probe_catalog(
    opened: OpenCatalog, namespace: str | None, *, seconds_max: float, progress: Progress
) -> CatalogMeasured:
    """Measure, and leave no table behind."""
    measured = CatalogMeasured()
    end_s = time.monotonic() + seconds_max
    total = planned_requests(opened.kind)
    with one_line(f"catalog '{opened.name}'", opened.secrets), _scratch_table(opened.catalog, namespace) as name:
        for index in range(SAMPLES):
            load_ms, table = timed(opened.catalog.load_table, name)
            read_ms, content = timed(_read_metadata, table)
            measured.load_ms.append(load_ms)
            measured.metadata_read_ms.append(read_ms)
            _write_beside(table, content, measured)
            progress(2 * (index + 1), total)
        if opened.kind == REST:
            measured.long_answers = measure_long_answers(opened.catalog, name, end_s)
            progress(2 * SAMPLES + LONG_REQUESTS, total)
        for step, clients in enumerate(CLIENTS):
            if time.monotonic() >= end_s:
                break
            _commit_step(opened, name, clients, measured, end_s)
            progress(total - 2 * COMMITS * (len(CLIENTS) - step - 1), total)
    return measured


def _read_metadata(table: Any) -> bytes:
    with table.io.new_input(table.metadata_location).open() as file:
        return bytes(file.read())


def _write_beside(table: Any, content: bytes, found: CatalogMeasured) -> None:
    """How long the client takes to write a metadata file, as it does for a commit; the file goes with the table."""
    io = _unguarded(table)
    place = f"{table.metadata_location.rpartition('/')[0]}/{NAME}{secrets.token_hex(4)}.json"
    begin_s = time.perf_counter()
    with suppress(Exception):  # a client that may not write there: a commit behind REST writes nothing itself
        with io.new_output(place).create() as file:
            file.write(content)
        found.metadata_write_ms.append(1000.0 * (time.perf_counter() - begin_s))
        io.delete(place)


def _unguarded(table: Any) -> Any:
    """The table's FileIO as it writes and deletes."""
    return table.io.unguarded(table.location()) if hasattr(table.io, "unguarded") else table.io


@contextmanager
def _scratch_table(catalog: Any, namespace: str | None) -> Iterator[str]:
    """A table of our own in a namespace of our own, or in one that is named; both are removed at the end."""
    schema = pyiceberg("schema").Schema(
        pyiceberg("types").NestedField(1, "id", pyiceberg("types").LongType(), required=False)
    )
    own = namespace or f"{NAME}{secrets.token_hex(4)}"
    name = f"{own}.{NAME}{secrets.token_hex(4)}"
    if namespace is None:
        catalog.create_namespace(own)
    table = None
    try:
        table = catalog.create_table(name, schema, properties=NO_RETRY)
        yield name
    finally:
        try:
            catalog.purge_table(name)
        except Exception:
            with suppress(Exception):
                catalog.drop_table(name)
        _remove_files(table)
        if namespace is None:
            with suppress(Exception):
                catalog.drop_namespace(own)
        if catalog.table_exists(name):
            raise ObservationError(f"the scratch table '{name}' could not be dropped. Drop it.")


def _remove_files(table: Any) -> None:
    """What purging leaves: metadata files of commits that were refused, which no version of the table names."""
    io: Any = None if table is None else _unguarded(table)
    if not hasattr(io, "fs_by_scheme"):
        return  # only PyIceberg's Arrow FileIO can list a folder
    scheme, host, path = io.parse_location(table.location())
    with suppress(FileNotFoundError):
        io.fs_by_scheme(scheme, host).delete_dir(path)


def _commit_step(opened: OpenCatalog, name: str, clients: int, found: CatalogMeasured, end_s: float) -> None:
    refusal = pyiceberg("exceptions").CommitFailedException
    made, refused = found.commit_ms.setdefault(clients, []), found.refused_ms.setdefault(clients, [])

    def commit() -> None:
        table = opened.catalog.load_table(name)
        begin_s = time.perf_counter()
        times = made
        try:
            table.transaction().set_properties({"endive": secrets.token_hex(4)}).commit_transaction()
        except refusal:
            times = refused
        times.append(1000.0 * (time.perf_counter() - begin_s))

    run_clients(clients, COMMITS, end_s, commit)
