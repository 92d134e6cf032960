"""Vectors: numbers at an address, which compiled code reads and writes by index.

Whoever made the memory keeps it alive.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model


class _Vector(types.Type):  # type: ignore[misc]  # Numba has no types
    """Numbers at an address, for compiled code: as an array to read and write by index, and nothing else.

    Numba's arrays are seven words, and an index into one may count from its end: here it never does.
    """

    def __init__(self, scalar: Any) -> None:
        self.scalar = scalar
        super().__init__(name=f"Vector({scalar})")


@register_model(_Vector)
class _VectorModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("data", types.CPointer(kind.scalar)), ("count", types.int64)])


def _vector_of(scalar: Any) -> Any:
    kind = _Vector(scalar)

    @intrinsic  # type: ignore[untyped-decorator]
    def vector(_context: Any, address: Any, count: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            made = cgutils.create_struct_proxy(kind)(context, builder)
            made.data = builder.inttoptr(args[0], context.get_data_type(scalar).as_pointer())
            made.count = args[1]
            return made._getvalue()

        return kind(types.int64, types.int64), generate

    return vector


@infer_global(operator.getitem)
class _ReadVector(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        vector, index = args
        if isinstance(vector, _Vector) and isinstance(index, types.Integer):
            return signature(vector.scalar, vector, types.int64)
        return None


@infer_global(operator.setitem)
class _WriteVector(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        vector, index, _ = args
        if isinstance(vector, _Vector) and isinstance(index, types.Integer):
            return signature(types.void, vector, types.int64, vector.scalar)
        return None


def _place(context: Any, builder: Any, kind: Any, value: Any, index: Any) -> Any:
    vector = cgutils.create_struct_proxy(kind)(context, builder, value=value)
    if numba.config.BOUNDSCHECK:
        is_outside = builder.icmp_unsigned(">=", index, vector.count)  # a negative one is a large one
        with builder.if_then(is_outside, likely=False):
            context.call_conv.return_user_exc(builder, IndexError, (f"outside of a {kind}",))
    return builder.gep(vector.data, [index])


@lower_builtin(operator.getitem, _Vector, types.Integer)  # type: ignore[untyped-decorator]
def _read_vector(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind = signature.args[0]
    return context.unpack_value(builder, kind.scalar, _place(context, builder, kind, *args))


@lower_builtin(operator.setitem, _Vector, types.Integer, types.Any)  # type: ignore[untyped-decorator]
def _write_vector(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind = signature.args[0]
    context.pack_value(builder, kind.scalar, args[2], _place(context, builder, kind, *args[:2]))
    return context.get_dummy_value()


# For compiled code: the numbers at that address, so many of them.
ints_at: Callable[[int, int], npt.NDArray[np.int64]] = _vector_of(types.int64)
int32s_at: Callable[[int, int], npt.NDArray[np.int32]] = _vector_of(types.int32)
bytes_at: Callable[[int, int], npt.NDArray[np.uint8]] = _vector_of(types.uint8)
floats_at: Callable[[int, int], npt.NDArray[np.float64]] = _vector_of(types.float64)
