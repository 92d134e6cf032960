"""Names of the first documents are there, and the page lists each with what is not as written."""

import pytest

from endive import first_names
from endive.first_names.__main__ import DIFFERENCES, rows

SMALL = {"simulation": {"duration_ms": 60_000.0}, "storage": {"provider": "instant"}}


def test_every_difference_is_of_a_name_that_is_there() -> None:
    names = {row[0] for row in rows()}
    assert not set(DIFFERENCES) - names


def test_a_configuration_has_errors_or_warnings() -> None:
    errors, warnings = first_names.validate_config({"catalog": {"num_tables": 0}})
    assert (1, []) == (len(errors), warnings)
    assert "catalog.num_tables = 0" in errors[0]

    overwrites = {"operation_types": {"validated_overwrite": 1.0}}
    errors, warnings = first_names.validate_config({**SMALL, "transaction": overwrites})
    assert ([], 1) == (errors, len(warnings))
    assert ([], []) == first_names.validate_config(SMALL)


@pytest.mark.parametrize(("duration_ms", "margin_ms"), [(60_000.0, 15_000.0), (7_200_000.0, 900_000.0)])
def test_warm_up_is_a_quarter_and_at_most_900_s(duration_ms: float, margin_ms: float) -> None:
    assert margin_ms == first_names.compute_warmup_duration(duration_ms)


def test_the_result_of_a_swap_is_that_of_every_commit() -> None:
    result = first_names.CASResult(success=True, snapshot=None, latency_ms=1.0)
    assert (True, None, 1.0) == (result.success, result.snapshot, result.latency_ms)
    assert isinstance(result, first_names.CommitResult)


def test_a_file_becomes_a_simulation_and_its_statistics(tmp_path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[simulation]\nduration_ms = 60000\n")

    statistics = first_names.Simulation(first_names.load_simulation_config(path)).run()

    frame = statistics.to_dataframe()
    assert list(statistics.result.transactions.column_names) == list(frame.columns)
    assert statistics.committed == (frame["status"] == "committed").sum()
