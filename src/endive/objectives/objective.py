"""An objective: its text, and the tree of comparisons it means for one configuration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from endive.errors import ObjectiveError
from endive.objectives.fields import DURATION, NUMBER, SHARE, Field
from endive.objectives.names import Names, Subject, subjects_of
from endive.objectives.parser import parse_tree
from endive.objectives.tree import AND, Comparison, Constant, Junction, Multiple, Node, Quantity, comparisons

DEFAULT_OBJECTIVE: Final = "every source.success_rate >= 99 %"
NAMED_OBJECTIVES: Final = {
    # The experiment plan, "Statistical Methodology": saturated if success < 95 % or P95 > 2 x P50.
    "unsaturated": "success_rate >= 95 % and p95_commit <= 2 * p50_commit",
}


@dataclass(frozen=True, slots=True)
class Objective:
    """What was asked, and what it means here."""

    text: str
    tree: Node

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """Return the figures it speaks of, each once, in the order of the text."""
        subjects: dict[Subject, None] = {}
        for comparison in comparisons(self.tree):
            for side in (comparison.left, comparison.right):
                if isinstance(side, Multiple) and isinstance(side.of, Subject):
                    subjects[side.of] = None
        return tuple(subjects)


def parse_objective(text: str | None, names: Names) -> Objective:
    """Return the objective a text means in a configuration with these names; None is the default one."""
    text = DEFAULT_OBJECTIVE if text is None else " ".join(text.split())
    if not text:
        raise ObjectiveError("The objective is empty. Write, for example, 'success_rate >= 99 %'.")
    try:
        return Objective(text, _resolve(parse_tree(NAMED_OBJECTIVES.get(text, text)), names))
    except ObjectiveError as error:
        raise ObjectiveError(f"Objective '{text}': {error}") from None


def check_syntax(text: str) -> None:
    """Refuse a text that is no objective in any configuration."""
    parse_tree(NAMED_OBJECTIVES.get(" ".join(text.split()), text))


def _resolve(node: Node, names: Names) -> Node:
    if isinstance(node, Junction):
        return replace(node, parts=tuple(_resolve(part, names) for part in node.parts))
    checked = tuple(_check(Comparison(left, node.sign, right)) for left, right in _pairs(node, names))
    return checked[0] if len(checked) == 1 else Junction(AND, checked)


def _pairs(node: Comparison, names: Names) -> list[tuple[Quantity, Quantity]]:
    """Return both sides with their names looked up; ``every`` gives one pair for each source, kind or table."""
    lefts, rights = _quantities(node.left, names), _quantities(node.right, names)
    if len(lefts) > 1 and len(rights) > 1 and len(lefts) == len(rights):
        return list(zip(lefts, rights, strict=True))
    return [(left, right) for left in lefts for right in rights]


def _quantities(side: Quantity, names: Names) -> list[Quantity]:
    if isinstance(side, Constant) or isinstance(side.of, Subject):
        return [side]
    return [Multiple(side.factor, subject) for subject in subjects_of(side.of, names)]


def _check(comparison: Comparison) -> Comparison:
    """Return the comparison with its constant read in the unit of the figure, or a refusal if it has another."""
    left, right = comparison.left, comparison.right
    if isinstance(right, Constant):
        return replace(comparison, right=_in_unit(right, _field_of(left)))
    if isinstance(left, Constant):
        return replace(comparison, left=_in_unit(left, _field_of(right)))
    mine, other = _field_of(left), _field_of(right)
    if mine.unit != other.unit:
        raise ObjectiveError(f"'{comparison}' compares {_words(mine.unit)} with {_words(other.unit)}.")
    return comparison


def _field_of(side: Quantity) -> Field:
    assert isinstance(side, Multiple)
    assert isinstance(side.of, Subject)
    return side.of.field


def _in_unit(constant: Constant, field: Field) -> Constant:
    where = f"at character {constant.at}"
    if constant.unit == field.unit:
        return constant
    if constant.unit:
        raise ObjectiveError(f"'{constant}' {where} is {_words(constant.unit)}, but {field.name} {_takes(field)}.")
    if field.unit == SHARE and constant.value > 1.0:
        raise ObjectiveError(
            f"'{constant}' {where} is more than all: {field.name} is a share. Write {constant.value:g} %."
        )
    if field.unit == DURATION:
        raise ObjectiveError(
            f"'{constant}' {where} needs a unit: {field.name} is a duration. Write {constant.value:g}ms or "
            f"{constant.value:g}s."
        )
    return replace(constant, unit=field.unit)


def _takes(field: Field) -> str:
    return "is a plain number" if field.unit == NUMBER else f"is {_words(field.unit)}"


def _words(unit: str) -> str:
    return {SHARE: "a share", DURATION: "a duration", NUMBER: "a plain number"}.get(unit, "a rate per second")
