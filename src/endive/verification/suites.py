"""The suites by name, and running one so that what it lacks stops nobody else.

Each suite is a module of its own, imported when it is asked for. All but one are held against recordings, which are in
the folder ``verification`` of a checkout and not installed with the package; that folder says what they consist of.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import endive
from endive.errors import ConfigError
from endive.verification.suite import Options, Outcome, UnavailableError, skipped


@dataclass(frozen=True, slots=True)
class Part:
    """A module, and its function ``run(options) -> Outcome``."""

    module: str
    name: str = ""  # where a suite has several
    needs: str = ""  # how to get what its imports need
    is_played: bool = False  # whether ``--live`` plays it anew
    run: str = "run"  # the function's name


@dataclass(frozen=True, slots=True)
class Suite:
    """One question put to the model, answered by one module or several."""

    name: str
    title: str
    parts: tuple[Part, ...]


RECORDED: Final = "verification.suites"
NAMES: Final[tuple[str, ...]] = ("theory", "stores", "requests", "load", "delta", "replay", "isolation", "claims")
THEORY: Final = Suite(
    "theory",
    "Closed forms: ceilings, queues, probabilities, the commit cycle of every provider",
    (Part("endive.verification.theory"),),
)


def checkout() -> Path | None:
    """The folder of the checkout this package is run from, if it is."""
    folder = Path(endive.__file__).parents[2]
    return folder if folder.joinpath(*RECORDED.split(".")).is_dir() else None


def suites_here() -> list[Suite]:
    """Those that can be run: all in a checkout, the package's own elsewhere."""
    folder = checkout()
    if folder is None:
        return [THEORY]
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    recorded: tuple[Suite, ...] = importlib.import_module(RECORDED).SUITES
    return [THEORY, *recorded]


def find_suite(name: str) -> Suite:
    """The suite, or what there is instead."""
    if name not in NAMES:
        raise ConfigError(f"no suite is called {name!r}. Choose one of: {', '.join(NAMES)}; or none, to run all.")
    here = {suite.name: suite for suite in suites_here()}
    if name not in here:
        raise ConfigError(
            f"suite {name!r} is held against recordings that only a checkout of Endive has. Clone the repository and "
            f"run 'endive verify {name}' there. Here there is: {', '.join(here)}, dataset."
        )
    return here[name]


def run_suite(
    suite: Suite, options: Options, *, tell: Callable[[str], None] = lambda step: None
) -> tuple[Outcome, ...]:
    """The outcome of every part; a part whose libraries are missing is skipped with the reason."""
    outcomes = []
    for part in suite.parts:
        tell(f"{suite.name} {part.name}".strip())
        outcomes.append(_run_part(suite, part, options))
    return tuple(outcomes)


def _run_part(suite: Suite, part: Part, options: Options) -> Outcome:
    command = f"endive verify {suite.name}"
    try:
        module = importlib.import_module(part.module)
    except ImportError as error:
        reason = f"{part.module} cannot be imported: {error}. {part.needs}".rstrip()
        return skipped(suite.name, reason, part=part.name, command=command)
    command += " --live" if options.is_live and part.is_played else ""
    try:
        outcome: Outcome = getattr(module, part.run)(options)
    except UnavailableError as error:
        return skipped(suite.name, str(error), part=part.name, command=command)
    return replace(outcome, suite=suite.name, part=part.name, command=command)
