"""What a verification suite answers: checks that are right or wrong, tables, figures.

How they are shown is ``endive.cli.verify``'s and ``endive.verification.pages``'; which suites there are is in
``endive.verification.suites``, which also writes the names of suite and part and the command into the outcome.

    def run(options: Options) -> Outcome:
        if not java:
            raise UnavailableError("no Java 17 on PATH. Install one, or set JAVA_HOME.")
        checks = [Check.exact("requests", {"operation": "fast_append"}, expected=3, actual=3, unit="requests")]
        return Outcome(checks=tuple(checks))
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from endive import __version__
from endive.errors import EndiveError
from endive.results.provenance import MODEL_VERSION

Value: TypeAlias = float | int | str | bool | None
RELATIVE: Final = "relative"
POINTS: Final = "points"
EXACT: Final = "exact"
UNJUDGED: Final = "unjudged"  # there is nothing to compare with

RIGHT: Final = "right"
WRONG: Final = "wrong"
SHOWN: Final = "shown"
UNCLEAR: Final = "unclear"
VERDICTS: Final = (RIGHT, WRONG, UNCLEAR, SHOWN)


class UnavailableError(EndiveError):
    """What the model is held against cannot be run here: which part, where it was looked for, what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the user asked of a suite; a suite reads what concerns it."""

    is_quick: bool = False  # a subset that takes seconds; what continuous integration runs
    is_live: bool = False  # run the real thing now instead of reading what was recorded from it
    iceberg_jars: Path | None = None  # a folder with Iceberg's jars, instead of Maven's cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One number held against another.

    ``error`` is a share (0.05 = 5 %) where ``measure`` is relative, percentage points where it is points, and None
    where the two have to be equal. ``allowed`` is its largest permitted size; None shows the pair and judges nothing.
    ``doubt`` is the sampling error of both sides together, two standard errors in the measure of ``error``: an error
    that exceeds what is allowed by no more than that is neither right nor wrong but unclear.
    """

    name: str  # what is compared: "commits per second"
    what: Mapping[str, Value]  # the cell: {"store": "s3", "clients": 4}
    expected: Value
    actual: Value
    unit: str = ""
    measure: str = EXACT
    error: float | None = None
    allowed: float | None = None
    doubt: float = 0.0
    holds: bool = True
    note: str = ""

    @property
    def verdict(self) -> str:
        """Right, wrong, unclear, or shown without a judgement."""
        if not self.holds:
            return WRONG
        if self.allowed is None and self.measure != EXACT:
            return SHOWN
        return UNCLEAR if self.doubt and abs(self.error or 0.0) > (self.allowed or 0.0) else RIGHT

    @classmethod
    def relative(
        cls, name: str, what: Mapping[str, Value], *, expected: float, actual: float, allowed: float | None, **more: Any
    ) -> Check:
        """Held to a share of the expected value; ``doubt`` is a share too."""
        error = 0.0 if actual == expected else (actual / expected - 1.0 if expected else math.inf)
        pair: dict[str, Any] = {"expected": expected, "actual": actual, "measure": RELATIVE}
        return cls(name=name, what=what, **pair, **_judge(error, allowed, **more))

    @classmethod
    def points(
        cls, name: str, what: Mapping[str, Value], *, expected: float, actual: float, allowed: float | None, **more: Any
    ) -> Check:
        """Two percentages, held to a number of points."""
        pair: dict[str, Any] = {"expected": expected, "actual": actual, "measure": POINTS}
        return cls(name=name, what=what, **pair, **_judge(actual - expected, allowed, **{"unit": "%", **more}))

    @classmethod
    def exact(cls, name: str, what: Mapping[str, Value], *, expected: Value, actual: Value, **more: Any) -> Check:
        """Equal, or wrong."""
        return cls(name=name, what=what, expected=expected, actual=actual, holds=bool(expected == actual), **more)


def _judge(error: float, allowed: float | None, doubt: float = 0.0, **more: Any) -> dict[str, Any]:
    """An error, and whether it is allowed; a NaN is not."""
    holds = allowed is None or bool(abs(error) <= allowed + doubt)
    return {"error": error, "allowed": allowed, "doubt": doubt, "holds": holds, **more}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows to read, beside the checks."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    note: str = ""
    is_filed: bool = False  # figures for whoever looks closer: in a file, however few they are


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point of a figure: a measured value with the band around it, and what the model says."""

    panel: str
    x: float
    expected: float
    actual: float
    low: float | None = None  # the band in which the model is right; None draws no band
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Expected against actual along an axis, a panel each; ``endive.report.agreement`` draws it."""

    name: str  # of the file, without its ending
    title: str
    x_title: str
    y_title: str
    points: tuple[Point, ...]
    expected_label: str = "measured"
    actual_label: str = "simulated"
    is_x_log: bool = False
    is_y_log: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one suite, or one part of it, found."""

    suite: str = ""
    part: str = ""  # which half of a suite, where it has several: "java", "pyiceberg"
    intro: str = ""  # Markdown at the head of the page: what is compared, how, and what is not covered
    checks: tuple[Check, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    remarks: str = ""  # Markdown at the end of the page
    skipped: str | None = None  # why it did not run and what to do about it
    command: str = ""  # what makes it again
    provenance: Mapping[str, Value] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether nothing that ran is wrong."""
        return all(check.holds for check in self.checks)

    def count(self, verdict: str) -> int:
        """How many checks have this verdict."""
        return sum(check.verdict == verdict for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        document = asdict(self)
        for check, plain in zip(self.checks, document["checks"], strict=True):
            plain["verdict"] = check.verdict
        return {**document, "holds": self.holds, **{name: self.count(name) for name in VERDICTS}}


def skipped(suite: str, reason: str, *, part: str = "", command: str = "") -> Outcome:
    """A suite that could not run: which, where, and what to do."""
    return Outcome(suite=suite, part=part, skipped=reason, command=command)


def provenance(**more: Value) -> dict[str, Value]:
    """Which model was held against it, and whatever the suite adds: versions of the real thing, a date of recording."""
    return {"endive": __version__, "model_version": MODEL_VERSION, **more}
