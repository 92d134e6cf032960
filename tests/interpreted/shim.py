"""What stands in for Numba: records as ctypes structures in the same memory, functions as they are written.

``install`` replaces the decorators of ``endive.kernel`` before anything of the compiled engine is imported, so it needs
a process of its own (``python -m tests.interpreted.run``). Only what belongs to the compiled engine is interpreted;
draws stay compiled, because both engines call them. Every index is checked, a misspelt field raises, a debugger and
coverage see every line.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

WIDTHS: dict[str, Any] = {
    "i1": ctypes.c_int8,
    "i4": ctypes.c_int32,
    "i8": ctypes.c_int64,
    "f8": ctypes.c_double,
    "u1": ctypes.c_uint8,
}
INTERPRETED = ("endive.simulation.compiled", "endive.results.columns")


class Structure(ctypes.Structure):
    """A record in memory; what is not among its fields cannot be set."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.field_names:
            raise AttributeError(f"{type(self).__name__} has no field '{name}'")
        super().__setattr__(name, value)


class Vector(np.ndarray):
    """Numbers at an address, of which no index may be negative or beyond the end."""

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return super().__getitem__(index)
        return super().__getitem__(_inside(index, len(self))).item()

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(_inside(index, len(self)), value)


def _inside(index: Any, count: int) -> int:
    if not 0 <= index < count:
        raise IndexError(f"{index} is not among {count} numbers")
    return int(index)


@functools.cache
def structure_of(cls: type, without: frozenset[str] = frozenset()) -> type[Structure]:
    """The structure that lies in memory as ``kernel.layout_of`` says; what is left out reads as 0."""
    from endive.kernel import layout_of
    from endive.record import specs_of

    specs = {name: spec for name, spec in specs_of(cls).items() if name not in without}
    fields: list[tuple[str, Any]] = []
    for name, spec in specs.items():
        if isinstance(spec, tuple):
            fields.append((name, WIDTHS[spec[0]] * spec[1]))
        else:
            fields.append((name, WIDTHS[spec] if isinstance(spec, str) else structure_of(spec, without)))
    absent = {name: 0 for name in without if name in specs_of(cls)}
    body = {"_fields_": fields, "field_names": frozenset(specs), "without": without, **absent}
    made: type[Structure] = type(cls.__name__, (Structure,), body)
    assert ctypes.sizeof(made) == layout_of(cls, without).itemsize, cls
    return made


def element_of(cls: type) -> Callable[[int, int], Structure]:
    """As ``kernel.element_of``."""
    return lambda address, index: _at(structure_of(cls), address, index)


def held_element_of(cls: type, holder: Any, field: str, variants: Any) -> Callable[[Any, int], Structure]:
    """As ``kernel.held_element_of``."""
    path = field.split(".")

    def element(held: Any, index: int) -> Structure:
        return _at(structure_of(cls, held.without), functools.reduce(getattr, path, held), index)

    return element


def _at(kind: type[Structure], address: int, index: int) -> Structure:
    assert address != 0
    assert index >= 0
    return kind.from_address(address + index * ctypes.sizeof(kind))


def overwrite(target: Structure, source: Structure) -> None:
    """As ``kernel.overwrite``."""
    assert type(target) is type(source), (type(target), type(source))
    ctypes.memmove(ctypes.addressof(target), ctypes.addressof(source), ctypes.sizeof(target))


def vector_of(kind: Any) -> Callable[[int, int], Vector]:
    """As the vectors of ``endive.vectors``."""

    def vector(address: int, count: int) -> Vector:
        if count <= 0:
            return np.zeros(0, kind).view(Vector)
        size = count * np.dtype(kind).itemsize
        return np.frombuffer((ctypes.c_uint8 * size).from_address(address), kind).view(Vector)

    return vector


def leave_plain(function: Callable[..., Any]) -> Any:
    """The function itself; called from Python with an element of an array, it gets the record there."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return function(*(_structure_at(each) if isinstance(each, np.void) else each for each in args))

    call.__dict__["py_func"] = function
    return call


def _structure_at(element: np.void) -> Structure:
    from endive.formats.nesting import EVERYTHING, ICEBERG_ALONE
    from endive.kernel import layout_of
    from endive.results.columns import Batch
    from endive.simulation.compiled.records import WorldRecord

    for cls in (WorldRecord, Batch):
        for without in (ICEBERG_ALONE, EVERYTHING):
            if element.dtype == layout_of(cls, without):
                return structure_of(cls, without).from_address(np.frombuffer(element.data, np.uint8).ctypes.data)
    raise TypeError(element.dtype)


def install() -> None:
    """Let the compiled engine be interpreted in this process."""
    assert "endive.simulation" not in sys.modules, "it was decorated before"
    from endive import kernel, vectors

    def instead_of(decorate: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def choose(function: Callable[..., Any]) -> Any:
            module = function.__module__ or INTERPRETED[0]  # the dispatchers of handlers are written as text there
            return leave_plain(function) if module.startswith(INTERPRETED) else decorate(function)

        return choose

    for name in ("jitted", "step", "pasted"):
        setattr(kernel, name, instead_of(getattr(kernel, name)))
    stand_ins: dict[str, Any] = {"element_of": element_of, "held_element_of": held_element_of}
    stand_ins |= {"address_of": ctypes.addressof, "overwrite": overwrite}
    for name, stand_in in stand_ins.items():
        setattr(kernel, name, stand_in)
    vectors.ints_at, vectors.int32s_at = vector_of(np.int64), vector_of(np.int32)
    vectors.floats_at, vectors.bytes_at = vector_of(np.float64), vector_of(np.uint8)
