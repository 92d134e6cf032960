"""The settings of an analysis: by its size, and gone when it is over."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from endive.pipeline.analysis.collect import settings, settings_for

PARTITIONS, ADAPTIVE = "spark.sql.shuffle.partitions", "spark.sql.adaptive.enabled"


class Conf(dict):
    """A session's settings, without a session."""

    def set(self, key: str, value: str) -> None:
        self[key] = value


@pytest.fixture
def session():
    return SimpleNamespace(conf=Conf({PARTITIONS: "8", ADAPTIVE: "true", "spark.sql.ansi.enabled": "true"}))


@pytest.mark.parametrize(
    ("rows", "partitions", "adaptive"),
    [(0, "2", "false"), (2_000_000, "2", "false"), (2_000_001, "8", None), (16_000_001, "9", None)],
)
def test_partitions_grow_with_the_rows_and_a_small_study_is_planned_once(session, rows, partitions, adaptive):
    found = settings_for(session, rows)
    assert (partitions, adaptive, "false") == (found[PARTITIONS], found.get(ADAPTIVE), found["spark.sql.ansi.enabled"])


def test_a_session_gets_its_settings_back_also_after_an_error(session):
    before, during = dict(session.conf), {}

    def fail():
        during.update(session.conf)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), settings(session, {PARTITIONS: "70", ADAPTIVE: "false"}):
        fail()
    assert ("70", "false") == (during[PARTITIONS], during[ADAPTIVE])
    assert before == session.conf
