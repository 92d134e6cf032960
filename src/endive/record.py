"""A record: named numbers, declared once as a class, for both engines.

The class itself is what the reference engine uses: slotted, every field zero unless the declaration says otherwise. The
compiled engine lays the same fields out in memory (``endive.kernel.layout_of``). A rule reads and writes attributes and
runs on either; a misspelt field fails in both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field
from operator import attrgetter
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

# Widths. Whatever fits is narrow, so that what one event touches shares few lines of the processor's cache.
Int8 = Annotated[int, "i1"]  # codes, flags
Int32 = Annotated[int, "i4"]  # counts
Int64 = Annotated[int, "i8"]  # microseconds, bytes, versions
Float = Annotated[float, "f8"]

T = TypeVar("T")
Spec = str | tuple[str, int] | type  # a width, so many of a width, or another record


class Record:
    """What every record can do: be made from values, in order or by name, missing ones zero."""

    __slots__ = ()

    def __init__(self, *values: Any, **named: Any) -> None:
        raise TypeError(f"{type(self).__name__} is not decorated as a record")


def record(cls: type[T]) -> type[T]:
    """Make a record of a class whose annotations are widths, ``Annotated[list[int], width, count]`` or records."""
    specs: dict[str, Spec] = {}
    for name, hint in get_type_hints(cls, include_extras=True).items():
        spec = _spec(hint)
        specs[name] = spec
        if cls.__dict__.get(name, MISSING) is MISSING:
            setattr(cls, name, _default(spec))
    made = dataclass(slots=True)(cls)
    made.__record_specs__ = specs  # type: ignore[attr-defined]
    made.__record_values__ = _getter(*specs)  # type: ignore[attr-defined]
    return made


def specs_of(cls: type) -> dict[str, Spec]:
    """The fields of a record in order, each with its width, its width and length, or its own record."""
    specs: dict[str, Spec] = cls.__record_specs__  # type: ignore[attr-defined]
    return specs


def names_of(cls: type) -> tuple[str, ...]:
    """The names of a record's fields, in order."""
    return tuple(specs_of(cls))


def copied(value: T) -> T:
    """A copy of a record, and of the records that are its parts."""
    values: tuple[Any, ...] = type(value).__record_values__(value)  # type: ignore[attr-defined]
    return type(value)(*(copied(part) if isinstance(part, Record) else part for part in values))


def _getter(*names: str) -> Callable[[Any], tuple[Any, ...]]:
    """What takes the values of these fields; of one field too, where ``attrgetter`` gives no tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: (getattr(value, names[0]),)


def _spec(hint: Any) -> Spec:
    if isinstance(hint, type):
        return hint
    width, *length = get_args(hint)[1:]
    return (width, length[0]) if length else width


def _default(spec: Spec) -> Any:
    if isinstance(spec, tuple):
        length = spec[1]
        return field(default_factory=lambda: [0] * length)
    if isinstance(spec, str):
        return 0.0 if spec == "f8" else 0
    return field(default_factory=spec)
