"""The door to Numba: ``jitted`` compiles a function, ``rule`` lets both engines share one.

It knows nothing of what the functions compute, and never allows ``fastmath``: one expression must give the same bits
everywhere.

Compiled code is kept on disk, in a folder named after a hash of the sources it can come from
(``endive.code_cache``): Numba notices an edit of the file it caches, but not of a module which that file calls.
Several processes may share the folder.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, MutableSequence, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from llvmlite.binding import Linkage
from numba import types
from numba.core import cgutils
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import intrinsic, register_jitable

from endive.code_cache import code_folder
from endive.record import specs_of

try:
    import fcntl
except ImportError:  # not on Windows: there every process compiles for itself
    fcntl = None  # type: ignore[assignment]

LOCK_NAME = "compiling.lock"
CACHE_LINE_BYTES = 64  # of the processors we know
COMPILING_WAIT_MAX_S = 300.0  # longer than the whole engine takes on a slow machine

# What Numba makes for callers outside compiled code, and takes a good part of its time for.
_UNWRAPPED = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

# What a rule's vector may be: a sequence in the reference engine, an array in the compiled one.
Ints = Sequence[int] | npt.NDArray[np.int64]
MutableInts = MutableSequence[int] | npt.NDArray[np.int64]
Floats = Sequence[float] | npt.NDArray[np.float64]

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
F = TypeVar("F", bound=Callable[..., object])
T = TypeVar("T")


class Jitted(Protocol[P, R_co]):
    """A compiled function; ``py_func`` is the Python it was compiled from."""

    @property
    def py_func(self) -> Callable[P, R_co]: ...

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


def jitted(function: Callable[P, R_co]) -> Jitted[P, R_co]:
    """Compile ``function`` on its first call, and keep the result on disk where that is possible."""
    return cast("Jitted[P, R_co]", _compiled(function))


def step(function: Callable[P, R_co]) -> Jitted[P, R_co]:
    """As ``jitted``, for a function that only compiled code calls: nothing is compiled for calls from Python."""
    dispatcher = numba.njit(nogil=True, pipeline_class=_PartCompiler, **_UNWRAPPED)(function)
    _forget_literals(dispatcher)
    return cast("Jitted[P, R_co]", dispatcher)


def pasted(function: F) -> F:
    """For an expression with a name, which may be an array: it stands in for the call before anything is compiled."""
    return cast("F", numba.njit(nogil=True, inline="always", pipeline_class=_PartCompiler)(function))


def rule(function: F) -> F:
    """Leave ``function`` plain Python for the interpreter, and make it callable from jitted code.

    A rule uses ints, floats, attributes of records and arrays it can index, so that it means the same in both worlds.
    """
    return cast("F", register_jitable(pipeline_class=_PartCompiler, **_UNWRAPPED)(function))


# --- parts of a program -----------------------------------------------------------------------------------------


class _PartLibrary(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """The code of a function that only compiled code calls, as it was lowered.

    Numba would optimise and assemble it, with all that it calls, and do so again in each of its callers: most of the
    time an engine of many small functions takes to compile. Here that happens once, in the function Python calls.
    """

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0  # as Numba says of a symbol that is not there

    @property
    def codegen(self) -> Any:
        return _Unset(self._codegen)


class _Unset:
    """A code generator that is told of no environment: a part has no address where one could be noted down."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, env_name: str, env: object) -> None:
        """Nothing: see the class."""


class _WholeLibrary(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """The code of a function that Python calls, with all parts it needs, optimised together."""

    def finalize(self) -> None:
        self._linking_libraries: list[Any] = list(_with_parts(self._linking_libraries))
        super().finalize()

    def _optimize_final_module(self) -> None:
        # Nobody else calls what was linked in: said so, what a caller passes and nobody reads is dropped.
        for function in self._final_module.functions:
            if function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
        super()._optimize_final_module()


def _with_parts(libraries: Iterable[Any]) -> dict[Any, None]:
    """The libraries, and those that the parts among them need, in order."""
    found: dict[Any, None] = {}
    waiting = list(libraries)
    while waiting:
        library = waiting.pop()
        if library not in found:
            found[library] = None
            if isinstance(library, _PartLibrary):
                waiting.extend(library._linking_libraries)
    return found


class _PartCompiler(Compiler):  # type: ignore[misc]  # Numba has no types
    """Numba's compiler, for parts."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        super().__init__(typingctx, targetctx, library or _PartLibrary(targetctx.codegen(), "part"), *rest)


class _WholeCompiler(Compiler):  # type: ignore[misc]  # Numba has no types
    """Numba's compiler, for what Python calls."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        if library is None:
            library = _WholeLibrary(targetctx.codegen(), "whole")
            library.enable_object_caching()
        super().__init__(typingctx, targetctx, library, *rest)


# --- records in memory ----------------------------------------------------------------------------------------


@cache
def layout_of(cls: type[Any]) -> np.dtype[np.void]:
    """How a record lies in memory."""
    fields: list[Any] = []
    for name, spec in specs_of(cls).items():
        if isinstance(spec, tuple):
            fields.append((name, spec[0], (spec[1],)))
        else:
            fields.append((name, spec if isinstance(spec, str) else layout_of(spec)))
    return np.dtype(fields, align=True)


def records(cls: type, *shape: int) -> npt.NDArray[np.void]:
    """An array of records as their declaration makes them."""
    made = np.zeros(shape, layout_of(cls))
    first = _first(cls)
    if first.any():
        made.view(np.uint8).reshape(made.size, made.itemsize)[:] = first  # NumPy copies records field by field
    return made


@cache
def _first(cls: type[Any]) -> npt.NDArray[np.uint8]:
    """The bytes of a record as its declaration makes it."""
    one = np.zeros(1, layout_of(cls))  # type: ignore[arg-type]  # mypy takes no class for hashable
    fill(one[0], cls())
    return one.view(np.uint8)


def fill(target: Any, value: object) -> None:
    """Write a record of the reference engine into a place of an array."""
    for name, spec in specs_of(type(value)).items():
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

    A record so found is one pointer, and so is the record that holds the addresses: a function that takes the two
    of them can reach everything, and passing them on costs nothing. Whoever makes the arrays keeps them alive.
    """
    layout = layout_of(cls)  # type: ignore[arg-type]  # mypy takes no class for hashable
    kind, size_bytes = numba.from_dtype(layout), layout.itemsize

    @intrinsic  # type: ignore[untyped-decorator]
    def element(_context: Any, address: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            offset = builder.mul(args[1], context.get_constant(types.int64, size_bytes))
            return builder.inttoptr(builder.add(args[0], offset), context.get_value_type(kind))

        return kind(types.int64, types.int64), generate

    return cast("Callable[[int, int], T]", element)


@intrinsic  # type: ignore[untyped-decorator]
def _address_of(_context: Any, record: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ptrtoint(args[0], context.get_value_type(types.int64))

    return types.int64(record), generate


address_of = cast("Callable[[object], int]", _address_of)  # for compiled code: where a record lies


@intrinsic  # type: ignore[untyped-decorator]
def _fetch_ahead(_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        flag, pointer = ir.IntType(32), cgutils.voidptr_t
        kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        how = (flag(1), flag(3), flag(1))  # to be written, kept in every level of the cache, data
        builder.call(prefetch, (builder.inttoptr(args[0], pointer), *how))
        return context.get_dummy_value()

    return types.void(types.int64), generate


# For compiled code: what lies at that address will be needed soon, so the processor may bring its cache line near.
fetch_ahead = cast("Callable[[int], None]", _fetch_ahead)


@intrinsic  # type: ignore[untyped-decorator]
def _overwrite(_context: Any, target: Any, source: Any) -> Any:
    assert target == source, f"{target} is not {source}"

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cgutils.raw_memcpy(builder, args[0], args[1], context.get_constant(types.intp, target.size), 1)
        return context.get_dummy_value()

    return types.void(target, source), generate


overwrite = cast("Callable[[T, T], None]", _overwrite)  # for compiled code: copy a record into another


def _compiled(function: Callable[..., object]) -> object:
    dispatcher = numba.njit(nogil=True, pipeline_class=_WholeCompiler)(function)
    _forget_literals(dispatcher)
    folder = cache_folder()
    if folder is not None:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder)
        try:
            dispatcher._cache = _SharedCache(function, folder)  # what ``cache=True`` does, with a cache of our own
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
        return find(tuple(_widened(kind) for kind in args), {name: _widened(kind) for name, kind in kws.items()})

    dispatcher.get_call_template = find_without_literals


def _widened(kind: Any) -> Any:
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind


class _SharedCache(FunctionCache):  # type: ignore[misc]  # Numba has no types
    """One function's cache on disk; whatever goes wrong with the disk, the function is compiled again.

    Numba names a cache after the path and the age of a source file; here it is the place in the package and the
    content, so that every copy of one version (a clone, another environment) finds what the first has compiled.
    """

    def __init__(self, function: Callable[..., object], folder: Path) -> None:
        super().__init__(function)
        source, package = Path(function.__code__.co_filename), Path(__file__).parent
        if source.is_relative_to(package):
            self._cache_path = str(folder / f"numba-{numba.__version__}" / source.relative_to(package).with_suffix(""))
            stamp: object = hashlib.blake2b(source.read_bytes(), digest_size=8).hexdigest()
        else:
            stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _SharedFiles(
            cache_path=self._cache_path, filename_base=self._impl.filename_base, source_stamp=stamp
        )

    def load_overload(self, sig: object, target_context: object) -> object:
        found = self._load(sig, target_context)
        if found is None and _turn.begin():
            found = self._load(sig, target_context)  # whoever compiled meanwhile may have left it
            if found is not None:
                _turn.end()
        return found

    def _load(self, sig: object, target_context: object) -> object:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever damage unpickling meets
            return None

    def save_overload(self, sig: object, data: object) -> None:
        try:
            super().save_overload(sig, data)
        except OSError:
            return
        finally:
            _turn.end()


class _Turn:
    """Whose turn it is to compile: of processes that start together one does, and the others find what it left.

    Compiling one function compiles those it calls, so turns nest. The lock is the operating system's and ends with the
    process, whatever ends it. Whoever has waited too long compiles for itself.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._file: int | None = None

    def begin(self) -> bool:
        """Take the turn, or take it once more; whether another process may have compiled in between."""
        self._depth += 1
        folder = cache_folder()
        if self._depth > 1 or fcntl is None or folder is None:
            return False
        try:
            self._file = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return False
        deadline_s = time.monotonic() + COMPILING_WAIT_MAX_S
        while not _is_locked(self._file):
            if time.monotonic() > deadline_s:
                break
            time.sleep(0.05)
        return True

    def end(self) -> None:
        """Give the turn back, the last of its kind for good."""
        self._depth = max(0, self._depth - 1)
        if self._depth == 0 and self._file is not None:
            os.close(self._file)
            self._file = None


_turn = _Turn()


def _is_locked(file: int) -> bool:
    """Whether the lock on an open file is ours now."""
    assert fcntl is not None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class _SharedFiles(IndexDataCacheFile):  # type: ignore[misc]  # Numba has no types
    """Numba's files, named so that processes which write at the same time cannot mix them up.

    Numba numbers the data files of a function, and two processes may give one number to two signatures: the
    index then leads to the wrong machine code. Here the name follows from the signature, and the data is
    written before the index speaks of it. Each file is written under a temporary name and renamed, so none is
    ever seen half. A race can at worst drop an entry from the index, which costs one compilation.
    """

    def save(self, key: object, data: object) -> None:
        name = hashlib.blake2b(repr(key).encode(), digest_size=8).hexdigest()
        data_name = self._data_name_pattern.replace("{number:d}", name)
        Path(self._cache_path).mkdir(parents=True, exist_ok=True)
        self._save_data(data_name, data)
        overloads = self._load_index()
        if overloads.get(key) != data_name:
            overloads[key] = data_name
            self._save_index(overloads)

    def _load_index(self) -> dict[object, str]:
        try:
            return cast("dict[object, str]", super()._load_index())
        except Exception:  # unreadable: as good as empty, and written anew
            return {}


@lru_cache(maxsize=1)
def cache_folder() -> Path | None:
    """Where this process keeps compiled code, if anywhere; see ``endive.code_cache``."""
    return code_folder(Path(__file__).parent)
