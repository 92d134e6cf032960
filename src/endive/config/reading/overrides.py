"""``--set key=value``: values put into a configuration before it is read.

A TOML key, a TOML value; a bare word is a text. A dotted key finds its table also inside ``[[source]]``, by name or
number, and in what a recipe gives a source. It does not ask whether the key exists; reading the result does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from endive.config.problems import source_name
from endive.config.reading.document import document_of
from endive.config.reading.format_switch import CLIENT_KEY, FORMAT_KEY, drop_foreign, switch_client, switch_format
from endive.config.reading.recipe import SOURCE, spell_out
from endive.config.values import abridge, nearest
from endive.errors import ConfigError

KEY_OF_SOURCE = 2  # source, its name, then the key
OPENINGS = ("'", '"', "[", "{")  # a value that starts so is meant as TOML, not as a bare word


def parse_overrides(overrides: Sequence[str]) -> dict[str, Any]:
    """``["catalog.scope=table"]`` as ``{"catalog.scope": "table"}``; the last of two equal keys wins."""
    values: dict[str, Any] = {}
    problems: list[str] = []
    for text in overrides:
        try:
            key, value = _parse_override(text)
        except ConfigError as error:
            problems.extend(error.problems)
        else:
            values[key] = value
    if problems:
        raise ConfigError(problems)
    return values


def apply_overrides(mapping: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a configuration with the value at each dotted key replaced or added.

    ``source.<name>.<key>`` and ``source.<number>.<key>`` (from 0) reach into ``[[source]]``. Another ``table.format``
    makes it the same load in that format, another ``delta.client`` that of the client.
    """
    document: dict[str, Any] = plain_copy(mapping)
    problems: list[str] = []
    if FORMAT_KEY in overrides:
        overrides = drop_foreign(overrides, str(overrides[FORMAT_KEY]))
        document = switch_format(document, str(overrides[FORMAT_KEY]))
    if CLIENT_KEY in overrides:
        document = switch_client(document, str(overrides[CLIENT_KEY]))
    for key, value in overrides.items():
        try:
            _put(document, split_key(key), plain_copy(value), key)
        except ConfigError as error:
            problems.extend(error.problems)
    if problems:
        raise ConfigError(problems)
    return document


def plain_copy(value: Any) -> Any:
    """A deep copy in which every mapping is a dict and every sequence a list."""
    if isinstance(value, Mapping):
        return {key: plain_copy(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_copy(item) for item in value]
    return value


def split_key(key: str) -> list[str]:
    """The parts of a dotted TOML key: ``source."my writers".retry`` has three."""
    document = document_of(f"{key} = 0")
    node: Any = None if isinstance(document, str) else document
    parts: list[str] = []
    while isinstance(node, dict) and len(node) == 1:
        name, node = next(iter(node.items()))
        parts.append(name)
    if node != 0 or not parts:
        raise ConfigError(f"'{abridge(key)}' is not a key. Write names joined by dots, as in catalog.num_tables.")
    return parts


def _parse_override(text: str) -> tuple[str, Any]:
    key, equals, written = text.partition("=")
    key, written = key.strip(), written.strip()
    if not equals or not key or not written:
        raise ConfigError(f"--set '{abridge(text)}' is not key=value, as in catalog.num_tables=10.")
    split_key(key)
    document = document_of(f"value = {written}")
    if isinstance(document, str):
        if written.startswith(OPENINGS):
            raise ConfigError(f"--set '{abridge(text)}' has a value that {document}")
        return key, written
    if len(document) != 1:
        raise ConfigError(f"--set '{abridge(text)}' holds more than one value.")
    return key, document["value"]


def _put(document: dict[str, Any], parts: list[str], value: Any, key: str) -> None:
    node: Any = document
    if parts[0] == SOURCE and not document.get(SOURCE):
        rest = ".".join(parts[2:])
        raise ConfigError(f"'{key}' cannot be set: there is no [[source]]. Set transaction.{rest} instead.")
    for depth, part in enumerate(parts[:-1]):
        if isinstance(node, list):
            node = _find_source(node, part, key)
        elif depth == KEY_OF_SOURCE and parts[0] == SOURCE and part not in node:
            given = spell_out(node).get(part)
            node[part] = dict(given) if isinstance(given, Mapping) else {}
            node = node[part]
        else:
            node = node.setdefault(part, {})
        if not isinstance(node, (dict, list)):
            inside = ".".join(parts[: depth + 1])
            raise ConfigError(f"'{key}' cannot be set: {inside} is {node!r}, not a table.")
    if isinstance(node, list):
        raise ConfigError(f"'{key}' cannot be set: name the key of the source too, as in source.{parts[-1]}.retry.")
    node[parts[-1]] = value


def _find_source(sources: list[Any], name: str, key: str) -> Any:
    names = [source_name(item) for item in sources]
    if name in names:
        return sources[names.index(name)]
    if name.isdecimal() and int(name) < len(sources):
        return sources[int(name)]
    known = [item for item in names if isinstance(item, str)]
    guess = nearest(name, known)
    hint = f" Did you mean '{guess}'?" if guess else ""
    raise ConfigError(f"'{key}' cannot be set: no source is named '{name}'. Known are: {', '.join(known)}.{hint}")
