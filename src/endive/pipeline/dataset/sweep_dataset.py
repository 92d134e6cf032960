"""The place of a sweep: a marker that says what it is, a document for each study, and who may write there.

The marker and the documents are small and sealed with a digest. What runs there are is the table of runs
(``runs_table``); nothing here knows of parts. There is no lock: several sweeps may write at once, since whatever two of
them write under one name is equal.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from endive.config.study import Study
from endive.config.study.absolute_paths import with_paths
from endive.config.study.study_text import study_text
from endive.errors import IntakeError, OutputError
from endive.intake import parse_json
from endive.pipeline.dataset.dataset_names import checked_name
from endive.pipeline.dataset.files import Place, place_errors, place_of, remove_abandoned
from endive.pipeline.dataset.referred_files import FILES, keep_files
from endive.pipeline.dataset.runs_table import RUNS, folder_of
from endive.pipeline.dataset.seal import (
    DIGEST,
    DOCUMENT_BYTES_MAX,
    content_digest,
    read_document,
    seal_document,
    unseal_document,
)
from endive.results import MODEL_VERSION, SCHEMA_VERSION, package_version
from endive.results.writer import first_of

FORMAT: Final = 6
PREVIOUS: Final = 5  # read by ``previous_format``, never written
MANIFEST: Final = "_endive.json"
PROGRESS: Final = "_progress"
STUDIES: Final = "studies"
TRANSACTIONS: Final = "transactions"
DETAIL_TRANSACTIONS: Final = "transactions"  # the transactions of all runs are kept
DETAIL_SAMPLE: Final = "sample"  # those of one seed per configuration
DETAIL_RUNS: Final = "runs"  # none
DETAILS: Final = (DETAIL_TRANSACTIONS, DETAIL_SAMPLE, DETAIL_RUNS)
_OLD_LOCK: Final = "_endive.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyEntry:
    """What the dataset knows of a study beside its runs."""

    detail: str
    runs_planned: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepDataset:
    """A dataset of the present format."""

    place: Place
    model_version: int = MODEL_VERSION
    studies: Mapping[str, StudyEntry] = field(default_factory=dict)

    def transactions(self, study: str) -> Place:
        """Return the folder of a study's transactions."""
        return self.place / TRANSACTIONS / f"study={study}"


# ---- reading -------------------------------------------------------------------------------------------------


def read_marker(place: Place) -> dict[str, Any]:
    """Read what a place says of itself, of any format; OutputError if it is no place of a sweep."""
    path = place / MANIFEST
    if not path.is_file():
        raise OutputError(f"{place} is not the folder of a sweep: it has no {MANIFEST}. Run 'endive sweep' first.")
    refuse_link(path)
    try:
        content = read_document(path)
        written = parse_json(content, name=str(path), bytes_max=DOCUMENT_BYTES_MAX, values_max=10_000_000)
        if not isinstance(written, dict):
            raise ValueError("it is not a JSON object")
        marker = written if DIGEST not in written else unseal_document(content)
        versions = {key: marker[key] for key in ("format", "model_version", "schema_version")}
        if not all(type(each) is int for each in versions.values()):
            raise ValueError("its versions are no numbers")
    except PermissionError:
        raise OutputError(f"Cannot read {path}: permission denied. Ask its owner, or choose another folder.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IntakeError) as error:
        reason = f": {error}" if isinstance(error, ValueError) and not isinstance(error, json.JSONDecodeError) else ""
        raise OutputError(
            f"{path} cannot be read as the manifest of a sweep{reason}. Restore it, sweep again with --repair, or "
            "choose another folder."
        ) from None
    _refuse_other_versions(place, marker)
    return marker


def read_dataset(path: str | Path | Place) -> SweepDataset:
    """Read the marker and the studies of a dataset of the present format."""
    place = place_of(path)
    marker = read_marker(place)
    if marker["format"] != FORMAT:
        raise _older(place, "folder format", marker["format"], FORMAT)
    entries = {}
    for document in (place / STUDIES).children("*.json"):
        name = document.stem
        entries[name] = read_entry(document)
    return SweepDataset(place=place, model_version=marker["model_version"], studies=entries)


def read_entry(path: Place) -> StudyEntry:
    """Read the document of a study."""
    refuse_link(path)
    try:
        checked_name("study", path.stem)
        document = unseal_document(read_document(path))
        detail, planned = document["detail"], document["runs_planned"]
        if detail not in DETAILS or type(planned) is not int or planned < 0 or document["study"] != path.stem:
            raise ValueError("it does not describe this study")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OutputError(
            f"{path} cannot be read as the document of a study ({error}). Sweep the study again with --repair."
        ) from None
    return StudyEntry(detail=detail, runs_planned=planned)


def refuse_link(path: Place) -> None:
    """Raise OutputError for a link."""
    if path.is_symlink():
        raise OutputError(f"{path} is a link out of the dataset, which is not followed. Remove it.")


# ---- writing -------------------------------------------------------------------------------------------------


def find_dataset(path: str | Path | Place, study: str, detail: str, *, repairs: bool = False) -> SweepDataset:
    """Return the dataset into which a study may be swept, new or there; nothing is written.

    A place that holds anything but a sweep is refused, and so are other versions and a study with another detail. With
    ``repairs``, a marker or document that is damaged is overlooked, and will be written again.
    """
    place = place_of(path).resolve()
    _refuse_foreign(place)
    try:
        dataset = read_dataset(place) if (place / MANIFEST).exists() else SweepDataset(place=place)
    except OutputError:
        if not repairs:
            raise
        dataset = _readable(place, study)
    if dataset.model_version != MODEL_VERSION:
        raise _older(place, "model version", dataset.model_version, MODEL_VERSION)
    entry = dataset.studies.get(study)
    if entry is not None and entry.detail != detail:
        raise OutputError(
            f"{place} keeps study '{study}' with --detail {entry.detail}, not {detail}. Choose another folder."
        )
    for folder in (RUNS, TRANSACTIONS, STUDIES, FILES, PROGRESS):
        refuse_link(place / folder)
    with place_errors(place):
        if place.is_local and place.exists() and not os.access(place.key, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), place.key)
    return dataset


def write_plan(
    dataset: SweepDataset, study: Study, detail: str, *, runs_planned: int, files: Mapping[str, str]
) -> None:
    """Write down what is planned of a study, with the files that it refers to, by their names in the dataset."""
    place, name = dataset.place, study.name
    versions = {"format": FORMAT, "model_version": MODEL_VERSION, "schema_version": SCHEMA_VERSION}
    marker = {"endive": "sweep", **versions, "version": package_version()}
    text = study_text(with_paths(study, {path: f"../{FILES}/{kept}" for kept, path in files.items()})).encode()
    document = {"study": name, "detail": detail, "runs_planned": runs_planned, "study_digest": content_digest(text)}
    with place_errors(place):
        (place / STUDIES).mkdir()
        folder_of(place, name).mkdir()
        remove_abandoned(place)
        if not _is_marked(place):
            (place / MANIFEST).write(seal_document(marker, indent=1))
        keep_files(place, files)
        for path, content in (
            (place / STUDIES / f"{name}.toml", text),
            (place / STUDIES / f"{name}.json", seal_document(document, indent=1)),
        ):
            if not path.is_file() or path.read_bytes() != content:
                path.write(content)


def refuse_other_study(dataset: SweepDataset, name: str, there: Iterable[str], planned: Collection[str]) -> None:
    """Raise OutputError if the dataset holds runs that the study does not have."""
    others = set(there) - set(planned)
    if others:
        raise OutputError(
            f"{dataset.place} holds {len(others):,} runs of a study '{name}' that this study does not have: its base, "
            "axes or seeds were changed. Rename the study, or choose another folder."
        )


def _is_marked(place: Place) -> bool:
    """Return whether the marker is there and whole."""
    try:
        return bool(read_marker(place))
    except OutputError:
        return False


def _readable(place: Place, name: str) -> SweepDataset:
    """Return what can still be read of a dataset that is repaired by sweeping ``name`` again."""
    entries = {}
    for document in (place / STUDIES).children("*.json"):
        if document.stem != name:
            try:
                entries[document.stem] = read_entry(document)
            except OutputError:
                continue
    return SweepDataset(place=place, studies=entries)


def _refuse_foreign(place: Place) -> None:
    with place_errors(place):
        if not place.exists():
            return
        if not place.is_dir():
            raise OutputError(f"Cannot write {place}: it is a file; name a folder.")
        entries = sorted(entry.name for entry in place.children())
    foreign = [name for name in entries if name != _OLD_LOCK and not name.startswith(f".{MANIFEST}.")]
    if foreign and MANIFEST not in entries:
        raise OutputError(
            f"Cannot write {place}: it holds files that are not of a sweep ({first_of(foreign)}). "
            "Choose an empty or a new folder."
        )


def _older(place: Place, what: str, theirs: Any, ours: Any) -> OutputError:
    return OutputError(
        f"{place} was written with {what} {theirs}; this is {ours}, and they must not be mixed. "
        "It can be analysed as it is. To add runs, sweep into another folder."
    )


def _refuse_other_versions(place: Place, marker: Mapping[str, Any]) -> None:
    """Refuse what cannot even be read: other columns, older formats, or a folder of a release to come."""
    for key, read, what in (
        ("format", (PREVIOUS, FORMAT), "folder format"),
        ("model_version", range(1, MODEL_VERSION + 1), "model version"),
        ("schema_version", (SCHEMA_VERSION,), "schema version"),
    ):
        if marker[key] not in read:
            raise OutputError(
                f"{place} was written with {what} {marker[key]} (endive {marker.get('version')}); this is "
                f"{read[-1]}, whose results must not be mixed with those. Choose another folder, or the release that "
                "wrote it."
            )
