"""Small expressions over the axes of a study: what is derived from them, which combinations are dropped.

There are numbers, texts, axes by their dotted key, ``+ - * / // %``, comparisons, ``and or not``, ``a if b else c``,
``in [..]``, and the functions in ``FUNCTIONS``. Nothing else of Python is reachable, so a study file cannot do more
than arithmetic.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from endive.config.values import abridge, nearest
from endive.errors import ConfigError

LENGTH_MAX: Final = 1_000  # characters
DEPTH_MAX: Final = 50  # of brackets and signs around each other
NUMBER_MAX: Final = 2**63  # of whole numbers on the way to the result; no key takes a larger one
DIGITS_MAX: Final = 15  # that round() may be asked for


def _round(number: float, digits: int = 0) -> int | float:
    """As ``round``, for as many digits as a number has."""
    if not isinstance(digits, int) or not -DIGITS_MAX <= digits <= DIGITS_MAX:
        raise ValueError(f"round() takes from {-DIGITS_MAX} to {DIGITS_MAX} digits")
    return round(number, digits) if digits else round(number)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {"min": min, "max": max, "round": _round, "int": int, "abs": abs}
CONSTANTS: Final = {"true": True, "false": False}

_ARITHMETIC: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_ORDER: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_LANGUAGE: Final = (
    "Use numbers, texts in quotes, axes by their key, + - * / // %, comparisons, and/or/not, "
    f"a if b else c, in [..] and {', '.join(FUNCTIONS)}."
)


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that has been checked to be in the language; ``names`` are the axes it reads."""

    text: str
    names: tuple[str, ...]

    @classmethod
    def parse(cls, text: object, where: str) -> Expression:
        """Read an expression; ``where`` is the key that holds it."""
        if isinstance(text, bool) or not isinstance(text, (str, int, float)):
            raise ConfigError(f"{where} must be an expression in quotes.")
        text = str(text).strip()
        if len(text) > LENGTH_MAX:
            raise ConfigError(f"{where} is longer than {LENGTH_MAX} characters.")
        try:
            tree = _tree(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ConfigError(f"{where} = '{text}' is not an expression. {_LANGUAGE}") from None
        if _is_deep(tree):
            raise ConfigError(f"{where} = '{abridge(text)}' is nested more than {DEPTH_MAX} levels deep.")
        names: dict[str, None] = {}
        try:
            _check(tree, names)
        except _NotInLanguageError as error:
            raise ConfigError(f"{where} = '{text}' cannot be used: {error}. {_LANGUAGE}") from None
        return cls(text, tuple(names))

    def evaluate(self, values: Mapping[str, Any], where: str) -> Any:
        """The value for one combination; what cannot be computed is a ConfigError."""
        try:
            result = _value(_tree(self.text), values)
        except KeyError as error:
            name = error.args[0]
            guess = nearest(name, tuple(values))
            hint = f" Did you mean '{guess}'?" if guess else f" Known are: {', '.join(values) or 'none'}."
            raise ConfigError(f"{where} = '{self.text}' reads '{name}', which is no axis here.{hint}") from None
        except ZeroDivisionError:
            raise ConfigError(f"{where} = '{self.text}' divides by zero.") from None
        except (TypeError, ValueError, OverflowError) as error:
            raise ConfigError(f"{where} = '{self.text}' cannot be computed: {error}.") from None
        if isinstance(result, int) and abs(result) > NUMBER_MAX:
            raise ConfigError(f"{where} = '{self.text}' is beyond {NUMBER_MAX}.")
        if isinstance(result, float) and not math.isfinite(result):
            raise ConfigError(f"{where} = '{self.text}' is not a finite number.")
        return result


class _NotInLanguageError(Exception):
    """Something of Python that an expression may not use."""


@lru_cache(maxsize=256)
def _tree(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _is_deep(tree: ast.AST) -> bool:
    """Whether anything lies deeper than allowed; without recursion."""
    level: list[ast.AST] = [tree]
    for _ in range(DEPTH_MAX):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True


def dotted_name(node: ast.AST) -> str | None:
    """``catalog.num_tables`` as a name, or None if it is something else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted_name(node.value)
        return None if inner is None else f"{inner}.{node.attr}"
    return None


def _check(node: ast.expr, names: dict[str, None]) -> None:
    """Refuse what the language lacks, and collect the names of axes."""
    name = dotted_name(node)
    if name is not None:
        if name in FUNCTIONS:
            raise _NotInLanguageError(f"'{name}' is a function; write {name}(..)")
        if name not in CONSTANTS:
            names[name] = None
        return
    match node:
        case ast.Constant(value=bool() | int() | float() | str()):
            inner: list[ast.expr] = []
        case ast.BinOp(left, op, right) if type(op) in _ARITHMETIC:
            inner = [left, right]
        case ast.UnaryOp(ast.USub() | ast.UAdd() | ast.Not(), operand):
            inner = [operand]
        case ast.BoolOp(values=inner):
            pass
        case ast.IfExp(test, body, orelse):
            inner = [test, body, orelse]
        case ast.Compare(left, _, comparators):
            inner = [left, *comparators]
            if any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
                raise _NotInLanguageError("'is' is not known, write ==")
        case ast.List(elts=inner) | ast.Tuple(elts=inner):
            pass
        case ast.Call(ast.Name(function), inner, []) if function in FUNCTIONS:
            pass
        case _:
            raise _NotInLanguageError(f"'{ast.unparse(node)}' is not known")
    for item in inner:
        _check(item, names)


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    name = dotted_name(node)
    if name is not None:
        return CONSTANTS[name] if name in CONSTANTS else values[name]
    match node:
        case ast.Constant(value):
            return value
        case ast.BinOp(left, op, right):
            return _ARITHMETIC[type(op)](_number(left, values), _number(right, values))
        case ast.UnaryOp(ast.Not(), operand):
            return not _value(operand, values)
        case ast.UnaryOp(op, operand):
            return -_number(operand, values) if isinstance(op, ast.USub) else _number(operand, values)
        case ast.BoolOp(ast.And(), inner):
            return all(_value(item, values) for item in inner)
        case ast.BoolOp(_, inner):
            return any(_value(item, values) for item in inner)
        case ast.IfExp(test, body, orelse):
            return _value(body if _value(test, values) else orelse, values)
        case ast.Compare():
            return _comparison(node, values)
        case ast.List(inner) | ast.Tuple(inner):
            return [_value(item, values) for item in inner]
        case ast.Call(ast.Name(function), inner):
            return FUNCTIONS[function](*(_number(item, values) for item in inner))
    raise AssertionError(f"{ast.dump(node)} passed the check")


def _number(node: ast.expr, values: Mapping[str, Any]) -> int | float:
    value = _value(node, values)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"'{ast.unparse(node)}' is {value!r}, not a number")
    if isinstance(value, int) and abs(value) > NUMBER_MAX:
        raise OverflowError(f"a whole number on the way is beyond {NUMBER_MAX}")
    return value


def _comparison(node: ast.Compare, values: Mapping[str, Any]) -> bool:
    left = _value(node.left, values)
    for op, item in zip(node.ops, node.comparators, strict=True):
        right = _value(item, values)
        if isinstance(op, (ast.In, ast.NotIn)):
            holds = (left in right) == isinstance(op, ast.In)
        elif isinstance(op, (ast.Eq, ast.NotEq)):
            holds = (left == right) == isinstance(op, ast.Eq)
        else:
            holds = _ORDER[type(op)](left, right)
        if not holds:
            return False
        left = right
    return True
