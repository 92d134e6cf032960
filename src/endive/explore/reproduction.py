"""What can be taken from the page: the configuration as TOML, and the command that reproduces it."""

from __future__ import annotations

import shlex
from typing import Any, Final

from endive.answers.variation import Base
from endive.config import load_simulation_config
from endive.errors import EndiveError
from endive.explore.page_question import Question

FILE: Final = "explored.toml"  # what the download is called


def reproduction_of(question: Question, base: Base) -> dict[str, Any]:
    """The file, and the shortest command that runs the same simulation."""
    return {
        "toml": f"# hash {base.config.config_hash()}\n{_download(base)}",
        "file": FILE,
        "hash": base.config.config_hash(),
        "command": command_of(question, base),
    }


def _download(base: Base) -> str:
    """The configuration without the place where the server's own file wants its rows."""
    simulation = base.config.simulation.model_copy(update={"output_path": None})
    return base.config.model_copy(update={"simulation": simulation}).to_toml()


def command_of(question: Question, base: Base) -> str:
    """With the file the server was started with if that gives the same, else with the download."""
    file, sets = question.start.file, question.settings()
    words = ["endive", "run", file or FILE]
    if file is not None and not question.left_out and _is_same(file, sets, base):
        words += [word for text in sets for word in ("--set", text)]
    else:
        words[2] = FILE
    return shlex.join(words)


def _is_same(file: str, sets: list[str], base: Base) -> bool:
    try:
        return load_simulation_config(file, sets).config_hash() == base.config.config_hash()
    except EndiveError:
        return False
