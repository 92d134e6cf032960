"""What the engines are compared on, and the laws are tried on, is the whole model: every key of a configuration."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from tests.properties.delta_strategies import any_configs

from endive.config.key_reference import reference

EXAMPLES = 100
STARTS = (28, 8, 3, *range(20, 40))  # a new start looks elsewhere than variations of what was drawn; the rarest first
NOT_DRAWN = {
    "simulation.output_path": "where files go",
    "simulation.warmup_ms": "which txns are reported",
    "simulation.cooldown_ms": "which txns are reported",
    "experiment.label": "a name",
    "slo.objective": "a question about the result",
    "catalog.profile": "another way to write the keys of a file",
    "catalog.table_names": "other names for tables",
    "storage.objects": "another way to write T_PUT and the like; each is drawn by one of them",
}


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
