"""A catalog measured through PyIceberg: loading a table and committing to it, alone and beside others.

It makes one scratch table, commits to it, and drops it whatever happens. What the client itself asks of the
store (metadata files) is measured apart, so that ``catalog_profile`` can tell the catalog's own answers from it.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final
from urllib.parse import urlsplit

from endive.errors import IntakeError, ObservationError
from endive.observation.measurement.clients import run_clients, time_call
from endive.observation.tables.allowed_places import local_path
from endive.observation.tables.catalogs import OpenCatalog, one_line, pyiceberg

REST: Final = "rest"
SAMPLES: Final = 20
COMMITS: Final = 20  # of all clients of one step together
CLIENTS: Final = (1, 2, 4, 8)
NAME: Final = "endive_measure_"
NO_RETRY: Final = {"commit.retry.num-retries": "0"}
SNAPSHOTS: Final = 1500  # about a MiB
LOADS: Final = 12
WARM_UPS: Final = 3  # a server that runs for the first time through code for long lists is slow
LONG_REQUESTS: Final = 2 * (WARM_UPS + LOADS) + 4  # loads, and two commits that are looked at once each
SUMMARY: Final = {  # as Spark writes one
    "added-data-files": "1",
    "added-records": "1000",
    "added-files-size": "104857",
    "changed-partition-count": "1",
    "total-delete-files": "0",
    "total-position-deletes": "0",
    "total-equality-deletes": "0",
    "spark.app.id": "local-1794960000000",
    "engine-version": "4.0.1",
    "engine-name": "spark",
    "iceberg-version": "Apache Iceberg 1.10.0",
}
Progress = Callable[[int, int], None]


@dataclass(slots=True, kw_only=True)
class LongAnswers:
    """Loads in ms with the list and, after it, without; what PyIceberg's own parsing takes of the difference."""

    list_bytes: int = 0
    long_ms: list[float] = field(default_factory=list)
    short_ms: list[float] = field(default_factory=list)
    parse_ms: list[float] = field(default_factory=list)

    @property
    def ms_per_mib(self) -> float:
        """What a MiB of the list adds to a load, PyIceberg's parsing included."""
        return (_warm(self.long_ms) - _warm(self.short_ms)) * 2**20 / self.list_bytes

    @property
    def parse_ms_per_mib(self) -> float:
        """Of that, what PyIceberg takes to parse it."""
        return min(self.ms_per_mib, _warm(self.parse_ms) * 2**20 / self.list_bytes)


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
    with one_line(f"catalog '{opened.name}'", opened.secrets), _scratch_table(opened, namespace) as name:
        for index in range(SAMPLES):
            load_ms, table = time_call(opened.catalog.load_table, name)
            read_ms, content = time_call(_read_metadata, table)
            measured.load_ms.append(load_ms)
            measured.metadata_read_ms.append(read_ms)
            _write_beside(opened, name, table, content, measured)
            progress(2 * (index + 1), total)
        if opened.kind == REST:
            measured.long_answers = _measure_long_answers(opened.catalog, name, end_s)
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


def _write_beside(opened: OpenCatalog, name: str, table: Any, content: bytes, measured: CatalogMeasured) -> None:
    """Measure how long the client takes to write a metadata file, as it does for a commit.

    The server names the folder, so a file is written there only if it is the scratch table's own.
    """
    location = f"{table.metadata_location.rpartition('/')[0]}/{NAME}{secrets.token_hex(4)}.json"
    if not is_own_location(opened, name, location):
        return
    begin_s = time.perf_counter()
    with suppress(Exception):  # a client that may not write there: a commit behind REST writes nothing itself
        with table.io.new_output(location).create() as file:
            file.write(content)
        measured.metadata_write_ms.append(1000.0 * (time.perf_counter() - begin_s))
        table.io.delete(location)


def is_own_location(opened: OpenCatalog, name: str, location: str) -> bool:
    """Whether a file is in a folder named after the scratch table, on a machine whose files the server may name."""
    if opened.kind == REST:
        try:
            opened.allowed.refuse_local(location, str(opened.catalog.uri))
        except IntakeError:
            return False
    path = local_path(location)
    file = urlsplit(location).path if path is None else os.path.realpath(path)
    folders = file.split("/")[:-1]
    return ".." not in folders and any(name.rpartition(".")[2] in folder for folder in folders)


@contextmanager
def _scratch_table(opened: OpenCatalog, namespace: str | None) -> Iterator[str]:
    """Make a table in a new namespace, or in one that is named; remove both at the end."""
    from endive.observation.tables.guarded_io import record_outputs

    catalog = opened.catalog
    schema = pyiceberg("schema").Schema(
        pyiceberg("types").NestedField(1, "id", pyiceberg("types").LongType(), required=False)
    )
    own = namespace or f"{NAME}{secrets.token_hex(4)}"
    name = f"{own}.{NAME}{secrets.token_hex(4)}"
    if namespace is None:
        catalog.create_namespace(own)
    with record_outputs() as written:
        table = None
        try:
            table = catalog.create_table(name, schema, properties=NO_RETRY)
            yield name
        finally:
            _drop_table(opened, name)
            for location in written:
                if table is not None and is_own_location(opened, name, location):
                    with suppress(Exception):  # dropped with the table, or never finished
                        table.io.delete(location)
            if namespace is None:
                with suppress(Exception):
                    catalog.drop_namespace(own)
            if catalog.table_exists(name):
                raise ObservationError(f"the scratch table '{name}' could not be dropped. Drop it.")


def _drop_table(opened: OpenCatalog, name: str) -> None:
    """Drop the table; only a REST server purges, because PyIceberg would delete whatever the metadata names."""
    with suppress(Exception):
        if opened.kind == REST:
            with suppress(Exception):
                opened.catalog.purge_table(name)
                return
        opened.catalog.drop_table(name)


def _commit_step(opened: OpenCatalog, name: str, clients: int, measured: CatalogMeasured, end_s: float) -> None:
    refusal = pyiceberg("exceptions").CommitFailedException
    made, refused = measured.commit_ms.setdefault(clients, []), measured.refused_ms.setdefault(clients, [])

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


# ---- long answers --------------------------------------------------------------------------------------
#
# What a long list of snapshots adds to a REST server's answers: the scratch table gets one, is loaded, and loses it.
# One commit adds the snapshots and one removes them; their manifest lists are named and never written, because nobody
# reads them. They are parsed and served one by one, which costs more than as many bytes in one property.


def _warm(times_ms: Sequence[float]) -> float:
    return median(times_ms[WARM_UPS:])


def _measure_long_answers(catalog: Any, name: str, end_s: float) -> LongAnswers | None:
    """Loads with a long list; nothing if the server refuses such a commit, or answers without the list."""
    answers = LongAnswers()
    table = catalog.load_table(name)
    snapshots = _snapshots(table)
    updates = pyiceberg("table.update")
    try:
        catalog.commit_table(table, (), tuple(updates.AddSnapshotUpdate(snapshot=each) for each in snapshots))
        told = catalog.load_table(name).metadata
        if len(told.snapshots) < len(snapshots):
            return None
        answers.list_bytes = sum(len(each.model_dump_json(by_alias=True, exclude_none=True)) for each in snapshots)
        text = told.model_dump_json(by_alias=True)
        for _ in _turns(end_s):
            answers.long_ms.append(time_call(catalog.load_table, name)[0])
            answers.parse_ms.append(time_call(type(told).model_validate_json, text)[0])
    except Exception:
        return None
    finally:
        with suppress(Exception):  # the table is dropped in any case
            ids = [each.snapshot_id for each in snapshots]
            catalog.commit_table(table, (), (updates.RemoveSnapshotsUpdate(snapshot_ids=ids),))
    answers.short_ms = [time_call(catalog.load_table, name)[0] for _ in _turns(end_s)]
    is_enough = min(len(answers.long_ms), len(answers.short_ms)) > WARM_UPS
    return answers if is_enough else None


def _turns(end_s: float) -> Iterator[int]:
    return (turn for turn in range(WARM_UPS + LOADS) if time.monotonic() < end_s)


def _snapshots(table: Any) -> list[Any]:
    """Appends that were never made, each the parent of the next."""
    kept, parent, first = [], None, table.metadata.last_sequence_number + 1
    module = pyiceberg("table.snapshots")
    for place in range(SNAPSHOTS):
        own = secrets.randbits(62)
        totals = {f"total-{what}": str(1000 * (place + 1)) for what in ("records", "files-size", "data-files")}
        kept.append(
            module.Snapshot(
                snapshot_id=own,
                parent_snapshot_id=parent,
                sequence_number=first + place,
                timestamp_ms=table.metadata.last_updated_ms,
                manifest_list=f"{table.location()}/metadata/snap-{own}-1-{secrets.token_hex(16)}.avro",
                summary=module.Summary(module.Operation.APPEND, **SUMMARY, **totals),
                schema_id=table.metadata.current_schema_id,
            )
        )
        parent = own
    return kept
