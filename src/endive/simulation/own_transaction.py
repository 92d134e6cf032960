"""Transactions of the user's own: what the engine asks of them, and what it rejects."""

import inspect
from typing import Any

from endive.errors import EngineError
from endive.transaction import Transaction
from endive.transaction.conflict_cost import is_ours
from endive.transaction.transaction import HOOKS
from endive.vocabulary import KINDS

ENGINE_ARGUMENTS = 5  # of a transaction, as an engine makes one


def engine_class(kind: str, own: type[Any]) -> type[Transaction]:
    """Return the class that an engine makes transactions of: the user's, or one with the methods it overrides.

    A class whose constructor is the refactoring specification's lends its hooks to the engine's; anything else that it
    overrides would be ignored, so it is rejected.
    """
    if kind not in KINDS:
        raise EngineError(f"transaction_types: '{kind}' is no kind of operation. Choose from: {', '.join(KINDS)}.")
    if not (isinstance(own, type) and issubclass(own, Transaction)):
        raise EngineError(f"transaction_types: {own!r} is not a subclass of endive.transaction.Transaction.")
    overridden = {name for base in own.__mro__ if not is_ours(base) for name in vars(base) if not name.startswith("__")}
    if "_commit_loop" in overridden or _takes_parts(own, overridden):
        raise EngineError(
            f"{own.__name__} overrides the commit loop itself, which an engine does not hand over. Override "
            f"{', '.join(HOOKS)}, or plan_attempt(world, situation)."
        )
    if own.__init__ is Transaction.__init__ or _is_engines(own):
        return own
    ignored = overridden & (set(dir(Transaction)) - set(HOOKS))
    if ignored:
        raise EngineError(f"{own.__name__} overrides {', '.join(sorted(ignored))}, which no engine asks.")
    hooks = {name: getattr(own, name) for name in HOOKS if name in overridden}
    return type(own.__name__, (Transaction,), {**hooks, "__module__": own.__module__})


def _takes_parts(own: type[Transaction], overridden: set[str]) -> bool:
    return "execute" in overridden and len(inspect.signature(own.execute).parameters) > 2


def _is_engines(own: type[Transaction]) -> bool:
    """Return whether a constructor is that of an engine's transaction, and not the specification's."""
    names = list(inspect.signature(own).parameters)
    return names[:ENGINE_ARGUMENTS] == ["txn_id", "submit_us", "client", "draft", "terms"] or "args" in names
