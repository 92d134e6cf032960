"""PyIceberg itself, where it is installed: a recording made now equals the one that comes with the package."""

import pytest

pytest.importorskip("pyiceberg")
pytest.importorskip("sqlalchemy")

from pyiceberg.utils.concurrent import ExecutorFactory

from rigs.pyiceberg.story_stage import Stage
from verification.suites.pyiceberg.pyiceberg_requests import recording
from verification.suites.pyiceberg.stories import (
    BEFORE_SWAP,
    DELETE,
    FAST_APPEND,
    MERGE_APPEND,
    RIVALS_DELETE,
    Scenario,
)

PLAYED = [
    Scenario(operation=FAST_APPEND, behind=1, during=(2, 3)),
    Scenario(operation=FAST_APPEND, during=(1,), place=BEFORE_SWAP),
    Scenario(operation=MERGE_APPEND, manifests=8, merge_count_min=5, during=(1,), place=BEFORE_SWAP),
    Scenario(operation=DELETE, behind=1, rivals=RIVALS_DELETE),
    Scenario(operation=DELETE, behind=1, is_conflict_real=True),
]


@pytest.mark.parametrize("scenario", PLAYED, ids=lambda scenario: scenario.key)
def test_pyiceberg_still_sends_what_was_recorded(scenario, tmp_path, monkeypatch):
    # One worker, and a pool of this test's own: what several threads send has no order.
    monkeypatch.setenv("PYICEBERG_MAX_WORKERS", "1")
    monkeypatch.setattr(ExecutorFactory, "_instance", None)

    assert recording()["scenarios"][scenario.key] == Stage(scenario, tmp_path).play()
