"""What a command says first of a folder that ``endive observe`` wrote: whether the model explained that table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.text import Text

from endive.cli.console import stdout


def print_note(path: Path) -> None:
    """The note of an observed folder, before anything else; nothing of another configuration."""
    from endive.observation.folder_memory import observed_note

    note = observed_note(path)
    if note is not None:
        stdout().print(Text(note, style="bold"), soft_wrap=True)


def with_note(path: Path, document: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON answer with the note as its first warning."""
    from endive.observation.folder_memory import observed_note

    note = observed_note(path)
    if note is None:
        return dict(document)
    return {**document, "observed": note, "warnings": [note, *document.get("warnings", [])]}
