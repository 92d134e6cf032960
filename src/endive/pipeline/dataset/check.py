"""Every file of a dataset held against what was written down of it: ``endive check``, and what ``--repair`` takes away.

What a file must be is known to ``part_files``, ``summaries``, ``referred_files`` and the index of the analysis; nothing
is changed here but by ``forget_damaged`` and ``rebuild_plans``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from endive.errors import OutputError
from endive.pipeline.dataset.dataset_names import checked_name
from endive.pipeline.dataset.part_files import (
    DETAIL_RUNS,
    DETAIL_SAMPLE,
    DETAIL_TRANSACTIONS,
    LATENCIES,
    POINT,
    RECORDS,
    TRANSACTIONS,
    Part,
    PartFiles,
    damaged_summary,
    record_digest,
)
from endive.pipeline.dataset.places import DatasetPath, glob_sorted, place_of
from endive.pipeline.dataset.referred_files import FILES, is_intact
from endive.pipeline.dataset.seal import file_digest, is_page_whole, read_document, read_sealed
from endive.pipeline.dataset.sweep_folder import MANIFEST, StudyPlan, SweepFolder, refuse_link

ANALYSIS: Final = "analysis"
INDEX: Final = "index.json"
REPORT: Final = "report.html"


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that is not what it was, and how it is mended."""

    text: str
    study: str | None  # that has to be swept again with --repair; None if that does not mend it


@dataclass(frozen=True, slots=True)
class Checked:
    """What was looked at, and what was found."""

    parts: int
    missing_parts: int
    runs: int
    damages: tuple[Damage, ...]


def check_dataset(path: str | DatasetPath) -> Checked:
    """Read every byte of a dataset; OutputError if it is none, everything else is told as damage."""
    root = place_of(path).resolve()
    if not (root / MANIFEST).is_file():
        raise OutputError(f"{path} is not the folder of a sweep: it has no {MANIFEST}. Name one that was swept into.")
    refuse_link(root / MANIFEST)
    try:
        folder = SweepFolder.read(root)
    except OutputError as error:
        studies = sorted(place.name.removeprefix("study=") for place in (root / RECORDS).glob("study=*"))
        told = [Damage(str(error), studies[0] if studies else None)]
        told += [Damage(f"Study {study} has lost its plan with it.", study) for study in studies[1:]]
        return Checked(0, 0, 0, tuple(told))
    damages = [*_kept_files(folder), *_analysis(root), *_report(root)]
    try:
        folder.refuse_unplanned_files()
    except OutputError as error:
        damages.insert(0, Damage(str(error), None))
    parts = missing = runs = 0
    for study in folder.studies:
        complete = folder.complete_parts(study)
        parts += len(complete)
        missing += len(folder.missing_parts(study))
        runs += sum(len(files.part.run_ids) for files in complete)
        problems = {files: problem for files in complete if (problem := _problem(files)) is not None}
        whole = [files for files in complete if files not in problems]
        texts = (*problems.values(), *_damaged_summaries(folder, study, whole))
        damages += [Damage(text, study) for text in texts]
    return Checked(parts, missing, runs, tuple(damages))


def forget_damaged(folder: SweepFolder, study: str) -> None:
    """Take away the parts of a study that are damaged, so that they are simulated again."""
    for files in folder.complete_parts(study):
        if _problem(files) is not None:
            files.forget()


def rebuild_plans(root: DatasetPath) -> dict[str, StudyPlan] | None:
    """The plans by the records that are whole, or None if the manifest is; parts without a record are taken away."""
    try:
        read_sealed(root / MANIFEST)
        return None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError):
        pass
    studies: dict[str, StudyPlan] = {}
    for place in glob_sorted(root / RECORDS, "study=*"):
        study = checked_name("study", place.name.removeprefix("study="))
        plans = [plan for path in glob_sorted(place, "part-*.json") if (plan := _plan_in(path)) is not None]
        studies[study] = StudyPlan(_detail_of(plans), plans)
        known = {part.name for part in plans}
        places = [place, *(root / dataset / place.name for dataset in (LATENCIES, TRANSACTIONS))]
        for path in (path for folder in places for path in folder.glob("**/part-*")):
            if path.stem not in known:
                path.unlink()
    return studies


def _plan_in(path: DatasetPath) -> Part | None:
    """The part a record is about; of runs that failed nobody knows whether their txns would have been kept."""
    try:
        document = read_sealed(path)
        runs = {
            checked_name("run", run["run_id"]): run["transactions_kept"] or run["status"] != "ok"
            for run in document["runs"]
        }
        kept = {run_id for run_id, is_kept in runs.items() if is_kept} if TRANSACTIONS in document["files"] else ()
        return Part.of(checked_name("part", path.stem), list(runs), kept, document.get(POINT))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _detail_of(parts: list[Part]) -> str:
    if all(part.kept == part.run_ids for part in parts):
        return DETAIL_TRANSACTIONS
    return DETAIL_SAMPLE if any(part.kept for part in parts) else DETAIL_RUNS


def _problem(files: PartFiles) -> str | None:
    try:
        files.read_record(hashes=True)
    except OutputError as error:
        return str(error)
    return None


def _damaged_summaries(folder: SweepFolder, study: str, parts: list[PartFiles]) -> Iterator[str]:
    summaries = folder.summaries(study)
    if not summaries.checksums.exists() and not any(file.exists() for file in summaries.files.values()):
        return  # nothing was gathered yet
    try:
        told = summaries.parts_told()
    except OutputError as error:
        yield str(error)
        return
    for files in parts:
        if files.part.name in told and record_digest(files.read_record(hashes=False)) != told[files.part.name]:
            yield str(damaged_summary(summaries.checksums, "it speaks of other parts"))


def _kept_files(folder: SweepFolder) -> Iterator[Damage]:
    for place in glob_sorted(folder.path / FILES, "*"):
        if not place.name.startswith(".") and not is_intact(place):
            studies = ", ".join(folder.studies)
            yield Damage(f"{place} is damaged: its bytes are not those that were planned with ({studies}).", None)


def _analysis(root: DatasetPath) -> Iterator[Damage]:
    """The files of the analysis, by its index."""
    place = root / ANALYSIS
    if place.is_symlink():
        yield Damage(f"{place} is a link out of the dataset, which is not followed. Remove it.", None)
        return
    if not place.exists():
        return
    mend = f"Run: endive analyze {root}"
    try:
        digests = dict(read_sealed(place / INDEX)["digests"])
    except (OSError, ValueError, KeyError, TypeError):
        yield Damage(f"{place / INDEX} is damaged or missing. {mend}", None)
        return
    for name, digest in digests.items():
        path = place / PurePath(name).name
        if path.is_symlink() or not path.is_file() or file_digest(path) != digest:
            yield Damage(f"{path} is damaged or missing. {mend}", None)


def _report(root: DatasetPath) -> Iterator[Damage]:
    """The page that was drawn of it, if there is one."""
    path = root / REPORT
    if not path.is_symlink() and not path.exists():
        return
    try:
        is_whole = not path.is_symlink() and is_page_whole(read_document(path))
    except (OSError, ValueError):
        is_whole = False
    if not is_whole:
        yield Damage(f"{path} is not what was written. Run: endive report {root}", None)
