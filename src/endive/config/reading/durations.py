"""Durations as they were written: ``"26h"`` instead of ``93600000.0`` in a resolved file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from endive.config.keys import SOURCE
from endive.config.reading.former_names import TRANSACTION
from endive.objectives.duration import parse_duration_ms


def with_durations(plain: dict[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    """Return a resolved document with the texts of the durations that the file gives."""
    kept: dict[str, Any] = {
        name: _keep(section, written.get(name)) for name, section in plain.items() if name != SOURCE
    }
    given = {table.get("name"): table for table in written.get(SOURCE, []) if isinstance(table, Mapping)}
    shared = written.get(TRANSACTION, {})
    kept[SOURCE] = [_keep(source, {**shared, **given.get(source["name"], {})}) for source in plain[SOURCE]]
    return kept


def _keep(value: Any, written: Any) -> Any:
    if isinstance(value, Mapping) and isinstance(written, Mapping):
        return {key: _keep(item, written.get(key)) for key, item in value.items()}
    milliseconds = parse_duration_ms(written) if isinstance(written, str) else None
    if milliseconds is None:
        return value
    is_same = value in (milliseconds, {"distribution": "fixed", "ms": milliseconds})
    return written if is_same else value
