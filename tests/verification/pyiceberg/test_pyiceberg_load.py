"""A table under load: what was measured on PyIceberg, and what the model makes of it."""

from __future__ import annotations

from verification.suites.load.measurement import Figures
from verification.suites.pyiceberg.pyiceberg_load import (
    FIGURES,
    checks_of,
    configuration,
    measured_runs,
    measurement,
)

MEASURED = measurement()
CELLS = {cell["writers"]: cell for cell in MEASURED["cells"]}


def test_the_cells_are_those_promised():
    assert [1, 2, 4, 8, 16] == list(CELLS)
    assert all(cell["duration_ms"] >= 20_000 and len(cell["runs"]) >= 3 for cell in CELLS.values())


def test_figures_are_of_txns_that_ended_in_time():
    cell = {
        "duration_ms": 1_000,
        "runs": [{"txns": [[0, 20, 220, 1, 1], [220, 240, 940, 5, 0], [940, 960, 1_100, 1, 1]]}],
    }

    assert [[(200, True, 1), (700, False, 5)]] == measured_runs(cell)


def test_an_error_beyond_the_limit_is_wrong():
    run = [(100.0 + ms, True, 1) for ms in range(100)]
    measured, faster = Figures.of(run, 10.0), Figures.of([*run, *run[:6]], 10.0)  # the same latencies but for a little

    checks = {
        check.name: check.holds for check in checks_of({"writers": 1}, measured, faster, dict.fromkeys(FIGURES, 0.0))
    }

    assert not checks.pop("commits per second")
    assert all(checks.values())


def test_the_model_is_fed_with_every_request_that_was_measured():
    config = configuration(CELLS[4], MEASURED["quantiles"])

    fed = {f"{object}.{operation}" for object, table in config["storage"]["objects"].items() for operation in table}
    assert {name for name in CELLS[4]["spans"] if name != "rest" and not name.startswith("catalog")} == fed
    assert 2 == len(config["catalog"]["latency"]["components"])
