"""``runs.parquet``, ``groups.parquet`` and the study file of one study: what they must be, and which parts they sum up.

The tables themselves are made in ``endive.pipeline.sweep.gather``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from endive.errors import OutputError
from endive.pipeline.dataset.places import DatasetPath, write_whole
from endive.pipeline.dataset.seal import file_digest, read_document, sealed, unsealed

CHECKSUMS: Final = "_checksums.json"


@dataclass(frozen=True, slots=True)
class Summaries:
    """The summary files of one study, by the name they are told under."""

    checksums: DatasetPath
    files: Mapping[str, DatasetPath]

    def seal(self, parts: Mapping[str, str]) -> None:
        """Write down what the files are now, and the digests of the parts they come from."""
        digests = {name: file_digest(path) for name, path in self.files.items()}
        write_whole(self.checksums, sealed({"files": digests, "parts": dict(parts)}))

    def parts_told(self) -> dict[str, str]:
        """The parts the files come from, with the files checked; OutputError if one is damaged."""
        try:
            document = unsealed(read_document(self.checksums))
            digests, parts = dict(document["files"]), dict(document["parts"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise damaged_summary(self.checksums, f"it is missing or cannot be read ({_reason(error)})") from None
        for name, path in self.files.items():
            try:
                found = file_digest(path)
            except OSError as error:
                raise damaged_summary(path, f"it is missing or cannot be read ({_reason(error)})") from None
            if found != digests.get(name):
                raise damaged_summary(path, "its bytes are not those that the sweep wrote")
        return parts


def damaged_summary(path: DatasetPath, what: str) -> OutputError:
    """What to say of a summary that cannot be trusted."""
    return OutputError(
        f"{path} is damaged: {what}. Start the same 'endive sweep' again: it makes the summaries anew from the parts."
    )


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
