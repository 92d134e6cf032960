"""Which change explains most, when two explain as much, and what is said then."""

import math

import pytest

from endive.observation.replay.cause_search import Trial, find_cause, unexplained
from endive.observation.replay.figures import Figure

DOCUMENT = {
    "storage": {"provider": "constant", "latency_ms": 80.0},
    "catalog": {"type": "service", "latency_ms": 20.0},
    "source": [{"name": "w", "arrivals": {"kind": "poisson", "mean_ms": 10_000.0}}],
}


def figure(model: float, *, real: float = 100.0, doubt: float = 0.0) -> Figure:
    return Figure(
        name="commit P50",
        unit="ms",
        real=real,
        real_interval=(real - doubt, real + doubt),
        model=model,
        model_interval=(model, model),
        changed=None,
        changed_interval=None,
        allowed=0.1,
        is_relative=True,
    )


def trial(model: float, *, evidence: float = 100.0) -> Trial:
    return Trial(figures=[("w", figure(model))], evidence=[("w", figure(evidence))])


def store_ms(document) -> float:
    return document["storage"]["latency_ms"]


def has_workers(document) -> bool:
    return "workers" in document["catalog"].get("service", {})


def found(attempt, tmp_path):
    return find_cause(DOCUMENT, attempt, tmp_path, is_measured=False)


@pytest.mark.parametrize(
    ("model", "doubt", "expected"),
    [(100.0, 0.0, 0.0), (105.0, 0.0, 0.25), (130.0, 0.0, 5.0), (150.0, 40.0, 1.425), (900.0, 0.0, 10.0)],
)
def test_an_error_counts_less_if_few_commits_leave_it_open_and_ten_at_most(model, doubt, expected):
    only = Trial(figures=[("w", figure(model, doubt=doubt))], evidence=())

    assert expected == pytest.approx(unexplained(only), abs=1e-3)


def test_a_figure_that_the_model_does_not_have_counts_ten():
    assert 10.0 == unexplained(Trial(figures=[("w", figure(math.nan))], evidence=()))


def test_one_change_that_explains_all_is_named_alone(tmp_path):
    cause = found(lambda each: trial(100.0 if store_ms(each) == 160.0 else 150.0), tmp_path)

    assert ("storage", (), 0, 1, 1) == (cause.key, cause.rivals, cause.before, cause.agree, cause.total)
    assert cause.text.startswith("One change explains most: with a store 2 times as slow, 1 of 1 figures agree instead")


def test_changes_that_explain_as_much_are_named_together(tmp_path):
    cause = found(lambda each: trial(100.0 if store_ms(each) == 160.0 or has_workers(each) else 150.0), tmp_path)

    assert ("storage", ["catalog.service.workers"]) == (cause.key, [rival.key for rival in cause.rivals])
    assert "What was seen does not tell it from a catalog that serves 1 at a time. Measure the store" in cause.text
    assert cause.text.endswith("endive measure --check.")


def test_evidence_that_no_verdict_counts_tells_two_changes_apart(tmp_path):
    def attempt(document):
        return trial(100.0, evidence=100.0 if has_workers(document) else 130.0) if moved(document) else trial(150.0)

    def moved(document) -> bool:
        return store_ms(document) == 160.0 or has_workers(document)

    cause = found(attempt, tmp_path)

    assert ("catalog.service.workers", (), 1) == (cause.key, cause.rivals, cause.total)


def test_nothing_is_named_if_no_change_explains_more_than_chance(tmp_path):
    assert found(lambda each: trial(105.0 if each is DOCUMENT else 100.0), tmp_path) is None
