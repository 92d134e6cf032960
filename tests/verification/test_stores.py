"""What a prediction of a store's latency is held against."""

from __future__ import annotations

import pytest

from endive.verification import Check
from verification.suites.measured_curves import curves
from verification.suites.stores import LEFT_OUT, against_line, line_error


def test_a_line_between_the_neighbours_of_azure_premium_misses_a_step_by_far():
    one, two, four, eight, _ = curves()["azurex", "cas"]

    assert 1.75 == pytest.approx(line_error(two, four, eight), abs=0.01)
    assert 0.02 == pytest.approx(line_error(one, two, four), abs=0.01)


def test_every_curve_has_the_models_error_beside_that_of_the_line():
    inner = [(store, op, point.clients) for (store, op), points in curves().items() for point in points[1:-1]]
    cells = [{"store": store, "operation": op, "clients": clients} for store, op, clients in inner]
    name, figures = f"latency of successes, p95{LEFT_OUT}", {"expected": 100, "actual": 90, "allowed": None}
    checks = [Check.relative(name, cell, **figures) for cell in cells]
    rows = against_line(checks).rows

    assert [10.0] * 9 == [pytest.approx(row[2]) for row in rows]
    assert [("azurex", "cas", 77.4), ("all", "", 19.3)] == [
        (row[0], row[1], round(row[3], 1)) for row in rows if row[:2] in (("azurex", "cas"), ("all", ""))
    ]
