"""One load in another table format: what ``--set table.format=delta`` makes of a file that was written for Iceberg.

What the file says of the load stays: who writes when, for how long, what it reads and touches. Operations become their
counterparts. Keys that only the format before reads are left out, and so are the commit point and the retries, which
belong to the clients of a format. Another ``delta.client`` leaves those out as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from endive.config.effects import keys_of_format
from endive.config.reading.recipe import SOURCE, spell_out

ICEBERG: Final = "iceberg"
DELTA: Final = "delta"
FORMAT_KEY: Final = "table.format"
COUNTERPARTS: Final = {
    DELTA: {
        "fast_append": "blind_append",
        "merge_append": "blind_append",
        "validated_overwrite": "merge",
        "rewrite_files": "optimize",
    },
    ICEBERG: {
        "blind_append": "fast_append",
        "append_after_read": "fast_append",
        "merge": "validated_overwrite",
        "optimize": "rewrite_files",
    },
}
OF_THE_LOAD: Final = ("num_tables", "partitions")  # what [catalog] says of tables, and not of the commit point
OF_A_CLIENT: Final = ("retry", "retry_backoff", "total_timeout_ms", "isolation")
OTHER: Final = {ICEBERG: DELTA, DELTA: ICEBERG}
CLIENT_KEY: Final = "delta.client"
CLIENT: Final = "spark"  # unless a document says otherwise


def format_of(document: Mapping[str, Any]) -> str:
    table = document.get("table")
    name = table.get("format", ICEBERG) if isinstance(table, Mapping) else ICEBERG
    return name if name in OTHER else ICEBERG


def switch_format(document: dict[str, Any], name: str) -> dict[str, Any]:
    """A document for tables of the format ``name``; as it is if it is one, or if there is no such format."""
    before = format_of(document)
    if name not in OTHER or name == before:
        return document
    own = keys_of_format(before)
    for key in (key for key in own if not key.startswith(f"{SOURCE}.")):
        _drop(document, key.split("."))
    catalog = document.get("catalog")
    if isinstance(catalog, dict):
        document["catalog"] = {key: value for key, value in catalog.items() if key in OF_THE_LOAD}
    if isinstance(document.get(SOURCE), list):
        document[SOURCE] = [each for source in document[SOURCE] for each in _switch_source(source, name)]
    if isinstance(document.get("transaction"), dict):
        document["transaction"] = next(iter(_switch_source(document["transaction"], name)), {})
    document.setdefault("table", {})["format"] = name
    if name == ICEBERG:
        document.setdefault("catalog", {})["scope"] = "table"  # a table of Delta has versions of its own
    return document


def switch_client(document: dict[str, Any], name: str) -> dict[str, Any]:
    """A document for another client of Delta Lake; as it is if that is its client, or the format another."""
    delta = document.get("delta")
    before = delta.get("client", CLIENT) if isinstance(delta, Mapping) else CLIENT
    if format_of(document) != DELTA or name == before:
        return document
    if isinstance(document.get(SOURCE), list):
        document[SOURCE] = [_without_client(source) for source in document[SOURCE]]
    if isinstance(document.get("transaction"), dict):
        document["transaction"] = _without_client(document["transaction"])
    return document


def _without_client(source: Any) -> Any:
    if not isinstance(source, Mapping):
        return source
    return {key: value for key, value in spell_out(source).items() if key not in OF_A_CLIENT}


def drop_foreign(overrides: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Overrides without those that only the other format reads; they are meant for its turn."""
    foreign = keys_of_format(OTHER.get(name, name)) if name in OTHER else ()
    return {key: value for key, value in overrides.items() if not any(_is_below(key, each) for each in foreign)}


def _is_below(key: str, table: str) -> bool:
    parts = key.split(".")
    if parts[0] == SOURCE and len(parts) > 2:
        parts[1] = "<name>"
    named = ".".join(parts)
    return named == table or named.startswith(f"{table}.")


def _drop(document: dict[str, Any], parts: list[str]) -> None:
    node: Any = document
    for part in parts[:-1]:
        node = node.get(part) if isinstance(node, dict) else None
    if isinstance(node, dict):
        node.pop(parts[-1], None)


def _switch_source(source: Any, name: str) -> list[dict[str, Any]]:
    """A source in the other format; none if it does nothing that the format has."""
    if not isinstance(source, Mapping):
        return [source]
    given = spell_out(source)
    own = {key.split(".")[-1] for key in keys_of_format(OTHER[name]) if key.startswith(f"{SOURCE}.")}
    kept = {key: value for key, value in given.items() if key not in own and key not in OF_A_CLIENT}
    weights = given.get("operation_types")
    if isinstance(weights, Mapping):
        mix: dict[str, Any] = {}
        for kind, weight in weights.items():
            counterpart = COUNTERPARTS[name].get(kind)
            if counterpart is not None:
                mix[counterpart] = mix.get(counterpart, 0.0) + weight
        if not mix:
            return []
        kept["operation_types"] = mix
    if name == DELTA and kept.get("read") == "columns":
        kept["read"] = "files"
    if name == ICEBERG and kept.get("read") == "nothing":
        kept["read"] = "table"
    if name == ICEBERG and "merge" in (weights or {}):
        kept["overwrite"] = "overwrite_files"  # files are taken and put in place, as Delta does
    return [kept]
