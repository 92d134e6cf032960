"""Which keys have an effect: each key declares the switches it depends on, and this module asks them.

A key whose switch is off is accepted. It is left out of the resolved file, and the user reads one note for each switch.
Combinations that cannot be simulated are errors: ``endive.config.checks``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from endive.config.keys import SECTIONS, SOURCE, Sections, key_of, tables_of
from endive.config.problems import Path, Spelt, join_path, show, value_at
from endive.config.sections.arrivals import Trace
from endive.config.sections.source import SourceKeys
from endive.config.values import OFF, ON, Clause, Table
from endive.vocabulary import KINDS_OF

if TYPE_CHECKING:
    from endive.config.sections.source import SourceConfig
    from endive.config.simulation_config import SimulationConfig

KINDS_KEY: Final = "operation_types"
OBJECT_PARTS: Final = 3  # of storage.objects.<object>
# The append design prints these figures next to table_metadata_inlined = true.
PRINTED_UNUSED: Final = ("storage", "T_TABLE_METADATA")


@dataclass(frozen=True, slots=True)
class Declared:
    """A key by its dotted name, and the clauses that must be met for it to have an effect."""

    key: str
    clauses: tuple[Clause, ...]
    implied: tuple[Any, ...]  # the value that is left out of the resolved file, if any


@dataclass(frozen=True, slots=True)
class Idle:
    """The reason why a key has no effect: the first clause that is not met."""

    clause: Clause


@cache
def declared_keys() -> tuple[Declared, ...]:
    """Return the keys of all sections that depend on a switch or have an implied value."""
    return tuple(_walk(Sections, "", ()))


@cache
def declared_source_keys() -> tuple[Declared, ...]:
    """Return the same of a source, named without it."""
    return tuple(_walk(SourceKeys, "", ()))


_CLAUSES: Final[dict[str, Clause]] = {}


def _shared(clause: Any) -> Clause:
    """Return one object for equal clauses, so that each is asked once."""
    return _CLAUSES.setdefault(repr(clause), clause)


def _walk(table: type[Table], prefix: str, inherited: tuple[Clause, ...]) -> Iterator[Declared]:
    for name, field in table.model_fields.items():
        key = f"{prefix}{key_of(name, field)}"
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        own = (_shared(clause) for clause in extra.get("only", ()))  # type: ignore[union-attr]
        clauses: tuple[Clause, ...] = (*inherited, *own)
        implied = (extra["implied"],) if "implied" in extra else ()
        if clauses or implied:
            yield Declared(key, clauses, implied)
        inner = tables_of(field)
        if len(inner) == 1 and not inner[0].tags:
            yield from _walk(inner[0].table, f"{key}.", clauses)


def idle_keys(config: SimulationConfig) -> dict[str, Idle]:
    """Return the keys of all sections that have no effect, by their dotted names."""
    return _idle(declared_keys(), config, None, frozenset())


def idle_source_keys(
    source: SourceConfig, config: SimulationConfig, named: frozenset[str] = frozenset()
) -> dict[str, Idle]:
    """Return the keys of one source that have no effect; kinds in ``named`` count as submitted."""
    return _idle(declared_source_keys(), config, source, named)


def _idle(
    declared: tuple[Declared, ...], config: SimulationConfig, source: SourceConfig | None, named: frozenset[str]
) -> dict[str, Idle]:
    idle: dict[str, Idle] = {}
    off: tuple[str, ...] = ()
    verdicts: dict[int, bool] = {}  # by the identity of a clause, which many keys share
    for each in declared:
        if each.key.startswith(off):
            continue
        for clause in each.clauses:
            is_met = verdicts.get(id(clause))
            if is_met is None:
                is_met = verdicts[id(clause)] = _is_met(clause, config, source, named)
            if not is_met:
                idle[each.key] = Idle(clause)
                off = (*off, f"{each.key}.")
                break
    return idle


def _is_met(clause: Clause, config: SimulationConfig, source: SourceConfig | None, named: frozenset[str]) -> bool:
    for key, values in clause.items():
        if key == KINDS_KEY:
            assert source is not None
            weights = source.operation_types
            if isinstance(source.arrivals, Trace):  # a trace may name any kind
                return True
            if any(kind in named or getattr(weights, kind) > 0.0 for kind in values):
                return True
            continue
        value = _value(key, config, source)
        if values is ON or values is OFF:
            if bool(value) is (values is ON):
                return True
        elif value in values:
            return True
    return False


def _value(key: str, config: SimulationConfig, source: SourceConfig | None) -> Any:
    holder: Any = config if key.partition(".")[0] in SECTIONS else source
    try:
        return _getter(key)(holder)
    except AttributeError:  # of a table that is not given, such as a lock
        return None


@cache
def _getter(key: str) -> attrgetter[Any]:
    return attrgetter(key)


@cache
def implied_values(*, is_of_source: bool) -> dict[str, tuple[Any, ...]]:
    """Return the values that are left out of the resolved file, by key."""
    declared = declared_source_keys() if is_of_source else declared_keys()
    return {each.key: each.implied for each in declared if each.implied}


def describe(clauses: tuple[Clause, ...]) -> str:
    """Describe in words when a key has an effect, for the reference."""
    return "; and ".join(
        dict.fromkeys(" or ".join(_words(key, values) for key, values in each.items()) for each in clauses)
    )


def _words(key: str, values: tuple[Any, ...]) -> str:
    if values is ON or values is OFF:
        return f"`{key}` {'set' if values is ON else 'not set'}"
    if key == KINDS_KEY:
        return " or ".join(f"`{KINDS_KEY}.{kind}`" for kind in values)
    return f"`{key} = {' or '.join(show(value) for value in values)}`".replace("'", '"')


def keys_of_format(name: str) -> tuple[str, ...]:
    """Return the keys and tables that only one table format reads; those of a source as ``source.<name>.overwrite``."""
    clause = ("table.format", (name,))
    sections = [each.key for each in declared_keys() if clause in [next(iter(item.items())) for item in each.clauses]]
    own = [each.key for each in declared_source_keys() if clause in [next(iter(item.items())) for item in each.clauses]]
    tables = (*sections, *(f"source.<name>.{key}" for key in own))
    return tuple(key for key in tables if not any(key.startswith(f"{other}.") for other in tables))


# ---- notes on keys that were given and have no effect ----------------------------------------------------------


def idle_notes(config: SimulationConfig, document: Spelt) -> dict[str, list[str]]:
    """Return the keys of the document that have no effect, by the switch that turns them off, both in words.

    A key that was written once and holds in several places (a default of ``[transaction]``, a latency of several
    requests) is listed only if it has no effect in any of them.
    """
    idle: dict[Path, tuple[Idle, int]] = {}
    for key, why in idle_keys(config).items():
        path: Path = tuple(key.split("."))
        is_object = path[:2] == ("storage", "objects") and len(path) == OBJECT_PARTS
        inner = value_at(document, path) if is_object else None  # a T_ key stands for keys of several objects
        paths = [(*path, name) for name in inner] if isinstance(inner, Mapping) else [path]
        idle.update(dict.fromkeys(paths, (why, 0)))
    for index, source in enumerate(config.sources):
        written = value_at(document, (SOURCE, index, KINDS_KEY))
        named = frozenset(written) if isinstance(written, Mapping) else frozenset()
        for key, why in idle_source_keys(source, config, named).items():
            idle[SOURCE, index, *key.split(".")] = (why, index)
    notes = {switch: dict.fromkeys(keys) for switch, keys in document.notes.items()}
    for index in range(len(config.sources)):
        backoff = value_at(document, (SOURCE, index, "retry_backoff"))
        if isinstance(backoff, Mapping) and backoff.get("enabled") is False and "policy" in backoff:
            switch = join_path((SOURCE, index, "retry_backoff", "enabled"), document)
            notes.setdefault(f"{switch} = false", {})[switch.replace("enabled", "policy")] = None
    for path, (why, index) in idle.items():
        if _is_written(path, document) and all(copy in idle for copy in document.copies(path)):
            owner = config.sources[index] if path[0] == SOURCE else None
            switch = _switch(why.clause, config, owner, index, document)
            key = join_path(path, document)
            if not any(key in keys for keys in notes.values()):
                notes.setdefault(switch, {})[key] = None
    return {switch: list(keys) for switch, keys in notes.items()}


def _is_written(path: Path, document: Spelt) -> bool:
    holder = value_at(document, path[:-1])
    is_given = isinstance(holder, Mapping) and path[-1] in holder and holder[path[-1]] != {}
    return is_given and document.written(path)[:2] != PRINTED_UNUSED


def _switch(clause: Clause, config: SimulationConfig, source: SourceConfig | None, index: int, document: Spelt) -> str:
    """Describe the state of the switch that is off, by the keys that the user wrote."""
    states = [_state(key, values, config, source, index, document) for key, values in clause.items()]
    return " and ".join(states)


def _state(
    key: str,
    values: tuple[Any, ...],
    config: SimulationConfig,
    source: SourceConfig | None,
    index: int,
    document: Spelt,
) -> str:
    if key == KINDS_KEY:
        kinds = [kind for kind in KINDS_OF[config.table.format] if kind in values]
        return f"{KINDS_KEY} has no {' or '.join(kinds)}"
    value = _value(key, config, source)
    path: Path = tuple(key.split("."))
    path = path if path[0] in SECTIONS else (SOURCE, index, *path)
    if key == "retry_backoff.policy" and value == "none" and value_at(document, path) != "none":
        path, value = (*path[:-1], "enabled"), False
    name = join_path(path, document)
    return f"{name} is {'set' if value else 'not set'}" if value is None or values is OFF else f"{name} = {show(value)}"
