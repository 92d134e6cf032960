"""The files of one part of a sweep, and those that sum up a study: where they lie, and whether they are whole.

Driver and workers both use it. How a part is made is in ``endive.pipeline.sweep.part``, how ``runs.parquet`` and
``groups.parquet`` are in ``endive.pipeline.sweep.gather``; the plan of all parts is in
``endive.pipeline.dataset.sweep_folder``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypedDict

from endive.errors import OutputError
from endive.pipeline.dataset.places import DatasetPath, move_file, place_errors, write_whole
from endive.pipeline.dataset.seal import BrokenSealError, content_digest, file_digest, read_sealed, seal_document

RECORDS: Final = "_records"
LATENCIES: Final = "latencies"
TRANSACTIONS: Final = "transactions"
POINT: Final = "point"

DETAIL_TRANSACTIONS: Final = "transactions"  # the txns of all runs are kept
DETAIL_SAMPLE: Final = "sample"  # those of one seed per configuration
DETAIL_RUNS: Final = "runs"  # none
DETAILS: Final = (DETAIL_TRANSACTIONS, DETAIL_SAMPLE, DETAIL_RUNS)

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """Runs that are simulated one after another and appear together."""

    name: str
    run_ids: tuple[str, ...]
    kept: tuple[str, ...]  # of these runs: whose txns are kept
    point: int | None = None  # that all its runs are of; None in datasets of format 4, whose parts mix points

    @classmethod
    def of(cls, name: str, run_ids: Sequence[str], kept: Collection[str], point: int | None = None) -> Part:
        """A part of these runs; of ``kept`` only its own runs concern it."""
        return cls(name, tuple(run_ids), tuple(run_id for run_id in run_ids if run_id in kept), point)


class FileFacts(TypedDict):
    """What the record of a part knows of a file beside it."""

    bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class PartFiles:
    """One part in the folder ``root``. Reading is free; who writes is decided by the plan."""

    root: DatasetPath
    study: str
    part: Part

    @property
    def record(self) -> DatasetPath:
        """What was measured of its runs, and what its other files are."""
        return partition(self.root, RECORDS, self.study) / f"{self.part.name}.json"

    @property
    def latencies(self) -> DatasetPath:
        """Latencies of its runs, counted on the grid."""
        return partition(self.root, LATENCIES, self.study) / f"{self.part.name}.parquet"

    @property
    def transactions(self) -> DatasetPath:
        """The txns of its runs, where they are kept: in the folder of their point, so that queries skip the others."""
        place = partition(self.root, TRANSACTIONS, self.study)
        if self.part.point is not None:
            place = place / f"{POINT}={self.part.point}"
        return place / f"{self.part.name}.parquet"

    @property
    def keeps_transactions(self) -> bool:
        """Whether it has a file of txns."""
        return bool(self.part.kept)

    @property
    def last(self) -> DatasetPath:
        """The last of its files to appear, which makes it complete."""
        return self.transactions if self.keeps_transactions else self.record

    def write_record(self, runs: Sequence[Record], files: Mapping[str, FileFacts]) -> None:
        """Write down what was measured, and what the files beside the record are."""
        document = {"part": self.part.name, "point": self.part.point, "files": files, "runs": list(runs)}
        write_whole(self.record, seal_document(document))

    def read_record(self, *, hashes: bool | None = None) -> Record:
        """The record of a complete part, with its files checked; OutputError if one is damaged.

        ``hashes``: whether by their digests or only by their sizes. If it is not said, objects in a store are checked
        by their sizes: a digest would cost their transfer.
        """
        try:
            document: Record = read_sealed(self.record)
            told = tuple(run["run_id"] for run in document["runs"])
            files = {
                name: FileFacts(bytes=file["bytes"], digest=file["digest"]) for name, file in document["files"].items()
            }
        except BrokenSealError as error:
            raise self._damaged(self.record, str(error)) from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise self._damaged(self.record, "it is missing or cannot be read") from None
        if told != self.part.run_ids:
            raise self._damaged(self.record, "it is about other runs than the plan")
        expected = {LATENCIES: self.latencies} | ({TRANSACTIONS: self.transactions} if self.keeps_transactions else {})
        for dataset, path in expected.items():
            if dataset not in files:
                raise self._damaged(self.record, f"it does not know the file in {dataset}")
            self._check_parquet(path, files[dataset], reads=isinstance(path, Path) if hashes is None else hashes)
        return document

    def make_places(self) -> None:
        """The folders that its files lie in."""
        with place_errors(self.root):
            for path in self._in_order_of_removal if self.keeps_transactions else (self.record, self.latencies):
                path.parent.mkdir(parents=True, exist_ok=True)

    def move_to(self, target: PartFiles) -> None:
        """Let the part appear elsewhere: last what makes it complete there."""
        target.make_places()
        for name in ("latencies", "record", *(["transactions"] if self.keeps_transactions else [])):
            source, place = getattr(self, name), getattr(target, name)
            with place_errors(place):
                move_file(source, place)

    def forget(self) -> None:
        """Take the part away, so that it is simulated again: first what makes it complete."""
        with place_errors(self.root):
            for path in self._in_order_of_removal:
                path.unlink(missing_ok=True)

    @property
    def _in_order_of_removal(self) -> tuple[DatasetPath, ...]:
        return (self.transactions, self.record, self.latencies)

    def _check_parquet(self, path: DatasetPath, facts: FileFacts, *, reads: bool) -> None:
        try:
            size_bytes = path.stat().st_size
        except FileNotFoundError:
            raise self._damaged(path, "it is missing") from None
        if size_bytes != facts["bytes"]:
            raise self._damaged(path, f"it has {size_bytes:,} bytes of {facts['bytes']:,}")
        if reads and file_digest(path) != facts["digest"]:
            raise self._damaged(path, "its bytes are not those that the sweep wrote")

    def _damaged(self, path: DatasetPath, what: str) -> OutputError:
        names = " and ".join(str(file) for file in self._in_order_of_removal if file.exists())
        delete = f" with --repair, or delete {names} and sweep again: only these runs are simulated again"
        return OutputError(f"{path} is damaged: {what}. Sweep again{delete if names else ''}.")


def record_digest(record: Record) -> str:
    """The digest of what was measured, with those of the other files; the same whenever the part is simulated."""
    runs = [{key: value for key, value in run.items() if key != "wall_s"} for run in record["runs"]]
    return content_digest(json.dumps({**record, "runs": runs}, sort_keys=True, allow_nan=False).encode())


def partition(root: DatasetPath, dataset: str, study: str) -> DatasetPath:
    """The folder of one study in one of the datasets."""
    return root / dataset / f"study={study}"


# ---- what sums up a study ----------------------------------------------------------------------------


CHECKSUMS: Final = "_checksums.json"


@dataclass(frozen=True, slots=True)
class Summaries:
    """The summary files of one study, by the name they are told under."""

    checksums: DatasetPath
    files: Mapping[str, DatasetPath]

    def seal(self, parts: Mapping[str, str]) -> None:
        """Write down what the files are now, and the digests of the parts they come from."""
        digests = {name: file_digest(path) for name, path in self.files.items()}
        write_whole(self.checksums, seal_document({"files": digests, "parts": dict(parts)}))

    def parts_told(self) -> dict[str, str]:
        """The parts the files come from, with the files checked; OutputError if one is damaged."""
        try:
            document = read_sealed(self.checksums)
            digests, parts = dict(document["files"]), dict(document["parts"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise damaged_summary(self.checksums, f"it is missing or cannot be read ({_reason(error)})") from None
        for name, path in self.files.items():
            try:
                digest = file_digest(path)
            except OSError as error:
                raise damaged_summary(path, f"it is missing or cannot be read ({_reason(error)})") from None
            if digest != digests.get(name):
                raise damaged_summary(path, "its bytes are not those that the sweep wrote")
        return parts


def damaged_summary(path: DatasetPath, what: str) -> OutputError:
    """What to say of a summary that cannot be trusted."""
    return OutputError(
        f"{path} is damaged: {what}. Start the same 'endive sweep' again: it makes the summaries anew from the parts."
    )


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
