"""Mistakes that nobody chose: lines and operators drawn at random from a seed, in every package of src.

The listed mistakes of ``tools.mutations`` are those their authors thought of. These are small changes of the syntax
tree (a comparison, an operator, a constant, a condition, min for max) at places that a seed draws, evenly over the
packages. The tests of the package are run; a mistake that survives is either without effect or a test that is missing.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tools.mutations import Mutation

SOURCE: Final = Path("src/endive")
COMPARISONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
OPERATORS: Final[dict[type[ast.operator], str]] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
SWAPPED: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Change(NamedTuple):
    """One change of a line: where, and what the line is afterwards."""

    line: int  # from 1
    after: str
    what: str


def changes_of(text: str) -> Iterator[Change]:
    """Yield every change of a module that keeps it valid Python, one line each."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        for start, end, new in _replacements(node, lines):
            if start[0] != end[0]:
                continue
            line = lines[start[0] - 1]
            old = line.encode()[start[1] : end[1]].decode()
            after = (line.encode()[: start[1]] + new.encode() + line.encode()[end[1] :]).decode()
            if after != line and _is_valid(lines, start[0], after):
                yield Change(start[0], after, f"{old.strip()} -> {new.strip()}")


def _replacements(node: ast.AST, lines: list[str]) -> Iterator[tuple[tuple[int, int], tuple[int, int], str]]:
    """Yield what of a node may be replaced: from, to, and by what."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield _after(node.left), _before(node.comparators[0]), f" {COMPARISONS[type(node.ops[0])]} "
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and not _is_text(node):
        yield _after(node.left), _before(node.right), f" {OPERATORS[type(node.op)]} "
    elif isinstance(node, ast.BoolOp) and len(node.values) == 2:
        word = "or" if isinstance(node.op, ast.And) else "and"
        yield _after(node.values[0]), _before(node.values[1]), f" {word} "
    elif isinstance(node, ast.Constant) and type(node.value) is int and not isinstance(node.value, bool):
        yield _before(node), _after(node), str(node.value + 1)
    elif isinstance(node, ast.Name) and node.id in SWAPPED:
        yield _before(node), _after(node), SWAPPED[node.id]


def _before(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _after(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), str) for side in sides)


def _is_valid(lines: list[str], number: int, after: str) -> bool:
    try:
        ast.parse("\n".join([*lines[: number - 1], after, *lines[number:]]))
    except SyntaxError:
        return False
    return True


def draw_mutations(root: Path, seed: int, count: int) -> list[Mutation]:
    """Return so many mistakes, as many in each package as in any other, each with the tests of its package."""
    chance = random.Random(seed)
    packages = sorted(path for path in (root / SOURCE).iterdir() if (root / "tests" / path.name).is_dir())
    drawn: list[Mutation] = []
    while len(drawn) < count:
        package = packages[len(drawn) % len(packages)]
        path = chance.choice(sorted(package.rglob("*.py")))
        text = path.read_text(encoding="utf-8")
        changes = list(changes_of(text))
        if not changes:
            continue
        change = chance.choice(changes)
        lines = text.splitlines()
        before = lines[change.line - 1]
        if text.count(f"\n{before}\n") != 1:
            continue
        name = f"{path.relative_to(root / SOURCE)}:{change.line} {change.what}"
        tests = f"tests/{package.name}"
        file = str(path.relative_to(root))
        drawn.append(Mutation(name, file, f"\n{before}\n", f"\n{change.after}\n", tests))
    return drawn
