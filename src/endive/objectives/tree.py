"""The tree of an objective: comparisons of quantities, joined by and, or."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from endive.objectives.duration import duration_text
from endive.objectives.fields import DURATION, SHARE
from endive.objectives.names import Name, Subject

AND: Final = "and"
OR: Final = "or"


@dataclass(frozen=True, slots=True)
class Constant:
    """A figure as written: in its unit if it had one."""

    value: float
    unit: str  # of endive.objectives.fields; empty for a bare number
    at: int

    def __str__(self) -> str:
        if self.unit == SHARE:
            return f"{100 * self.value:g} %"
        return duration_text(self.value) if self.unit == DURATION else f"{self.value:g}"


@dataclass(frozen=True, slots=True)
class Multiple:
    """A factor times a named figure; the factor is nearly always 1."""

    factor: float
    of: Name | Subject

    def __str__(self) -> str:
        return f"{self.of}" if self.factor == 1.0 else f"{self.factor:g} * {self.of}"


Quantity = Constant | Multiple


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left`` is compared with ``right`` by <=, >=, < or >."""

    left: Quantity
    sign: str
    right: Quantity

    def __str__(self) -> str:
        return f"{self.left} {self.sign} {self.right}"


@dataclass(frozen=True, slots=True)
class Junction:
    """Several conditions, all of which (and) or one of which (or) must hold."""

    word: str
    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return f" {self.word} ".join(f"({p})" if isinstance(p, Junction) else str(p) for p in self.parts)


Node = Comparison | Junction


def comparisons(node: Node) -> tuple[Comparison, ...]:
    if isinstance(node, Comparison):
        return (node,)
    return tuple(found for part in node.parts for found in comparisons(part))
