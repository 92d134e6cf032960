"""A claim, the runs that decide it, and what they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

HOLDS: Final = "holds"
FAILS: Final = "does not hold"
IN_PART: Final = "holds in part"


class Repeatable(Protocol):
    """A run that a command repeats."""

    @property
    def command(self) -> str:
        """The command."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the runs say: whether it holds, in words, and the runs."""

    verdict: str
    what: str
    runs: tuple[Repeatable, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, and the verdict that the page explains; the runs must agree with it."""

    name: str
    document: str
    text: str
    verdict: str
    decide: Callable[[], Ruling]
    is_long: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim after its runs."""

    claim: Claim
    verdict: str
    what: str
    commands: tuple[str, ...]


def judge(claim: Claim) -> Finding:
    """Run what decides a claim."""
    ruling = claim.decide()
    commands = tuple(dict.fromkeys(run.command for run in ruling.runs))
    return Finding(claim=claim, verdict=ruling.verdict, what=ruling.what, commands=commands)
