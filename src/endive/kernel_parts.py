"""How Numba is made to compile an engine of many small functions: as parts of one program, for the layouts it meets.

Functions that only compiled code calls are *parts*; those that Python calls are *whole* and optimised with their parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llvmlite.binding import Linkage
from numba import types
from numba.core import ir as numba_ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.untyped_passes import IRProcessing


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


class WholeLibrary(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """The code of a function that Python calls, with all parts it needs, optimised together."""

    def finalize(self) -> None:
        self._linking_libraries: list[Any] = list(_with_parts(self._linking_libraries))
        super().finalize()

    def _optimize_final_module(self) -> None:
        missing = [each.name for each in self._final_module.functions if each.is_declaration and "endive" in each.name]
        assert not missing, f"{missing[0]} was not linked: to call it would end the process"
        # Nobody else calls what was linked in: said so, what a caller passes and nobody reads is dropped.
        for function in self._final_module.functions:
            if function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
        super()._optimize_final_module()


def _with_parts(libraries: Iterable[Any]) -> dict[Any, None]:
    """The libraries, and those that the parts among them need, in order."""
    parts: dict[Any, None] = {}
    waiting = list(libraries)
    while waiting:
        library = waiting.pop()
        if library not in parts:
            parts[library] = None
            if isinstance(library, _PartLibrary):
                waiting.extend(library._linking_libraries)
    return parts


@register_pass(mutates_CFG=False, analysis_only=False)
class _AskLayout(FunctionPass):  # type: ignore[misc]  # Numba has no types
    """``record.is_x``, of a record laid out without it, says whether its layout has the field ``x``.

    That is known before anything is compiled, and what then cannot happen is left out.
    """

    _name = "ask_layout"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        named = dict(zip(state.func_ir.arg_names, state.args, strict=False))
        kinds: dict[str, Any] = {}
        is_changed = False
        for block in state.func_ir.blocks.values():
            for assigned in block.find_insts(numba_ir.Assign):
                value, target = assigned.value, assigned.target.name
                kinds.pop(target, None)
                if isinstance(value, numba_ir.Arg):
                    kinds[target] = named.get(value.name)
                elif isinstance(value, numba_ir.Expr) and value.op == "getattr":
                    kind = kinds.get(value.value.name)
                    if not isinstance(kind, types.Record):
                        continue
                    if value.attr in kind.fields:
                        kinds[target] = kind.typeof(value.attr)
                    elif value.attr.startswith("is_"):
                        is_there = value.attr.removeprefix("is_") in kind.fields
                        assigned.value = numba_ir.Const(int(is_there), assigned.loc)
                        state.func_ir._definitions[target] = [assigned.value]
                        is_changed = True
        return is_changed


class PartCompiler(Compiler):  # type: ignore[misc]  # Numba has no types
    """Numba's compiler, for parts."""

    def define_pipelines(self) -> list[Any]:
        (pipeline,) = super().define_pipelines()
        pipeline.add_pass_after(_AskLayout, IRProcessing)
        pipeline.finalize()
        return [pipeline]

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        super().__init__(typingctx, targetctx, library or _PartLibrary(targetctx.codegen(), "part"), *rest)


class WholeCompiler(Compiler):  # type: ignore[misc]  # Numba has no types
    """Numba's compiler, for what Python calls."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        if library is None:
            library = WholeLibrary(targetctx.codegen(), "whole")
            library.enable_object_caching()
        super().__init__(typingctx, targetctx, library, *rest)
