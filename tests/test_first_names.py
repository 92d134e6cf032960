"""Names of the first documents lead to what does it now."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import endive
from endive.first_names import (
    NAMES,
    CASResult,
    FirstName,
    compute_warmup_duration,
    validate_config,
)

SMALL = {"simulation": {"duration_ms": 60_000.0}, "storage": {"provider": "instant"}}


def find(dotted: str) -> Any:
    """What a dotted name stands for."""
    module, _, rest = dotted.rpartition(".")
    try:
        return getattr(import_module(module), rest)
    except ModuleNotFoundError:
        return getattr(find(module), rest)


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.name)
def test_names_of_the_documents_lead_to_what_does_it_now(name: FirstName) -> None:
    assert find(name.now) is not None


def test_a_configuration_has_errors_or_warnings() -> None:
    errors, warnings = validate_config({"catalog": {"num_tables": 0}})
    assert (1, []) == (len(errors), warnings)
    assert "catalog.num_tables = 0" in errors[0]

    overwrites = {"operation_types": {"validated_overwrite": 1.0}}
    errors, warnings = validate_config({**SMALL, "transaction": overwrites})
    assert ([], 1) == (errors, len(warnings))
    assert ([], []) == validate_config(SMALL)


def test_warm_up_is_a_quarter_and_at_most_900_s() -> None:
    assert [15_000.0, 900_000.0] == [compute_warmup_duration(ms) for ms in (60_000.0, 7_200_000.0)]


def test_the_result_of_a_swap_is_that_of_every_commit() -> None:
    assert (True, None) == CASResult(success=True, snapshot=None, latency_ms=1.0, evaluated_us=0)[:2]


def test_a_result_becomes_a_pandas_frame() -> None:
    result = endive.simulate(SMALL)

    frame = result.to_dataframe()

    assert result.transactions.num_rows == len(frame)
    assert list(result.transactions.column_names) == list(frame.columns)
