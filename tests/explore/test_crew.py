"""Worker processes: cancelled between two simulations, replaced when they die, bounded in number.

The processes are real, what they do is not: jobs of this file need no engine.
"""

import asyncio
import os
import signal
import time
from contextlib import aclosing, suppress
from functools import wraps
from inspect import Signature, signature

import pytest
from tests.waiting import PATIENCE_S

pytest.importorskip("starlette", reason="starlette is not installed")

from endive.explore import crew as crew_module
from endive.explore.crew import PATIENT, PROMPT, Crew
from endive.explore.process import answered, serve_jobs


def count(until, is_cancelled):
    for number in range(until):
        time.sleep(0.01)
        yield {"type": "count", "number": number}


def die(payload, is_cancelled):
    yield {"type": "last", "process": os.getpid()}
    os.kill(os.getpid(), signal.SIGKILL)


def deaf(place, is_cancelled):
    yield {"type": "begun"}
    if place is not None:
        place.touch()  # from now on it hears nothing
    time.sleep(600)


def broken(payload, is_cancelled):
    raise ZeroDivisionError("nothing by nothing")
    yield


def main(connection, is_patient):
    """A worker with the jobs of this file."""
    connection.send((0, {"type": "ready"}))
    serve_jobs(connection, {"count": count, "die": die, "deaf": deaf, "broken": broken})


@pytest.fixture(autouse=True)
def jobs_of_this_file(monkeypatch):
    monkeypatch.setattr(crew_module, "main", main)
    monkeypatch.setattr(crew_module, "START_METHOD", "fork")
    monkeypatch.setattr(crew_module, "CANCEL_S_MAX", PATIENCE_S)


@pytest.fixture
def hasty(monkeypatch):
    """For jobs that hear nothing: who listens is given all the time that a busy machine takes."""
    monkeypatch.setattr(crew_module, "CANCEL_S_MAX", 0.5)


def with_crew(patient):
    """Run a test with a crew of one prompt and so many patient workers as its first argument."""

    def decorate(test):
        async def tried(fixtures):
            crew = Crew(patient)
            try:
                await asyncio.wait_for(test(crew, **fixtures), PATIENCE_S)
            finally:
                crew.close()

        @wraps(test)
        def run(**fixtures):
            asyncio.run(tried(fixtures))

        run.__signature__ = Signature(list(signature(test).parameters.values())[1:])  # the crew is no fixture
        return run

    return decorate


async def all_of(crew, lane, name, payload=None, client=""):
    return [event async for event in crew.run(lane, name, payload, client)]


async def until(condition):
    """Wait for a condition, however long that takes on a busy machine."""
    while not condition():
        await asyncio.sleep(0.01)


@with_crew(patient=1)
async def test_a_job_that_nobody_reads_any_more_ends_and_its_process_works_on(crew):
    async with aclosing(crew.run(PATIENT, "count", 1_000_000)) as events:
        await anext(events)
        await until(lambda: len(crew.processes) == 2)
        before = set(crew.processes)

    assert 1 == len(await all_of(crew, PATIENT, "count", 1))
    assert before == set(crew.processes)


@with_crew(patient=1)
async def test_a_process_that_does_not_stop_is_replaced(crew, hasty, tmp_path):
    async with aclosing(crew.run(PATIENT, "deaf", tmp_path / "deaf")) as events:
        await anext(events)
        await until((tmp_path / "deaf").exists)
        await until(lambda: len(crew.processes) == 2)  # the prompt one may take longer to start
        before = set(crew.processes)

    assert 2 == len(await all_of(crew, PATIENT, "count", 2))
    assert 1 == len(before & set(crew.processes))


@with_crew(patient=1)
async def test_the_server_survives_a_process_that_dies(crew):
    lost = await all_of(crew, PROMPT, "die")

    assert ["last", "failed"] == [event["type"] for event in lost]
    assert "has ended" in lost[1]["text"]
    assert [{"type": "count", "number": n} for n in range(3)] == await all_of(crew, PROMPT, "count", 3)
    assert lost[0]["process"] not in crew.processes


@with_crew(patient=1)
async def test_a_process_that_died_while_it_had_nothing_to_do_is_replaced_unseen(crew):
    for lane in (PROMPT, PATIENT):
        await all_of(crew, lane, "count", 1)
    for process in crew.processes:
        os.kill(process, signal.SIGKILL)
    await until(lambda: not any(worker.process.is_alive() for worker in crew._workers))

    assert [2, 2] == [len(await all_of(crew, lane, "count", 2)) for lane in (PROMPT, PATIENT)]


@with_crew(patient=1)
async def test_a_first_answer_does_not_wait_for_what_refines(crew, hasty):
    async with aclosing(crew.run(PATIENT, "deaf", None)) as events:
        await anext(events)

        assert 1 == len(await all_of(crew, PROMPT, "count", 1))


@with_crew(patient=1)
async def test_who_asks_first_is_served_first_however_long_it_takes(crew, monkeypatch):
    monkeypatch.setattr(crew_module, "WAIT_S", 0.005)  # many turns of the question whether there can be a process
    served, waiting = [], []

    async def ask(number):
        async for _ in crew.run(PATIENT, "count", 4, client=f"page {number}"):
            if number not in served:
                served.append(number)

    for number in range(12):
        waiting.append(asyncio.create_task(ask(number)))
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)

    assert list(range(12)) == served


@with_crew(patient=2)
async def test_one_page_cannot_take_every_process(crew, hasty):
    async with aclosing(crew.run(PATIENT, "deaf", None, client="greedy")) as first:
        await anext(first)
        greedy = asyncio.create_task(all_of(crew, PATIENT, "deaf", None, "greedy"))
        await asyncio.sleep(0)

        assert 2 == len(await all_of(crew, PATIENT, "count", 2, "modest"))
        assert not greedy.done()
        greedy.cancel()


@with_crew(patient=1)
async def test_who_no_longer_waits_leaves_the_queue(crew, hasty):
    async with aclosing(crew.run(PATIENT, "deaf", None)) as events:
        await anext(events)
        gone = asyncio.create_task(all_of(crew, PATIENT, "count", 1))
        await asyncio.sleep(0)
        gone.cancel()
        with suppress(asyncio.CancelledError):
            await gone

    assert 1 == len(await all_of(crew, PATIENT, "count", 1))
    assert [] == crew._waiting[PATIENT]


@with_crew(patient=1)
async def test_no_more_processes_than_were_planned_however_many_ask(crew):
    found = await asyncio.gather(*(all_of(crew, PATIENT, "count", 2) for _ in range(8)))

    assert [2] * 8 == [len(events) for events in found]
    assert 2 == len(crew.processes)


@pytest.fixture
def mended(monkeypatch, tmp_path):
    """Processes that never start, until there is a file of that name."""
    path = tmp_path / "mended"
    monkeypatch.setattr(crew_module, "main", lambda *given: main(*given) if path.exists() else None)
    monkeypatch.setattr(crew_module, "HIRE_AGAIN_S", 0.05)
    return path


@with_crew(patient=1)
async def test_who_waits_for_processes_that_never_start_is_told_so_and_answered_when_they_do(crew, mended):
    assert [{"type": "failed", "text": crew_module.NO_START}] == await all_of(crew, PROMPT, "count", 1)

    mended.touch()
    while (after := await all_of(crew, PROMPT, "count", 1))[0]["type"] == "failed":
        await asyncio.sleep(0.05)

    assert [{"type": "count", "number": 0}] == after


@with_crew(patient=1)
async def test_a_mistake_in_a_job_is_told_and_the_process_works_on(crew):
    told = {"type": "failed", "text": "ZeroDivisionError: nothing by nothing. This is a mistake in Endive."}

    assert [told] == await all_of(crew, PROMPT, "broken")
    assert 1 == len(await all_of(crew, PROMPT, "count", 1))


def test_a_cancelled_job_gives_no_further_event():
    assert [{"type": "count", "number": 0}] == list(answered(count, 5, lambda: True))
