"""The names of all keys, read off the models: which table holds what, and what a misspelt name meant."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import Field, Tag
from pydantic.fields import FieldInfo

from endive.config.reading.former_names import INTER_ARRIVAL, UNITS_OF_LATENCY, former_spellings
from endive.config.sections.catalog import CatalogConfig
from endive.config.sections.commit import CommitConfig
from endive.config.sections.simulation import (
    ConflictConfig,
    DeltaConfig,
    ExperimentSection,
    FailuresConfig,
    SimulationSection,
    TableConfig,
)
from endive.config.sections.source import SourceConfig, SourceKeys, TransactionConfig
from endive.config.sections.storage import StorageConfig
from endive.config.slo import SloSection
from endive.config.values import DELTA, ICEBERG, NAME_CHARACTERS_MAX, Forms, Table, only


class Sections(Table):
    """The sections of a configuration; ``[[source]]`` stands beside them."""

    simulation: SimulationSection
    experiment: ExperimentSection
    slo: SloSection
    storage: StorageConfig
    catalog: CatalogConfig
    table: TableConfig
    commit: CommitConfig = Field(json_schema_extra=only(ICEBERG))
    delta: DeltaConfig = Field(json_schema_extra=only(DELTA))
    transaction: TransactionConfig
    conflict: ConflictConfig
    failures: FailuresConfig


SECTIONS = {name: cast(type[Table], field.annotation) for name, field in Sections.model_fields.items()}
SOURCE = "source"
ANY_SOURCE = "source.*"


@dataclass(frozen=True, slots=True)
class Alternative:
    """One table a key may hold, and the tags that choose it among the others."""

    tags: tuple[str, ...]
    table: type[Table]


def alternatives(annotation: Any, tags: tuple[str, ...] = ()) -> list[Alternative]:
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return [Alternative(tags, annotation)]
    arguments = get_args(annotation)
    if get_origin(annotation) is Annotated:
        own = tuple(str(item.tag) for item in arguments[1:] if isinstance(item, Tag))
        forms = [item.written for item in arguments[1:] if isinstance(item, Forms)]
        return alternatives(forms[0] if forms else arguments[0], tags + own)
    if get_origin(annotation) in (Union, types.UnionType, tuple):
        return [table for argument in arguments for table in alternatives(argument, tags)]
    return []


def tables_of(field: FieldInfo) -> list[Alternative]:
    forms = [item.written for item in field.metadata if isinstance(item, Forms)]
    return alternatives(forms[0] if forms else field.annotation)


def key_of(name: str, field: FieldInfo) -> str:
    """The name a field has in a file; parts that no file spells out stand in angle brackets."""
    return field.alias or name


def keys_of(table: type[Table]) -> list[str]:
    """The keys a table takes, in the order of the reference."""
    return [name for name, field in table.ordered_fields().items() if not key_of(name, field).startswith("<")]


def table_at(table: type[Table], place: tuple[str | int, ...]) -> Alternative | None:
    """The table at a place of a validation error, tags included, below ``table``."""
    current = [Alternative((), table)]
    for part in place:
        if isinstance(part, int):
            continue
        chosen = [each for each in current if part in each.tags]
        if part.startswith("<") and chosen:
            current = chosen
            continue
        fields = (
            field for each in current for name, field in each.table.model_fields.items() if key_of(name, field) == part
        )
        field = next(fields, None)
        if field is None:
            return None
        current = tables_of(field)
    return current[0] if current else None


def field_at(table: type[Table], place: tuple[str | int, ...]) -> FieldInfo | None:
    """The declaration of the key at a place of a validation error, below ``table``."""
    holder = table_at(table, place[:-1])
    return holder.table.model_fields.get(str(place[-1])) if holder else None


def choices_at(key: str) -> tuple[str, ...]:
    """The names that a dotted key chooses from; none if it holds something else, or is not known."""
    section, *place = key.split(".")
    is_of_source = section == SOURCE and len(place) > 1
    field = field_at(SourceConfig, tuple(place[1:])) if is_of_source else field_at(Sections, (section, *place))
    is_choice = field is not None and get_origin(field.annotation) is Literal
    return tuple(map(str, get_args(field.annotation))) if field is not None and is_choice else ()


def choices_of(annotation: Any) -> tuple[str, ...]:
    """The names that an annotation chooses from; none if it is something else."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return next((names for each in get_args(annotation) if (names := choices_of(each))), ())


def extra_text(field: FieldInfo, name: str) -> str | None:
    """What a declaration says beside its type and description: an example, a default in words."""
    extra = field.json_schema_extra
    return str(extra[name]) if isinstance(extra, dict) and name in extra else None


def allowed_text(field: FieldInfo) -> str:
    example = extra_text(field, "example")
    allowed = _describe_allowed(field.annotation, tuple(field.metadata))
    return f"{allowed} such as {example}" if example else allowed


def _describe_allowed(annotation: Any, metadata: tuple[Any, ...] = ()) -> str:
    for item in metadata:
        if hasattr(item, "describe"):
            return str(item.describe())
    if annotation is bool:
        return "true or false"
    arguments = get_args(annotation)
    if get_origin(annotation) is Literal:
        return f"one of: {', '.join(arguments)}"
    if get_origin(annotation) is Annotated:
        return _describe_allowed(arguments[0], tuple(arguments[1:]))
    if get_origin(annotation) is tuple:
        return "a list"
    inner = [item for item in arguments if item is not type(None)]
    return _describe_allowed(inner[0]) if len(inner) == 1 else "a table"


def _walk(prefix: str, table: type[Table]) -> Iterator[str]:
    for name, field in table.model_fields.items():
        key = key_of(name, field)
        path = prefix if key.startswith("<") else f"{prefix}.{key}"
        if path != prefix:
            yield path
        if get_origin(field.annotation) is tuple:
            continue
        for inner in tables_of(field):
            yield from _walk(path, inner.table)


@lru_cache(maxsize=1)
def known_keys() -> tuple[str, ...]:
    """Every dotted key a configuration may hold; ``source.*`` stands for a source by its name or number."""
    keys: dict[str, None] = {}
    for name, table in SECTIONS.items():
        keys.update(dict.fromkeys(_walk(name, table)))
    keys.update(dict.fromkeys(_walk(ANY_SOURCE, SourceConfig)))
    present = tuple(keys)
    for key in (key for key in present if key.startswith("storage.objects.")):
        holder, _, leaf = key.rpartition(".")
        keys.update({f"{holder}.{former}": None for former, name in UNITS_OF_LATENCY.items() if name == leaf})
    for former, key in former_spellings(SourceKeys.model_fields):
        keys[former] = None
        if INTER_ARRIVAL not in former:  # its tables have keys of their own
            keys.update(
                dict.fromkeys(former + item.removeprefix(key) for item in present if item.startswith(f"{key}."))
            )
    return tuple(keys)


def nearest_key(name: str) -> str | None:
    """The known key that ``name`` probably meant: close in spelling, or right but in another table."""
    if len(name) > NAME_CHARACTERS_MAX:
        return None
    parts = name.split(".")
    pattern = ".".join([SOURCE, "*", *parts[2:]]) if parts[0] == SOURCE and len(parts) > 2 else name
    keys = known_keys()
    same_leaf = [key for key in keys if key.rpartition(".")[2] == parts[-1]]
    close = get_close_matches(pattern, same_leaf or keys, n=1, cutoff=0.0 if same_leaf else 0.75)
    if not close:
        return None
    return close[0].replace(ANY_SOURCE, ".".join(parts[:2])) if pattern != name else close[0]
