"""The folder of a sweep: what lies where, what is complete, and what does not belong there.

This file defines the layout, the manifest with the plan of every study, and the checks before anything is written.
The files of one part are in ``endive.pipeline.dataset.part_files``. Nothing is repaired: what is damaged or foreign
is named, and left alone. docs/reference/dataset.md describes the folder for readers.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from endive.errors import OutputError
from endive.pipeline.dataset.lock import LOCK_FILE, FolderLock
from endive.pipeline.dataset.names import part_name, run_name, study_name
from endive.pipeline.dataset.part_files import (
    DETAIL_SAMPLE,
    DETAIL_TRANSACTIONS,
    DETAILS,
    LATENCIES,
    RECORDS,
    TRANSACTIONS,
    Part,
    PartFiles,
)
from endive.pipeline.dataset.referred_files import FILES
from endive.pipeline.dataset.seal import DIGEST, sealed, unsealed
from endive.pipeline.dataset.summaries import CHECKSUMS, Summaries
from endive.results import MODEL_VERSION, SCHEMA_VERSION, package_version
from endive.results.writer import output_errors, write_atomically

FORMAT: Final = 4
MANIFEST: Final = "_endive.json"
PROGRESS: Final = "_progress"
RUNS: Final = "runs"
GROUPS: Final = "groups"
STUDIES: Final = "studies"

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # one slash: a Path has lost the second


@dataclass(slots=True)
class StudyPlan:
    """What the folder knows of one study: how much detail is kept, and its parts in order."""

    detail: str
    parts: list[Part] = field(default_factory=list)

    @property
    def run_ids(self) -> set[str]:
        """Every run the plan holds."""
        return {run_id for part in self.parts for run_id in part.run_ids}

    @property
    def keeps_transactions(self) -> bool:
        """Whether the txns of any run are kept."""
        return any(part.kept for part in self.parts)


Rebuild = Callable[[Path], dict[str, StudyPlan] | None]


class SweepFolder:
    """Paths and manifest of one folder. Reading is free; writing wants the lock (``SweepFolder.locked``)."""

    def __init__(self, path: Path, studies: dict[str, StudyPlan]) -> None:
        self.path = path
        self.studies = studies

    # --- opening ----------------------------------------------------------------------------------------

    @classmethod
    def read(cls, path: Path) -> SweepFolder:
        """The folder of a sweep that was started before; OutputError if it is none."""
        refuse_url(path)
        if not (path / MANIFEST).is_file():
            raise OutputError(f"{path} is not the folder of a sweep: it has no {MANIFEST}. Run 'endive sweep' first.")
        return cls(path, _read_manifest(path / MANIFEST))

    @classmethod
    @contextmanager
    def locked(cls, path: Path, rebuild: Rebuild | None = None) -> Iterator[SweepFolder]:
        """A new or an existing folder, held for writing and checked; a folder of something else is refused.

        ``rebuild`` gives the plans of a folder whose manifest is damaged.
        """
        refuse_url(path)
        path = path.resolve()
        is_new = not path.exists()
        _refuse_foreign(path)
        with output_errors(path):
            path.mkdir(parents=True, exist_ok=True)
        try:
            with FolderLock(path):
                plans = None if rebuild is None else rebuild(path)
                if plans is not None:
                    folder = cls(path, plans)
                    folder.write_manifest()
                else:
                    folder = cls.read(path) if (path / MANIFEST).exists() else cls(path, {})
                folder.refuse_unplanned_files()
                yield folder
        finally:
            if is_new and not (path / MANIFEST).exists():
                shutil.rmtree(path, ignore_errors=True)  # nothing came of it

    def write_manifest(self) -> None:
        """Let the present plan be the folder's plan."""
        document = {
            "endive": "sweep",
            "format": FORMAT,
            "model_version": MODEL_VERSION,
            "schema_version": SCHEMA_VERSION,
            "version": package_version(),
            "studies": {
                name: {
                    "detail": plan.detail,
                    "parts": [_written_part(plan.detail, part) for part in plan.parts],
                }
                for name, plan in self.studies.items()
            },
        }
        write_atomically(self.path / MANIFEST, sealed(document, indent=1))

    # --- places -----------------------------------------------------------------------------------------

    def partition(self, dataset: str, study: str) -> Path:
        """The folder of one study in ``runs``, ``groups``, ``transactions`` or the records."""
        return self.path / dataset / f"study={study}"

    def files(self, study: str, part: Part) -> PartFiles:
        """The files of a part."""
        return PartFiles(self.path, study, part)

    def summaries(self, study: str) -> Summaries:
        """The files that sum up a study, and what they must be."""
        files = {
            "runs": self.partition(RUNS, study) / f"{RUNS}.parquet",
            "groups": self.partition(GROUPS, study) / f"{GROUPS}.parquet",
            "study": self.path / STUDIES / f"{study}.toml",
        }
        return Summaries(self.partition(RECORDS, study) / CHECKSUMS, files)

    def make_places(self, study: str) -> None:
        """The folders that workers write into."""
        datasets = [RECORDS, RUNS, GROUPS, LATENCIES]
        if self.studies[study].keeps_transactions:
            datasets.append(TRANSACTIONS)
        with output_errors(self.path):
            for dataset in datasets:
                self.partition(dataset, study).mkdir(parents=True, exist_ok=True)
            (self.path / STUDIES).mkdir(exist_ok=True)

    # --- state ------------------------------------------------------------------------------------------

    def complete_parts(self, study: str) -> list[PartFiles]:
        """The parts that are there."""
        return [files for files in self._all_files(study) if files.is_complete]

    def missing_parts(self, study: str) -> list[Part]:
        """The parts that are not there yet."""
        return [files.part for files in self._all_files(study) if not files.is_complete]

    def _all_files(self, study: str) -> list[PartFiles]:
        return [self.files(study, part) for part in self.studies[study].parts]

    # --- housekeeping, under the lock -------------------------------------------------------------------

    def sweep_out(self) -> None:
        """Remove what killed sweeps left behind: temporary files and notes on progress."""
        shutil.rmtree(self.path / PROGRESS, ignore_errors=True)
        for dataset in (RECORDS, RUNS, GROUPS, LATENCIES, TRANSACTIONS, STUDIES, FILES):
            for leftover in (self.path / dataset).glob("**/.*.tmp"):
                leftover.unlink(missing_ok=True)
        for leftover in self.path.glob(f".{MANIFEST}.*.tmp"):
            leftover.unlink(missing_ok=True)

    def refuse_unplanned_files(self) -> None:
        """A file among the data that no plan knows would be read as data."""
        for dataset in (RUNS, GROUPS, LATENCIES, TRANSACTIONS, RECORDS, STUDIES, FILES):
            self._refuse_link(self.path / dataset)
        for dataset in (RUNS, GROUPS, LATENCIES, TRANSACTIONS, RECORDS):
            for path in sorted((self.path / dataset).glob("**/*")):
                self._refuse_link(path)
                if path.is_file() and not path.name.startswith(".") and not self._is_planned(dataset, path):
                    raise OutputError(
                        f"{path} does not belong to this sweep, and would be read as a part of it. "
                        "Move it away, or choose another folder."
                    )

    def _refuse_link(self, path: Path) -> None:
        if path.is_symlink():
            raise OutputError(f"{path} is a link out of the dataset, which is not followed. Remove it.")

    def _is_planned(self, dataset: str, path: Path) -> bool:
        study = path.parent.name.removeprefix("study=")
        plan = self.studies.get(study)
        if plan is None or path.parent != self.partition(dataset, study):
            return False
        if dataset in (RUNS, GROUPS):
            return path.name == f"{dataset}.parquet"
        if dataset == RECORDS and path.name == CHECKSUMS:
            return True
        return path.stem in {part.name for part in plan.parts} and path.suffix in (".parquet", ".json")


def refuse_url(path: Path) -> None:
    """Raise OutputError if a folder is none of a file system: parts appear by rename, which object stores lack."""
    if _URL.match(str(path)):
        raise OutputError(
            f"{str(path).replace(':/', '://', 1)} is no folder of a file system, and a sweep needs one that every "
            "worker sees: its parts appear by an atomic rename. Sweep into a folder and copy it, or write what "
            "spark.read.format('endive') gives."
        )


def _refuse_foreign(path: Path) -> None:
    if not path.exists():
        return
    if not path.is_dir():
        raise OutputError(f"Cannot write {path}: it is a file; name a folder.")
    with output_errors(path):
        found = sorted(entry.name for entry in path.iterdir())
    foreign = [name for name in found if name != LOCK_FILE and not name.startswith(f".{MANIFEST}.")]
    if foreign and MANIFEST not in found:
        others = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        raise OutputError(
            f"Cannot write {path}: it holds files that are not of a sweep ({foreign[0]}{others}). "
            "Choose an empty or a new folder."
        )


def _read_manifest(path: Path) -> dict[str, StudyPlan]:
    try:
        content = _read(path)
        written = json.loads(content)
        if DIGEST not in written:  # older folders have none
            _refuse_other_versions(path, written)
        document = unsealed(content)
        _refuse_other_versions(path, document)
        return {study_name(name): _read_plan(plan) for name, plan in document["studies"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f": {error}" if isinstance(error, ValueError) and not isinstance(error, json.JSONDecodeError) else ""
        raise OutputError(
            f"{path} cannot be read as the manifest of a sweep{reason}. Restore it, sweep again with --repair, or "
            "choose another folder."
        ) from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except PermissionError:
        raise OutputError(f"Cannot read {path}: permission denied. Ask its owner, or choose another folder.") from None


def _written_part(detail: str, part: Part) -> dict[str, Any]:
    """A part as the manifest has it; whose txns are kept follows from the detail unless it is a sample."""
    written: dict[str, Any] = {"name": part.name, "runs": list(part.run_ids)}
    return {**written, "kept": list(part.kept)} if detail == DETAIL_SAMPLE else written


def _read_plan(plan: Mapping[str, Any]) -> StudyPlan:
    detail = plan["detail"]
    if detail not in DETAILS:
        raise ValueError(f"detail cannot be {detail!r}")
    parts = []
    for part in plan["parts"]:
        runs = [run_name(run) for run in part["runs"]]
        kept = part["kept"] if detail == DETAIL_SAMPLE else runs if detail == DETAIL_TRANSACTIONS else ()
        parts.append(Part.of(part_name(part["name"]), runs, kept))
    return StudyPlan(detail, parts)


def _refuse_other_versions(path: Path, document: Mapping[str, Any]) -> None:
    for key, ours, what in (
        ("format", FORMAT, "folder format"),
        ("model_version", MODEL_VERSION, "model version"),
        ("schema_version", SCHEMA_VERSION, "schema version"),
    ):
        theirs = document[key]
        if theirs != ours:
            raise OutputError(
                f"{path.parent} was written with {what} {theirs} (endive {document.get('version')}); this is "
                f"{ours}, whose results must not be mixed with those. Choose another folder."
            )
