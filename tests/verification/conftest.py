"""A suite made by hand, in place of the real ones."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType

import pytest

from endive.verification import Check, Figure, Options, Outcome, Point, Table, suites


@pytest.fixture
def make_suite(monkeypatch: pytest.MonkeyPatch):
    """``make_suite(outcome, ...)``: 'theory' is these outcomes, one part each, and there is no other suite."""

    def make(*outcomes: Outcome) -> list[Options]:
        asked: list[Options] = []
        parts = []
        for number, outcome in enumerate(outcomes):
            module = ModuleType(f"made_up_{number}")
            unnamed = replace(outcome, suite="", part="")  # its names are the list's
            module.run = lambda options, outcome=unnamed: asked.append(options) or outcome  # type: ignore[attr-defined]
            monkeypatch.setitem(sys.modules, module.__name__, module)
            parts.append(suites.Part(module=module.__name__, name=outcome.part))
        suite = suites.Suite(name="theory", title="Made up", parts=tuple(parts))
        monkeypatch.setattr(suites, "THEORY", suite)
        monkeypatch.setattr(suites, "checkout", lambda: None)
        return asked

    return make


@pytest.fixture
def outcome():
    """One right, one wrong and one shown check, a table and a figure."""

    def make(wrong: float = 30.0, **changes) -> Outcome:
        points = tuple(
            Point(panel="s3 cas", x=x, expected=10.0, actual=10.0 + x, low=9.0, high=11.0) for x in (1.0, 2.0)
        )
        return Outcome(
            **{
                "suite": "theory",
                "intro": "What it is.",
                "checks": (
                    Check.relative("rate", {"store": "s3"}, expected=20.0, actual=20.5, allowed=0.05, unit="per s"),
                    Check.relative("rate", {"store": "gcp"}, expected=20.0, actual=wrong, allowed=0.05, unit="per s"),
                    Check.points("share", {"store": "s3"}, expected=50.0, actual=52.0, allowed=None),
                ),
                "tables": (Table(title="Rows", headings=("a", "b"), rows=(("x|y", 1.5),), note="A note."),),
                "figures": (
                    Figure(name="theory-rate", title="Rates", x_title="clients", y_title="per s", points=points),
                ),
                "remarks": "## Not covered",
                "command": "endive verify theory",
                "provenance": {"model_version": 2},
                **changes,
            }
        )

    return make
