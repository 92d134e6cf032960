"""The folder of a sweep: what lies where, what is complete, and what does not belong there.

The files of one part are in ``endive.pipeline.dataset.part_files``. Nothing is repaired: what is damaged or foreign is
named, and left alone. docs/reference/dataset.md describes the folder for readers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from endive.errors import IntakeError, OutputError
from endive.intake import parse_json
from endive.pipeline.dataset.dataset_names import checked_name
from endive.pipeline.dataset.part_files import (
    CHECKSUMS,
    DETAIL_SAMPLE,
    DETAIL_TRANSACTIONS,
    DETAILS,
    LATENCIES,
    POINT,
    RECORDS,
    TRANSACTIONS,
    Part,
    PartFiles,
    Record,
    Summaries,
    partition,
)
from endive.pipeline.dataset.places import (
    LOCK_FILE,
    DatasetPath,
    glob_sorted,
    has_lock,
    lock_of,
    place_errors,
    place_of,
    read_plan,
    recover_plan,
    remove_tree,
    replace_plan,
)
from endive.pipeline.dataset.referred_files import FILES
from endive.pipeline.dataset.seal import DIGEST, DOCUMENT_BYTES_MAX, DOCUMENT_VALUES_MAX, seal_document, unseal_document
from endive.results import MODEL_VERSION, SCHEMA_VERSION, package_version
from endive.results.writer import first_of

FORMAT: Final = 5
FORMATS_READ: Final = (4, FORMAT)  # 4: parts mix points, and txns lie in no folder of their point
MANIFEST: Final = "_endive.json"
PROGRESS: Final = "_progress"
STAGING: Final = "_staging"
RUNS: Final = "runs"
GROUPS: Final = "groups"
STUDIES: Final = "studies"
READERS: Final = 8  # records that are read at once; in a store each is some requests
ABANDONED_S: Final = 86_400.0  # after which nobody will commit what lies in a store uncommitted


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


Rebuild = Callable[[DatasetPath], dict[str, StudyPlan] | None]


class SweepFolder:
    """Paths and manifest of one folder. Reading is free; writing wants the lock (``SweepFolder.locked``)."""

    def __init__(
        self,
        path: DatasetPath,
        studies: dict[str, StudyPlan],
        version: str | None = None,
        layout: int = FORMAT,
        model_version: int = MODEL_VERSION,
    ) -> None:
        self.path = path
        self.studies = studies
        self.layout = layout  # an older one can be read, and not written into; so can results of an older model
        self.model_version = model_version
        self._version = version  # of the manifest that the plans are from, in a store

    # --- opening ----------------------------------------------------------------------------------------

    @classmethod
    def read(cls, path: str | DatasetPath) -> SweepFolder:
        """The folder of a sweep that was started before; OutputError if it is none."""
        path = place_of(path)
        if not (path / MANIFEST).is_file():
            raise OutputError(f"{path} is not the folder of a sweep: it has no {MANIFEST}. Run 'endive sweep' first.")
        refuse_link(path / MANIFEST)
        return cls(path, *_read_manifest(path / MANIFEST))

    @classmethod
    @contextmanager
    def locked(cls, path: str | DatasetPath, rebuild: Rebuild | None = None) -> Iterator[SweepFolder]:
        """A new or an existing folder, held for writing and checked; a folder of something else is refused.

        A store has no lock: there the plan is replaced only if nobody else has replaced it. ``rebuild`` gives the plans
        of a folder whose manifest is damaged.
        """
        path = place_of(path).resolve()
        with place_errors(path):
            recover_plan(path / MANIFEST)
            is_new = not path.exists()
        _refuse_foreign(path)
        with place_errors(path):
            path.mkdir(parents=True, exist_ok=True)
        try:
            with lock_of(path):
                plans = None if rebuild is None else rebuild(path)
                if plans is not None:
                    folder = cls(path, plans, read_plan(path / MANIFEST)[1])
                    folder.write_manifest()
                else:
                    folder = cls.read(path) if (path / MANIFEST).exists() else cls(path, {})
                    _refuse_older(folder)
                folder.refuse_unplanned_files()
                yield folder
        finally:
            if is_new and not (path / MANIFEST).exists():
                remove_tree(path if has_lock(path) else path / FILES)  # nothing came of it

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
        self._version = replace_plan(self.path / MANIFEST, seal_document(document, indent=1), self._version)

    # --- places -----------------------------------------------------------------------------------------

    def partition(self, dataset: str, study: str) -> DatasetPath:
        """The folder of one study in ``runs``, ``groups``, ``transactions`` or the records."""
        return partition(self.path, dataset, study)

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
        with place_errors(self.path):
            for dataset in datasets:
                self.partition(dataset, study).mkdir(parents=True, exist_ok=True)
            (self.path / STUDIES).mkdir(exist_ok=True)

    # --- state ------------------------------------------------------------------------------------------

    def complete_parts(self, study: str) -> list[PartFiles]:
        """The parts that are there."""
        there = self._files_there(study)
        return [files for files in self._all_files(study) if files.last in there]

    def missing_parts(self, study: str) -> list[Part]:
        """The parts that are not there yet."""
        there = self._files_there(study)
        return [files.part for files in self._all_files(study) if files.last not in there]

    def _files_there(self, study: str) -> set[DatasetPath]:
        """The files that can make a part complete, by two listings: to ask for each would take a request for each."""
        return {
            path for dataset in (TRANSACTIONS, RECORDS) for path in self.partition(dataset, study).glob("**/part-*")
        }

    def records(self, study: str, *, hashes: bool | None = None) -> list[Record]:
        """The records of the parts that are there; OutputError if a file is damaged (``PartFiles.read_record``)."""
        with ThreadPoolExecutor(READERS) as readers:
            return list(readers.map(partial(PartFiles.read_record, hashes=hashes), self.complete_parts(study)))

    def _all_files(self, study: str) -> list[PartFiles]:
        return [self.files(study, part) for part in self.studies[study].parts] if study in self.studies else []

    # --- housekeeping, under the lock -------------------------------------------------------------------

    def sweep_out(self, own: str | None = None) -> None:
        """Remove what killed sweeps left behind: temporary files, parts that nobody committed, notes on progress.

        A store has no lock, so others may be at work there: what is ``own``, a sweep's or a finished study's, goes, and
        what is a day old. Nothing else is ever half there.
        """
        for place in (self.path / PROGRESS, self.path / STAGING):
            if isinstance(place, Path) or has_lock(place):
                remove_tree(place)
                continue
            if own is not None:
                remove_tree(place / own)
            place.remove_all(older_than_s=ABANDONED_S)
        if not has_lock(self.path):
            return
        for dataset in (RECORDS, RUNS, GROUPS, LATENCIES, TRANSACTIONS, STUDIES, FILES):
            for leftover in (self.path / dataset).glob("**/.*.tmp"):
                leftover.unlink(missing_ok=True)
        for leftover in self.path.glob(f".{MANIFEST}.*.tmp"):
            leftover.unlink(missing_ok=True)

    def refuse_unplanned_files(self) -> None:
        """A file among the data that no plan knows would be read as data."""
        for dataset in (RUNS, GROUPS, LATENCIES, TRANSACTIONS, RECORDS, STUDIES, FILES):
            refuse_link(self.path / dataset)
        for dataset in (RUNS, GROUPS, LATENCIES, TRANSACTIONS, RECORDS):
            planned = self._planned_files(dataset)
            for path in glob_sorted(self.path / dataset, "**/*"):
                refuse_link(path)
                if path not in planned and not path.name.startswith(".") and path.is_file():
                    raise OutputError(
                        f"{path} does not belong to this sweep, and would be read as a part of it. "
                        "Move it away, or choose another folder."
                    )

    def _planned_files(self, dataset: str) -> set[DatasetPath]:
        """Every file that the plans allow below one of the folders."""
        paths: set[DatasetPath] = set()
        for study in self.studies:
            if dataset in (RUNS, GROUPS):
                paths.add(self.partition(dataset, study) / f"{dataset}.parquet")
                continue
            if dataset == RECORDS:
                paths.add(self.partition(dataset, study) / CHECKSUMS)
            for files in self._all_files(study):
                places = {RECORDS: files.record, LATENCIES: files.latencies, TRANSACTIONS: files.transactions}
                paths.add(places[dataset])
        return paths


def refuse_link(path: DatasetPath) -> None:
    """OutputError for a link."""
    if path.is_symlink():
        raise OutputError(f"{path} is a link out of the dataset, which is not followed. Remove it.")


def _refuse_foreign(path: DatasetPath) -> None:
    with place_errors(path):
        if not path.exists():
            return
        if not path.is_dir():
            raise OutputError(f"Cannot write {path}: it is a file; name a folder.")
        entries = sorted(entry.name for entry in path.iterdir())
    foreign = [name for name in entries if name != LOCK_FILE and not name.startswith(f".{MANIFEST}.")]
    if foreign and MANIFEST not in entries:
        raise OutputError(
            f"Cannot write {path}: it holds files that are not of a sweep ({first_of(foreign)}). "
            "Choose an empty or a new folder."
        )


def _refuse_older(folder: SweepFolder) -> None:
    for theirs, ours, what in (
        (folder.layout, FORMAT, "folder format"),
        (folder.model_version, MODEL_VERSION, "model version"),
    ):
        if theirs != ours:
            raise OutputError(
                f"{folder.path} was written with {what} {theirs}; this is {ours}, and they must not be mixed. "
                "It can be analysed as it is. To add runs, sweep into another folder."
            )


def _read_manifest(path: DatasetPath) -> tuple[dict[str, StudyPlan], str | None, int, int]:
    """The plan of every study, the version of the manifest that they are from, layout and model of the folder."""
    try:
        content, version = read_plan(path)
        written = parse_json(content, name=str(path), bytes_max=DOCUMENT_BYTES_MAX, values_max=DOCUMENT_VALUES_MAX)
        if DIGEST not in written:  # older folders have none
            _refuse_other_versions(path, written)
        document = unseal_document(content)
        _refuse_other_versions(path, document)
        plans = {checked_name("study", name): _read_study(plan) for name, plan in document["studies"].items()}
        return plans, version, document["format"], document["model_version"]
    except PermissionError:
        raise OutputError(f"Cannot read {path}: permission denied. Ask its owner, or choose another folder.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IntakeError) as error:
        reason = f": {error}" if isinstance(error, ValueError) and not isinstance(error, json.JSONDecodeError) else ""
        raise OutputError(
            f"{path} cannot be read as the manifest of a sweep{reason}. Restore it, sweep again with --repair, or "
            "choose another folder."
        ) from None


def _written_part(detail: str, part: Part) -> dict[str, Any]:
    """A part as the manifest has it; whose txns are kept follows from the detail unless it is a sample."""
    written: dict[str, Any] = {"name": part.name, "point": part.point, "runs": list(part.run_ids)}
    return {**written, "kept": list(part.kept)} if detail == DETAIL_SAMPLE else written


def _read_study(plan: Mapping[str, Any]) -> StudyPlan:
    detail = plan["detail"]
    if detail not in DETAILS:
        raise ValueError(f"detail cannot be {detail!r}")
    parts = []
    for part in plan["parts"]:
        runs = [checked_name("run", run) for run in part["runs"]]
        kept = part["kept"] if detail == DETAIL_SAMPLE else runs if detail == DETAIL_TRANSACTIONS else ()
        point = part.get(POINT)  # parts of format 4 have none
        if point is not None and not (isinstance(point, int) and point >= 0):
            raise ValueError(f"a point cannot be {point!r}")
        parts.append(Part.of(checked_name("part", part["name"]), runs, kept, point))
    return StudyPlan(detail, parts)


def _refuse_other_versions(path: DatasetPath, document: Mapping[str, Any]) -> None:
    """What cannot even be read: other columns, or a folder of a release to come."""
    for key, read, what in (
        ("format", FORMATS_READ, "folder format"),
        ("model_version", range(1, MODEL_VERSION + 1), "model version"),
        ("schema_version", (SCHEMA_VERSION,), "schema version"),
    ):
        theirs = document[key]
        if theirs not in read:
            raise OutputError(
                f"{path.parent} was written with {what} {theirs} (endive {document.get('version')}); this is "
                f"{read[-1]}, whose results must not be mixed with those. Choose another folder, or the release that "
                "wrote it."
            )
