"""Datasets of the previous format, read and never written: summary files in the place of a table of runs.

``runs`` and ``groups`` were one file each, latencies a file per part, and no run had counts over time. The manifest
held the plan of every study.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from endive.errors import OutputError
from endive.pipeline.dataset.dataset_names import checked_name
from endive.pipeline.dataset.files import Place
from endive.pipeline.dataset.runs_table import RUNS, printable_table, refuse_damaged
from endive.pipeline.dataset.scan import scan
from endive.pipeline.dataset.seal import file_digest, read_sealed
from endive.pipeline.dataset.sweep_dataset import DETAILS, MANIFEST, STUDIES, TRANSACTIONS, StudyEntry, refuse_link
from endive.tables.latency_counts import LATENCY_FIELDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GROUPS: Final = "groups"
LATENCIES: Final = "latencies"
RECORDS: Final = "_records"
_CHECKSUMS: Final = "_checksums.json"


def read_entries(root: Place) -> dict[str, StudyEntry]:
    """Return the studies of the manifest that were swept, at least in part."""
    path = root / MANIFEST
    try:
        entries = {}
        for name, plan in read_sealed(path)["studies"].items():
            runs = sum(len(part["runs"]) for part in plan["parts"])
            if plan["detail"] not in DETAILS:
                raise ValueError(f"detail cannot be {plan['detail']!r}")
            entries[checked_name("study", name)] = StudyEntry(detail=plan["detail"], runs_planned=runs)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutputError(f"{path} cannot be read as the manifest of a sweep ({error}). Restore it.") from None
    return {name: entry for name, entry in entries.items() if summary(root, RUNS, name).is_file()}


def read_runs(root: Place, study: str) -> tuple[pa.Table, pa.Table]:
    """Return the runs of a study and the metrics of their groups, which must be what the sweep wrote."""
    tables = []
    checksums = root / RECORDS / f"study={study}" / _CHECKSUMS
    for name in (RUNS, GROUPS):
        path = summary(root, name, study)
        refuse_link(path)
        try:
            digest = dict(read_sealed(checksums)["files"])[name]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise OutputError(f"{checksums} is damaged or missing ({error}). Restore it.") from None
        with refuse_damaged(path):
            if file_digest(path) != digest:
                raise ValueError("its bytes are not those that the sweep wrote")
            with path.parquet(page_checksum_verification=True) as file:
                tables.append(printable_table(file.read()))
    return tables[0], tables[1]


def latency_frame(spark: SparkSession, root: Place, studies: Sequence[str]) -> DataFrame:
    """Return the latencies of every run, counted on the grid: ``study``, ``run_id`` and ``LATENCY_FIELDS``."""
    objects = {study: _parts(root, LATENCIES, study) for study in studies}
    schema = pa.schema([("run_id", pa.string()), *LATENCY_FIELDS])
    return scan(spark, root / LATENCIES, objects, schema)


def transaction_objects(root: Place, studies: Sequence[str]) -> dict[str, list[Place]]:
    """Return the objects of transactions by study; the folder of a point is part of their names."""
    return {study: _parts(root, TRANSACTIONS, study) for study in studies}


def damaged_files(root: Place, study: str) -> list[Place]:
    """Return the files of a study that are not what the record of their part says."""
    damaged = []
    folder = root / RECORDS / f"study={study}"
    for record in folder.children("part-*.json"):
        try:
            document = read_sealed(record)
            point = "" if document.get("point") is None else f"point={document['point']}"
            for dataset, facts in document["files"].items():
                place = root / checked_dataset(dataset) / f"study={study}"
                place = place / point if dataset == TRANSACTIONS and point else place
                path = place / f"{record.stem}.parquet"
                if path.is_symlink() or file_digest(path) != facts["digest"]:
                    damaged.append(path)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            damaged.append(record)
    try:
        digests = dict(read_sealed(folder / _CHECKSUMS)["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return [*damaged, folder / _CHECKSUMS]
    for name, path in {
        RUNS: summary(root, RUNS, study),
        GROUPS: summary(root, GROUPS, study),
        "study": root / STUDIES / f"{study}.toml",
    }.items():
        try:
            is_whole = not path.is_symlink() and file_digest(path) == digests.get(name)
        except OSError:
            is_whole = False
        damaged += [] if is_whole else [path]
    return damaged


def checked_dataset(name: str) -> str:
    """Return the name of a folder of parts, or ValueError."""
    if name not in (LATENCIES, TRANSACTIONS):
        raise ValueError(f"a part has no file in {name!r}")
    return name


def summary(root: Place, name: str, study: str) -> Place:
    """Return the file of all runs, or of all groups, of a study."""
    return root / name / f"study={study}" / f"{name}.parquet"


def _parts(root: Place, dataset: str, study: str) -> list[Place]:
    folder = root / dataset / f"study={study}"
    return [place for place in folder.sizes() if place.name.startswith("part-") and place.name.endswith(".parquet")]
