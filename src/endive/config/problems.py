"""Problems as sentences: the key, its value, what is allowed, what was probably meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from endive.config.catalog_profile import CATALOGS
from endive.config.keys import Alternative, allowed_text, choices_of, field_at, keys_of, nearest_key, table_at
from endive.config.reading.former_names import REPLACED
from endive.config.toml_text import key_text
from endive.config.values import Table, abridge, nearest, unknown_name

Path = tuple[str | int, ...]

TOLD_MAX = 50  # of one table; whoever has more does not read them
SHOWN_ITEMS_MAX = 60  # as many as fit if each is one character
SHOWN_BITS_MAX = 1_000
CHOOSERS = ("kind", "distribution")


@dataclass(frozen=True, slots=True)
class Problem:
    """One line for the user, the key at fault, and the keys it rests on.

    A problem that rests on a key with a problem of its own is not worth telling.
    """

    text: str
    path: Path
    about: tuple[str, ...] = ()


def show(value: Any) -> str:
    """A value as a message quotes it: TOML, but with single quotes and not too long."""
    if isinstance(value, (Mapping, list, tuple)) and len(value) > SHOWN_ITEMS_MAX:
        value = dict(islice(value.items(), SHOWN_ITEMS_MAX)) if isinstance(value, Mapping) else value[:SHOWN_ITEMS_MAX]
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, Mapping):
        text = "{" + ", ".join(f"{key} = {show(item)}" for key, item in value.items()) + "}"
    elif isinstance(value, (list, tuple)):
        text = "[" + ", ".join(show(item) for item in value) + "]"
    elif isinstance(value, int) and value.bit_length() > SHOWN_BITS_MAX:
        text = f"a whole number of {value.bit_length():,} bits"
    else:
        text = repr(value) if isinstance(value, (str, int, float)) or value is None else str(value)
    return abridge(text)


class Spelt(dict[str, Any]):
    """A document in the present spelling, which remembers where a value was written in another."""

    def __init__(self, content: Mapping[str, Any], origins: Mapping[Path, Path] | None = None) -> None:
        super().__init__(content)
        self.origins: dict[Path, Path] = dict(origins or {})  # a place here -> where it was written
        self.notes: dict[str, list[str]] = {}  # a switch -> the keys that it leaves without effect
        self.remarks: list[str] = []  # other notes

    def written(self, path: Path) -> Path:
        for length in range(len(path), 0, -1):
            if path[:length] in self.origins:
                return (*self.origins[path[:length]], *path[length:])
        return path

    def copies(self, path: Path) -> list[Path]:
        """Every place that holds what was written for this one, itself included."""
        for length in range(len(path), 0, -1):
            origin = self.origins.get(path[:length])
            if origin is not None:
                return [(*place, *path[length:]) for place, other in self.origins.items() if other == origin]
        return [path]


def join_path(path: Path, document: Mapping[str, Any]) -> str:
    """A path as the user would write it after ``--set``: sources by name where they have one of their own."""
    if isinstance(document, Spelt):
        path = document.written(path)
    if len(path) > 1 and path[0] == "source" and isinstance(path[1], int):
        path = ("source", source_label(document, path[1]), *path[2:])
    return ".".join(key_text(str(part)) for part in path)


def source_label(document: Mapping[str, Any], index: int) -> str:
    """A source's name, or its number if the name is missing or not its own."""
    names = [source_name(item) for item in document["source"]]
    name = names[index]
    return name if isinstance(name, str) and name.strip() and names.count(name) == 1 else str(index)


def source_name(source: Any) -> Any:
    """What a source is called, whatever was written: by its name, or else by its recipe's; None if by neither."""
    return source.get("name", source.get("recipe")) if isinstance(source, Mapping) else None


def value_at(document: Any, path: Sequence[str | int]) -> Any:
    """The value at a path of the document, or None."""
    for part in path:
        try:
            document = document[part]
        except (KeyError, IndexError, TypeError):
            return None
    return document


def problems_of(error: ValidationError, table: type[Table], prefix: Path, document: Mapping[str, Any]) -> list[Problem]:
    """What a model refused, one problem per key."""
    problems: list[Problem] = []
    for details in error.errors(include_url=False):
        if len(problems) == TOLD_MAX:
            problems.append(
                Problem(f"{join_path(prefix, document)} has {error.error_count() - TOLD_MAX} more problems.", prefix)
            )
            break
        if details["type"] != "default_factory_not_called":  # the key it waited for has a problem of its own
            problem = _problem(details, table, prefix, document)
            problems.append(replace(problem, text=problem.text + _profile_hint(problem.path, details["input"])))
    return problems


def _profile_hint(path: Path, value: object) -> str:
    """Where a service that has a profile is named under another key of the catalog: the key that takes it."""
    name = value.lower() if isinstance(value, str) else None
    is_named = name in CATALOGS and path[:1] == ("catalog",) and path != ("catalog", "profile")
    return f" For {name} give catalog.type = 'service' and catalog.profile = '{name}'." if is_named else ""


def _problem(details: ErrorDetails, table: type[Table], prefix: Path, document: Mapping[str, Any]) -> Problem:
    place: Path = details["loc"]
    path = prefix + tuple(part for part in place if not str(part).startswith("<"))
    key = join_path(path, document)
    value = details["input"]
    match details["type"]:
        case "endive":
            context = details["ctx"]
            if context["key"]:
                path = (*path, context["key"])
                key, value = join_path(path, document), value_at(document, path)
            head = f"{key} = {show(value)}" if context["shows_value"] else key
            return Problem(f"{head} {context['text']}", path)
        case "extra_forbidden":
            holder = table_at(table, place[:-1])
            assert holder is not None, f"no table holds {key}"
            return Problem(_unknown_key(key, str(path[-1]), value, holder), path)
        case "missing" | "literal_error":
            field = field_at(table, place)
            assert field is not None, f"no table declares {key}"
            if details["type"] == "missing":
                return Problem(f"{key} is missing. Give {allowed_text(field)}.", path)
            return Problem(f"{key} = {show(value)} {unknown_name(value, choices_of(field.annotation))}", path)
        case "model_type" | "model_attributes_type" | "dict_type":
            holder = table_at(table, place)
            keys = f" with keys: {', '.join(keys_of(holder.table))}" if holder else ""
            return Problem(f"{key} = {show(value)} must be a table{keys}.", path)
        case "bool_type":
            return Problem(f"{key} = {show(value)} must be true or false.", path)
        case "invalid_key":
            return Problem(f"{key} is not a key. Keys are texts.", path)
        case "tuple_type":
            return Problem(f"{key} = {show(value)} must be a list.", path)
        case _:
            return Problem(f"{key} = {show(value)} is not valid: {details['msg']}.", path)


_LEAVE_OUT: Final = "Leave it out, and look up there which of your statements it fails"
UNMODELLED: Final = {  # operations of Iceberg that were played beside others, and what to do instead
    "rollback": _LEAVE_OUT,
    "rollback_to_snapshot": _LEAVE_OUT,
    "rewrite_position_delete_files": _LEAVE_OUT,
    "overwrite_by_row_filter": "Give validated_overwrite with overwrite = 'replace_partitions'",
    "delete_from_row_filter": "Give validated_overwrite with overwrite = 'overwrite_files' and adds_rows = false",
}


def _unknown_key(key: str, leaf: str, value: Any, holder: Alternative) -> str:
    known = keys_of(holder.table)
    if leaf in UNMODELLED and "validated_overwrite" in known:
        return f"{key} is not modelled; who fails beside it was recorded (docs/model/conflicts.md). {UNMODELLED[leaf]}."
    if leaf in REPLACED:
        return f"{key} is not known. Give {REPLACED[leaf]}."
    guess = nearest(leaf, known)
    if guess:
        return f"{key} is not known. Did you mean '{guess}'?"
    chooser = next((name for name in CHOOSERS if name in known), None)
    if chooser and holder.tags:
        name = holder.table.model_fields[chooser].default
        takes = ", ".join(item for item in known if item != chooser)
        return f"{key} = {show(value)} is not a key of {chooser} = '{name}', which takes: {takes}."
    elsewhere = nearest_key(key)
    if elsewhere == key:
        table = key.rpartition(".")[0]
        return f"{key} = {show(value)} does not go with the other keys of {table}. These do: {', '.join(known)}."
    if elsewhere:
        return f"{key} is not known. Did you mean '{elsewhere}'?"
    return f"{key} is not known. Known keys are: {', '.join(known)}."
