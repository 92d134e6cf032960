"""The suites by name, and running one so that what it lacks stops nobody else.

Each suite is a module of its own, imported when it is asked for. Most are held against recordings, which lie in the
folder ``verification`` of a checkout and are not installed with the package.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import endive
from endive.config.reading.former_names import SUITES as FORMER_SUITES
from endive.config.reading.former_names import present
from endive.errors import ConfigError
from endive.verification.suite import Options, Outcome, skipped


@dataclass(frozen=True, slots=True)
class Part:
    """A module with ``run(options) -> Outcome``."""

    module: str
    name: str = ""  # where a suite has several
    needs: str = ""  # how to get what its imports need


@dataclass(frozen=True, slots=True)
class Suite:
    """One question put to the model, answered by one module or several."""

    name: str
    title: str
    parts: tuple[Part, ...]

    @property
    def needs_checkout(self) -> bool:
        """Whether it is no part of the package."""
        return any(part.module.startswith(f"{RECORDED}.") for part in self.parts)


RECORDED: Final = "verification.suites"
_JAVA: Final = "Install the extra: pip install 'endive[spark]'."
_PYICEBERG: Final = "Install PyIceberg: pip install 'endive[verify]'."
_ALL: Final = (
    Suite(
        "theory",
        "Closed forms: ceilings, queues, probabilities, the commit cycle of every provider",
        (Part("endive.verification.theory"),),
    ),
    Suite(
        "stores",
        "Conditional writes: closed-loop curves measured on five object stores",
        (Part("verification.suites.stores"),),
    ),
    Suite(
        "requests",
        "Requests by object and attempt, against real Iceberg",
        (
            Part("verification.suites.java.java_requests", "java", _JAVA),
            Part("verification.suites.java.java_pairs", "java pairs", _JAVA),
            Part("verification.suites.java.held_out", "java held out", _JAVA),
            Part("verification.suites.java.spark_sql", "spark sql"),
            Part("verification.suites.java.spark_looks", "spark looks"),
            Part("verification.suites.load.delete_loops", "delete loops"),
            Part("verification.suites.pyiceberg.pyiceberg_requests", "pyiceberg", _PYICEBERG),
        ),
    ),
    Suite(
        "load",
        "Throughput and latency under load, against real Iceberg",
        (
            Part("verification.suites.load.java_load", "java", _JAVA),
            Part("verification.suites.load.java_loops", "java loops", _JAVA),
            Part("verification.suites.pyiceberg.pyiceberg_load", "pyiceberg", _PYICEBERG),
        ),
    ),
    Suite(
        "delta",
        "Requests, verdicts and throughput, against real Delta Lake: delta-rs and Delta Spark",
        (
            Part("verification.suites.delta.rs_requests", "delta-rs requests"),
            Part("verification.suites.delta.rs_held_out", "delta-rs held out"),
            Part("verification.suites.delta.rs_thrown", "delta-rs thrown"),
            Part("verification.suites.delta.spark_requests", "delta spark requests"),
            Part("verification.suites.delta.rs_pairs", "delta-rs verdicts"),
            Part("verification.suites.delta.spark_pairs", "delta spark verdicts"),
            Part("verification.suites.delta.rs_loops", "delta-rs load"),
            Part("verification.suites.delta.spark_loops", "delta spark load"),
        ),
    ),
    Suite(
        "replay",
        "A history of real writers, observed, measured and replayed",
        (
            Part("verification.suites.java.java_replay", "java", _JAVA),
            Part("verification.suites.java.lakehouse", "lakehouse"),
            Part("verification.suites.planted_causes", "causes"),
        ),
    ),
    Suite(
        "isolation",
        "Every committed version built on the one before it; planted bugs are caught",
        (Part("verification.suites.isolation"),),
    ),
    Suite(
        "claims",
        "The documents the model was described in: which of their claims hold",
        (Part("verification.suites.claims"),),
    ),
)
SUITES: Final[dict[str, Suite]] = {suite.name: suite for suite in _ALL}


def checkout() -> Path | None:
    """The folder of the checkout this package is run from, if it is."""
    folder = Path(endive.__file__).parents[2]
    return folder if folder.joinpath(*RECORDED.split(".")).is_dir() else None


def suites_here() -> list[Suite]:
    """Those that can be run: all in a checkout, those of the package elsewhere."""
    return [suite for suite in SUITES.values() if not suite.needs_checkout or checkout() is not None]


def find_suite(name: str) -> Suite:
    """The suite, or what there is instead."""
    name = present(f"suite '{name}'", name, FORMER_SUITES)
    if name not in SUITES:
        raise ConfigError(f"no suite is called {name!r}. Choose one of: {', '.join(SUITES)}; or none, to run all.")
    if SUITES[name].needs_checkout and checkout() is None:
        here = ", ".join(suite.name for suite in suites_here())
        raise ConfigError(
            f"suite {name!r} is held against recordings that only a checkout of Endive has. Clone the repository and "
            f"run 'endive verify {name}' there. Here there is: {here}, dataset."
        )
    return SUITES[name]


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
    if suite.needs_checkout and str(checkout()) not in sys.path:
        sys.path.insert(0, str(checkout()))
    try:
        module = importlib.import_module(part.module)
    except ImportError as error:
        reason = f"{part.module} cannot be imported: {error}. {part.needs}".rstrip()
        return skipped(suite.name, reason, part=part.name, command=command)
    outcome = module.run(options)
    assert isinstance(outcome, Outcome), part.module
    assert (outcome.suite, outcome.part) == (suite.name, part.name), part.module
    return outcome
