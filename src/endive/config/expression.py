"""Small expressions over the axes of a study: what is derived from them, which combinations are dropped.

There are numbers, texts, axes by their dotted key, ``+ - * / // %``, comparisons, ``and or not``, ``a if b else c``,
``in [..]``, and the functions in ``FUNCTIONS``. Nothing else of Python is reachable, so a study file cannot do more
than arithmetic.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
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

_ARITHMETIC: Final = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
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
            tree = ast.parse(text, mode="eval").body
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
            result = value_of(code_of(self.text), values)
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
        case ast.BinOp(left, op, right) if isinstance(op, _ARITHMETIC):
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


@lru_cache(maxsize=1024)
def code_of(text: str) -> CodeType:
    """An expression that has been checked, as code for ``value_of``."""
    return compile(ast.fix_missing_locations(_Evaluable().visit(ast.parse(text, mode="eval"))), "<expression>", "eval")


def value_of(code: CodeType, values: Mapping[str, Any]) -> Any:
    """What code of ``code_of`` computes; a name that is missing is a KeyError."""
    return eval(code, {"__builtins__": {}, "bool": bool, "number": _number, **FUNCTIONS, "values": values})


class _Evaluable(ast.NodeTransformer):
    """Makes ``catalog.type`` a lookup in ``values`` and has every operand checked to be a number."""

    def visit(self, node: ast.AST) -> Any:
        name = dotted_name(node)
        if name in CONSTANTS:
            return ast.Constant(CONSTANTS[name])
        if name is not None:
            return ast.Subscript(ast.Name("values", ast.Load()), ast.Constant(name), ast.Load())
        match node:
            case ast.BinOp(left, op, right):
                return ast.BinOp(self._number(left), op, self._number(right))
            case ast.UnaryOp(ast.USub() | ast.UAdd() as op, operand):
                return ast.UnaryOp(op, self._number(operand))
            case ast.Call(function, inner, []):
                return ast.Call(function, [self._number(item) for item in inner], [])
            case ast.BoolOp(op, inner):
                joined = ast.BoolOp(op, [self.visit(item) for item in inner])
                return ast.Call(ast.Name("bool", ast.Load()), [joined], [])
            case ast.Tuple(inner):
                return self.visit(ast.List(inner, ast.Load()))
        return self.generic_visit(node)

    def _number(self, node: ast.expr) -> ast.expr:
        written = ast.Constant(ast.unparse(node))
        return ast.Call(ast.Name("number", ast.Load()), [self.visit(node), written], [])


def _number(value: Any, written: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"'{written}' is {value!r}, not a number")
    if isinstance(value, int) and abs(value) > NUMBER_MAX:
        raise OverflowError(f"a whole number on the way is beyond {NUMBER_MAX}")
    return value
