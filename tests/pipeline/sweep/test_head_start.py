"""What is simulated while Spark starts has the bytes of what Spark's workers make, and nobody depends on it."""

from __future__ import annotations

import io
import pickle
import subprocess
import time

import pytest
from tests.pipeline.in_process import InProcessSpark
from tests.pipeline.sweep.test_run_sweep import contents

from endive.errors import EngineError
from endive.pipeline import run_sweep
from endive.pipeline.sweep import head_start
from endive.pipeline.sweep.head_start import HeadStart, PartWork, work_on
from endive.pipeline.sweep.work import RunSpec, Work

PATIENCE_S = 60.0


@pytest.fixture
def expected(planned, tmp_path):
    """The dataset as Spark alone makes it."""
    run_sweep(planned(), tmp_path / "expected", InProcessSpark, engine="reference")
    return contents(tmp_path / "expected")


def parts_in(folder):
    return sorted(folder.glob("transactions/*/*.parquet"))


def session_after(folder, count):
    """A session that takes until so many parts are there."""

    def make():
        deadline_s = time.monotonic() + PATIENCE_S
        while len(parts_in(folder)) < count:
            assert time.monotonic() < deadline_s, "nobody simulates"
            time.sleep(0.05)
        return InProcessSpark()

    return make


def test_a_short_study_is_done_before_spark_has_begun(planned, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(InProcessSpark, "createDataFrame", None)
    out = tmp_path / "out"
    count = len(parts_in(tmp_path / "expected"))

    outcome = run_sweep(planned(), out, session_after(out, count), engine="reference", cores=2)

    assert (12, 0) == (outcome.simulated, len(outcome.failed))
    assert expected == contents(out)


def test_sparks_workers_do_what_is_left(planned, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(head_start, "IN_HAND_MAX_S", 0.0)
    monkeypatch.setattr(HeadStart, "wait_if_short", lambda self, limit_s: None)
    out = tmp_path / "out"

    run_sweep(planned(), out, session_after(out, 1), engine="reference", cores=2)

    assert expected == contents(out)


def test_sparks_workers_do_all_if_the_process_dies(planned, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(head_start.sys, "executable", "/bin/false")
    out = tmp_path / "out"

    run_sweep(planned(), out, InProcessSpark, engine="reference", cores=2)

    assert expected == contents(out)


def test_the_process_ends_and_its_parts_stay_if_there_is_no_session(planned, tmp_path, monkeypatch):
    started = []
    popen = head_start.subprocess.Popen

    def noted(*arguments, **options):
        started.append(popen(*arguments, **options))
        return started[0]

    monkeypatch.setattr(head_start.subprocess, "Popen", noted)
    out = tmp_path / "out"

    def no_session():
        session_after(out, 1)()
        raise EngineError("no Java")

    with pytest.raises(EngineError, match="no Java"):
        run_sweep(planned(), out, no_session, engine="reference", cores=2)

    assert started[0].returncode is not None
    assert [] == [path for path in out.rglob("*") if path.name.endswith(".tmp")]
    outcome = run_sweep(planned(), out, InProcessSpark, engine="reference")
    assert (12, True) == (outcome.simulated + outcome.kept, outcome.kept >= 1)


def test_the_process_makes_the_parts_it_is_given_and_tells_of_each(planned, tmp_path):
    (tmp_path / "transactions" / "study=small").mkdir(parents=True)
    for folder in ("latencies", "_records"):
        (tmp_path / folder / "study=small").mkdir(parents=True)
    run = planned().runs[0]
    spec = RunSpec(run.run_id, run.seed, run.config, run.config_hash, keeps_transactions=True)
    work = Work(str(tmp_path), "small", "reference", str(tmp_path / "notes"))
    answers = io.BytesIO()

    work_on(io.BytesIO(pickle.dumps(PartWork(work, "part-a", [spec], 1.0))), answers, "reference")

    assert b"ready\ndone\n" == answers.getvalue()
    assert ["part-a.parquet"] == [path.name for path in parts_in(tmp_path)]


def test_a_part_that_would_not_be_done_in_time_is_left_to_spark(planned, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(head_start, "PART_COST_MAX", 0.0)
    tried = []
    monkeypatch.setattr(head_start.pickle, "dump", lambda *arguments: tried.append(arguments))
    out = tmp_path / "out"

    run_sweep(planned(), out, InProcessSpark, engine="reference", cores=2)

    assert (expected, []) == (contents(out), tried)


def test_without_anything_to_do_its_process_ends_with_it(monkeypatch):
    start, started = subprocess.Popen, []

    def noted(*arguments, **options):
        started.append(start(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(head_start.subprocess, "Popen", noted)
    with HeadStart([], "reference") as idle:
        idle.wait_if_short(0.0)

    assert [True] == [process.returncode is not None for process in started]
