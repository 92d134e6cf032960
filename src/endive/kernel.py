"""The door to Numba: ``jitted`` compiles a function, ``rule`` lets both engines share one.

It knows nothing of what the functions compute, and never allows ``fastmath``: one expression must give the same bits
everywhere.

Compiled code is kept on disk, in a folder named after a hash of the sources it can come from
(``endive.code_cache``): Numba notices an edit of the file it caches, but not of a module which that file calls.
Several processes may share the folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableSequence, Sequence
from functools import cache
from typing import Any, ParamSpec, Protocol, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

from endive.kernel_cache import SharedCache, cache_folder, end_turn_on_failure
from endive.kernel_parts import PartCompiler, WholeCompiler
from endive.record import specs_of

# What Numba makes for callers outside compiled code, and takes a good part of its time for.
_UNWRAPPED = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

# What a rule's vector may be: a sequence in the reference engine, an array in the compiled one.
Ints = Sequence[int] | npt.NDArray[np.int64]
MutableInts = MutableSequence[int] | npt.NDArray[np.int64]
Floats = Sequence[float] | npt.NDArray[np.float64]
P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
Fields = frozenset[str]  # names of fields that a layout is without
F = TypeVar("F", bound=Callable[..., object])
T = TypeVar("T")


class Jitted(Protocol[P, R_co]):
    """A compiled function; ``py_func`` is the Python it was compiled from."""

    @property
    def py_func(self) -> Callable[P, R_co]: ...

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


def jitted(function: Callable[P, R_co]) -> Jitted[P, R_co]:
    """Compile ``function`` on its first call, and keep the result on disk where that is possible."""
    return cast("Jitted[P, R_co]", _compile(function))


def step(function: Callable[P, R_co]) -> Jitted[P, R_co]:
    """As ``jitted``, for a function that only compiled code calls: nothing is compiled for calls from Python."""
    dispatcher = numba.njit(nogil=True, pipeline_class=PartCompiler, **_UNWRAPPED)(function)
    _forget_literals(dispatcher)
    return cast("Jitted[P, R_co]", dispatcher)


def pasted(function: F) -> F:
    """For an expression with a name, which may be an array: it stands in for the call before anything is compiled."""
    return cast("F", numba.njit(nogil=True, inline="always", pipeline_class=PartCompiler)(function))


def rule(function: F) -> F:
    """Leave ``function`` plain Python for the interpreter, and make it callable from jitted code.

    A rule uses ints, floats, attributes of records and arrays it can index, so that it means the same in both worlds.
    """
    return cast("F", register_jitable(pipeline_class=PartCompiler, **_UNWRAPPED)(function))


# --- records in memory ----------------------------------------------------------------------------------------


@cache
def layout_of(cls: type[Any], without: Fields = frozenset()) -> np.dtype[np.void]:
    """How a record lies in memory, and every record in it, if the fields of these names are left out."""
    fields: list[Any] = []
    for name, spec in specs_of(cls).items():
        if name in without:
            continue
        if isinstance(spec, tuple):
            fields.append((name, spec[0], (spec[1],)))
        else:
            fields.append((name, spec if isinstance(spec, str) else layout_of(spec, without)))
    return np.dtype(fields, align=True)


def records(cls: type, *shape: int, without: Fields = frozenset()) -> npt.NDArray[np.void]:
    """An array of records as their declaration makes them."""
    made = np.zeros(shape, layout_of(cls, without))
    first = _first(cls, without)
    if first.any():
        made.view(np.uint8).reshape(made.size, made.itemsize)[:] = first  # NumPy copies records field by field
    return made


@cache
def _first(cls: type[Any], without: Fields) -> npt.NDArray[np.uint8]:
    """The bytes of a record as its declaration makes it."""
    one = np.zeros(1, layout_of(cls, without))  # type: ignore[arg-type]  # mypy takes no class for hashable
    fill(one[0], cls())
    return one.view(np.uint8)


def fill(target: Any, value: object) -> None:
    """Write a record of the reference engine into a place of an array: the fields that have one there."""
    for name, spec in specs_of(type(value)).items():
        if name not in target.dtype.names:
            continue
        part = getattr(value, name)
        if isinstance(spec, type):
            fill(target[name], part)
        else:
            target[name] = part


def value_of(cls: type[T], source: Any) -> T:
    """A record of the reference engine with what stands in a place of an array: the inverse of ``fill``."""
    values: dict[str, Any] = {}
    for name, spec in specs_of(cls).items():
        values[name] = value_of(spec, source[name]) if isinstance(spec, type) else source[name].tolist()
    return cls(**values)


def element_of(cls: type[T]) -> Callable[[int, int], T]:
    """A function for compiled code: the record with that index in the array of records at that address.

    A record so found is one pointer. Whoever makes the arrays keeps them alive.
    """
    kind = _type_of(cls, frozenset())  # type: ignore[arg-type]  # mypy takes no class for hashable

    @intrinsic  # type: ignore[untyped-decorator]
    def element(_context: Any, address: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _element(context, builder, kind, *args)

        return kind(types.int64, types.int64), generate

    return cast("Callable[[int, int], T]", element)


def held_element_of(cls: type[T], holder: Any, field: str, variants: Iterable[Fields]) -> Callable[[object, int], T]:
    """As ``element_of``, for the array whose address a record holds in ``field``, a path of names.

    Its elements are laid out as the holder is: without the same fields, one of ``variants``. The holder is a pointer
    too, from which a function can reach everything, and to pass it on costs nothing.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def element(_context: Any, held_by: Any, index: Any) -> Any:
        kind = _type_of(cls, next(each for each in variants if _type_of(holder, each) == held_by))  # type: ignore[arg-type]
        part, offset = held_by, 0
        for name in field.split("."):
            part, offset = part.typeof(name), offset + part.offset(name)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = cgutils.get_record_member(builder, args[0], offset, context.get_data_type(types.int64))
            address = context.unpack_value(builder, types.int64, place)
            return _element(context, builder, kind, address, args[1])

        return kind(held_by, types.int64), generate

    return cast("Callable[[object, int], T]", element)


def _element(context: Any, builder: Any, kind: Any, address: Any, index: Any) -> Any:
    """Code that turns an address and an index into a pointer to a record."""
    offset = builder.mul(index, context.get_constant(types.int64, kind.size))
    return builder.inttoptr(builder.add(address, offset), context.get_value_type(kind))


@cache
def _type_of(cls: type[Any], without: Fields) -> Any:
    """Numba's type of a record; kept, because code that was compiled for one goes by its identity."""
    return numba.from_dtype(layout_of(cls, without))  # type: ignore[arg-type]  # mypy takes no class for hashable


@intrinsic  # type: ignore[untyped-decorator]
def _address_of(_context: Any, record: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ptrtoint(args[0], context.get_value_type(types.int64))

    return types.int64(record), generate


address_of = cast("Callable[[object], int]", _address_of)  # for compiled code: where a record lies


@intrinsic  # type: ignore[untyped-decorator]
def _overwrite(_context: Any, target: Any, source: Any) -> Any:
    assert target == source, f"{target} is not {source}"

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cgutils.raw_memcpy(builder, args[0], args[1], context.get_constant(types.intp, target.size), 1)
        return context.get_dummy_value()

    return types.void(target, source), generate


overwrite = cast("Callable[[T, T], None]", _overwrite)  # for compiled code: copy a record into another


def _compile(function: Callable[..., object]) -> object:
    dispatcher = numba.njit(nogil=True, pipeline_class=WholeCompiler)(function)
    _forget_literals(dispatcher)
    folder = cache_folder()
    if folder is not None:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder)
        try:
            dispatcher._cache = SharedCache(function, folder)  # what ``cache=True`` does, with a cache of our own
            dispatcher._compiler.compile = end_turn_on_failure(dispatcher._compiler.compile)
        finally:
            numba.config.CACHE_DIR = before
    return dispatcher


def _forget_literals(dispatcher: Any) -> None:
    """Let a call with a constant or a narrow integer use the code for any integer.

    Numba compiles a function once more for every constant and every width of integer it is called with; a step that
    is called with each kind of object and operation would be compiled twenty times.
    """
    find = dispatcher.get_call_template

    def find_without_literals(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return find(tuple(_widen(kind) for kind in args), {name: _widen(kind) for name, kind in kws.items()})

    dispatcher.get_call_template = find_without_literals


def _widen(kind: Any) -> Any:
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind
