"""``endive config upgrade``: a file in the documents' spelling, rewritten in the present one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from endive.config.keys import SOURCE
from endive.config.problems import Spelt, value_at
from endive.config.reading.former_names import INTER_ARRIVAL, TRANSACTION, UNITS_OF_RUNTIME
from endive.config.reading.load import parse_config
from endive.config.reading.overrides import plain_copy
from endive.config.reading.spellings import DEFAULT_SOURCE, respell
from endive.errors import ConfigError


def upgrade(mapping: Mapping[str, Any], source: str = "<dict>") -> dict[str, Any]:
    """Return a configuration in the present spelling; it means what it meant before."""
    notes: dict[str, list[str]] = {}
    before = parse_config(mapping, source, notes)
    document = Spelt(plain_copy(mapping))
    shared = document.get(TRANSACTION)
    if not document.get(SOURCE) and isinstance(shared, dict) and INTER_ARRIVAL in shared:
        document[SOURCE] = [{"name": DEFAULT_SOURCE}]
    respell(document)
    runtime = value_at(document, (TRANSACTION, "runtime"))
    if isinstance(runtime, dict) and "distribution" not in runtime:
        document[TRANSACTION]["runtime"] = {UNITS_OF_RUNTIME.get(key, key): value for key, value in runtime.items()}
    upgraded = {name: section for name, section in document.items() if section not in ({}, [])}
    after = parse_config(upgraded, source, notes)
    if before.config_hash() != after.config_hash():
        raise ConfigError(f"{source} cannot be rewritten without a change of meaning. Please report it.")
    return upgraded
