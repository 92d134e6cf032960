"""A resolved configuration as plain values: what is hashed, printed and loaded again.

Every key that is read stands in it with its value, and no key that nothing reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from endive.config.commit import PRESETS
from endive.config.distribution import Spec
from endive.config.key_effects import ICEBERG, unread_keys, unread_source_keys
from endive.config.values import Table
from endive.vocabulary import KINDS

if TYPE_CHECKING:
    from endive.config.simulation_config import SimulationConfig

AFTER_REFRESH = "after_refresh"
SECTIONS = (
    "simulation",
    "experiment",
    "slo",
    "storage",
    "catalog",
    "table",
    "commit",
    "delta",
    "transaction",
    "conflict",
    "failures",
)


def plain_config(config: SimulationConfig) -> dict[str, Any]:
    """Sections by name, then ``source`` as a list, as a file would hold them."""
    unread = unread_keys(config)
    document: dict[str, Any] = {}
    for name in (name for name in SECTIONS if name not in unread):
        section = _plain_table(getattr(config, name), f"{name}.", unread.keys())
        if section:
            document[name] = section
    # Keys that came later and mean what was meant before: such a configuration keeps its hash.
    if document["table"]["format"] == ICEBERG:
        del document["table"]["format"]
    commit = document.get("commit")
    if commit and commit["repair"] == AFTER_REFRESH == PRESETS[config.commit.protocol]["repair"]:
        del commit["repair"]
    if "latency_ms" in document["catalog"]:
        del document["catalog"]["latency"]
    document["source"] = [
        _plain_table(source, "", unread_source_keys(source, config).keys()) for source in config.sources
    ]
    for source in document["source"]:
        weights = source["operation_types"]
        source["operation_types"] = {kind: weights[kind] for kind in KINDS if weights[kind]}
    return document


def _plain_table(table: Table, prefix: str, unread: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in table.ordered_fields():
        value = getattr(table, key)
        if value is None or f"{prefix}{key}" in unread:
            continue
        if isinstance(value, Spec):
            found[key] = value.to_table()
        elif isinstance(value, Table):
            inner = _plain_table(value, f"{prefix}{key}.", unread)
            if inner:
                found[key] = inner
        else:
            found[key] = list(value) if isinstance(value, tuple) else value
    return found
