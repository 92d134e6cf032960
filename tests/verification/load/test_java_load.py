"""Load: what is made of measured requests, and that the model keeps its distance to the measurement."""

from __future__ import annotations

import pytest

from endive.config import parse_config
from endive.verification.suite import Options
from verification.recordings import QUANTILES
from verification.suites.load import java_load, load_model
from verification.suites.load import measurement as m
from verification.suites.load.cells import DELAYS_MS, beside_cells
from verification.suites.load.measurement import Figures, latencies, pointer_ms, read_load


def test_figures_count_committed_txns_and_their_latencies_only():
    figures = Figures.of([(100.0, True, 1), (300.0, True, 2), (900.0, False, 5), (200.0, True, 1)], 2.0)

    assert (1.5, 25.0, 200.0) == (figures.committed_per_s, figures.exhausted_percent, figures.p50_ms)
    assert 290.0 == pytest.approx(figures.p95_ms)
    assert (2, 1, 0, 0, 1) == figures.attempts


def level(value: float, count: int = 100) -> list[float]:
    return [count, value, *([value] * len(QUANTILES))]


CELL = {
    "load GET metadata": level(5.0),
    "swap GET metadata": level(8.0),
    "first PUT manifest": level(10.0),
    "first HEAD manifest_list": level(11.0),
    "retry HEAD manifest_list": level(4.0),
    "first GET manifest_list": level(2.0),
    "retry GET manifest_list": level(2.0),
    "first PUT manifest_list": level(15.0),
    "retry PUT manifest_list": level(4.0),
    "first PUT metadata": level(6.0),
    "retry PUT metadata": level(3.0),
    "after DELETE manifest_list": level(3.0, 5),
}


def fixed_ms(objects, obj, operation):
    values = {ms for _, ms in objects[obj][operation]["quantiles"]}
    assert len(values) == 1
    return values.pop()


def test_what_only_first_attempts_take_is_paid_with_the_manifest_only_they_write():
    objects = latencies(DELAYS_MS, [CELL], [], is_first_dearer=True)

    retry_ms = [fixed_ms(objects, "manifest_list", operation) for operation in ("head", "read", "write")]
    assert [14.0, 22.0, 34.0] == retry_ms
    assert 30.0 + 10.0 + (7.0 + 0.0 + 11.0 + 3.0) == fixed_ms(objects, "manifest", "write")
    assert 33.0 == fixed_ms(objects, "metadata", "write")


def test_requests_a_cell_hardly_sent_are_taken_from_other_cells():
    spare = {"after DELETE manifest_list": level(7.0)}
    objects = latencies(DELAYS_MS, [CELL], [[{}], [spare]], is_first_dearer=True)

    assert 27.0 == fixed_ms(objects, "manifest_list", "delete")


def test_a_statement_is_half_of_what_lies_between_a_swap_and_a_load():
    assert 1.5 == pointer_ms([CELL], 0.2)
    assert 2.0 == pointer_ms([CELL], 2.0)


def test_a_mean_weighs_runs_by_their_requests():
    runs = [{"a": level(10.0, 1)}, {"a": level(20.0, 3)}, {}]

    assert 17.5 == m.mean_ms(runs, "a")


@pytest.mark.parametrize(("key", "operation", "n", "period_s"), beside_cells())
def test_a_cell_beside_a_stream_is_a_configuration(key, operation, n, period_s):
    objects = latencies(DELAYS_MS, [CELL], [], is_first_dearer=False)
    objects["manifest"]["read"] = objects["manifest"]["delete"] = objects["manifest"]["write"]
    objects["manifest_list"]["delete"] = objects["manifest_list"]["write"]

    config = parse_config(load_model.beside_configuration(operation, n, period_s, 0.5, 1.0, objects, "1.9.2"))

    assert ["victim", "before", "stream"] == [source.name for source in config.sources]


@pytest.mark.lengthy
def test_a_quick_run_asks_of_every_cell_and_calls_nothing_wrong_that_it_cannot_resolve():
    checks = java_load.run(Options(is_quick=True)).checks

    throughput = [check for check in checks if check.name == "closed loop: committed per second"]
    assert [1, 2, 4, 8, 16] == [check.what["writers"] for check in throughput]
    wrong = [check for check in checks if not check.holds]
    assert [] == [(check.name, dict(check.what), check.error, check.doubt) for check in wrong]


@pytest.mark.lengthy
def test_a_quick_run_still_finds_a_planted_error(monkeypatch):
    """A catalog that takes 60 ms longer than the one that was measured."""
    monkeypatch.setattr(java_load, "pointer_ms", lambda cell, idle_ms: pointer_ms(cell, idle_ms) + 60.0)

    checks, _ = java_load._closed_cell(read_load(), "4", Options(is_quick=True))

    assert "wrong" == next(check.verdict for check in checks if check.name == "closed loop: committed per second")


def test_the_measurement_is_the_same_after_writing_and_reading(tmp_path):
    document = read_load()
    m.write_load(document, tmp_path / "load.json")

    assert document == read_load(tmp_path / "load.json")
