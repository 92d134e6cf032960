"""What the engines are compared on, and the laws are tried on, is the whole model: every key of a configuration."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from tests.properties.delta_strategies import any_configs
from tests.properties.section_strategies import KINDS

from endive.config.key_reference import reference

EXAMPLES = 100
STARTS = (28, 8, 3, *range(20, 40))  # a new start looks elsewhere than variations of what was drawn; the rarest first
NOT_DRAWN = {
    "simulation.model": "a name for keys that are drawn one by one",
    "simulation.output_path": "where files go",
    "simulation.warmup_ms": "which txns are reported",
    "simulation.cooldown_ms": "which txns are reported",
    "experiment.label": "a name",
    "slo.objective": "a question about the result",
    "catalog.profile": "another way to write the keys of a file",
    "catalog.table_names": "other names for tables",
    "storage.objects": "another way to write T_PUT and the like; each is drawn by one of them",
}


STARTS_MIN, STARTS_MAX = 4, 40
# Keys that are given to sources of some kinds only: others do not read them.
OF_SOME_KINDS = {
    "partial_progress": {"rewrite_files"},
    "manifest_list_entry_bytes": set(KINDS[:4]),
    "manifest_list_seal_threshold_bytes": set(KINDS[:4]),
    "rewritten_files": {"rewrite_files"},
    "deletes": {"validated_overwrite"},
    "adds_rows": {"validated_overwrite"},
    "added_rows": {"validated_overwrite"},
    "checks": {"validated_overwrite"},
    "read": {"validated_overwrite"},
    "starting_sequence_number": {"validated_overwrite"},
}
RARELY = {
    "gather_every_ms",
    "fresh_within_ms",
    "threads",
    "delete_granularity",
}  # of few sources: held by the test of all keys


def _keys_in(value: Any) -> set[str]:
    """Every key of a mapping, and of those in it."""
    if isinstance(value, dict):
        return set(value).union(*(_keys_in(part) for part in value.values()))
    return set().union(*(_keys_in(part) for part in value)) if isinstance(value, list) else set()


@pytest.mark.lengthy
def test_random_configurations_have_every_key():
    keys = set()

    def draw(mapping: dict[str, Any]) -> None:
        keys.update(_keys_in(mapping))

    told = [row[0].strip("`") for section in reference() if section.title.startswith("[") for row in section.rows]
    assert set(NOT_DRAWN) <= {".".join(key.split(".")[:2]) for key in told}
    missing = [key for key in told if not key.startswith(tuple(NOT_DRAWN))]
    for start in STARTS:
        drawn = given(mapping=any_configs())(draw)
        quick = settings(max_examples=EXAMPLES, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
        seed(start)(quick(drawn))()
        missing = [key for key in missing if key.split(".")[-1] not in keys]
        if not missing:
            break
    assert [] == missing


@pytest.mark.lengthy
def test_every_key_of_a_source_is_drawn_for_sources_of_each_single_kind():
    """A key that is drawn only next to other kinds hides what an engine does where there is one kind."""
    drawn: set[tuple[str, str]] = set()

    def draw(mapping: dict[str, Any]) -> None:
        for source in mapping["source"]:
            whole = mapping.get("transaction", {}) | source
            kinds = [kind for kind, weight in whole.get("operation_types", {}).items() if weight]
            if len(kinds) == 1 and kinds[0] in KINDS:
                drawn.update((key, kinds[0]) for key in whole)

    quick = settings(max_examples=EXAMPLES, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
    missing: set[tuple[str, str]] = set()
    for start in range(STARTS_MAX):
        seed(start)(quick(given(mapping=any_configs())(draw)))()
        keys = {key for key, _ in drawn}
        missing = {(key, kind) for key in keys - RARELY for kind in OF_SOME_KINDS.get(key, KINDS)} - drawn
        if start >= STARTS_MIN and not missing:
            break
    assert set() == missing
