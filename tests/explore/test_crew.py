"""Worker processes: cancelled between two simulations, replaced when they die, bounded in number.

The processes are real, what they do is not: jobs of this file need no engine.
"""

import asyncio
import os
import signal
import time
from contextlib import aclosing, suppress

import pytest
from tests.waiting import PATIENCE_S

pytest.importorskip("starlette", reason="starlette is not installed")

from endive.explore import crew as crew_module
from endive.explore.crew import PATIENT, PROMPT, Crew
from endive.explore.process import answer_events, serve_jobs


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


def run(question, patient=1):
    """Run a coroutine with a crew of one prompt and so many patient workers."""

    async def with_crew():
        made = Crew(patient)
        try:
            return await asyncio.wait_for(question(made), PATIENCE_S)
        finally:
            made.close()

    return asyncio.run(with_crew())


async def all_of(crew, lane, name, payload=None, client=""):
    return [event async for event in crew.run(lane, name, payload, client)]


def test_a_job_that_nobody_reads_any_more_ends_and_its_process_works_on():
    async def question(crew):
        async with aclosing(crew.run(PATIENT, "count", 1_000_000)) as events:
            await anext(events)
            await until(lambda: len(crew.processes) == 2)
            before = set(crew.processes)
        after = await all_of(crew, PATIENT, "count", 1)
        return before == set(crew.processes), len(after)

    assert (True, 1) == run(question)


async def until(condition):
    """Wait for a condition, however long that takes on a busy machine."""
    while not condition():
        await asyncio.sleep(0.01)


def test_a_process_that_does_not_stop_is_replaced(hasty, tmp_path):
    async def question(crew):
        async with aclosing(crew.run(PATIENT, "deaf", tmp_path / "deaf")) as events:
            await anext(events)
            await until((tmp_path / "deaf").exists)
            await until(lambda: len(crew.processes) == 2)  # the prompt one may take longer to start
            before = set(crew.processes)
        after = await all_of(crew, PATIENT, "count", 2)
        return len(before & set(crew.processes)), len(after)

    assert (1, 2) == run(question)


def test_the_server_survives_a_process_that_dies():
    async def question(crew):
        lost = await all_of(crew, PROMPT, "die")
        after = await all_of(crew, PROMPT, "count", 3)
        return lost, after, crew.processes

    lost, after, processes = run(question)
    assert ["last", "failed"] == [event["type"] for event in lost]
    assert "has ended" in lost[1]["text"]
    assert [{"type": "count", "number": number} for number in range(3)] == after
    assert lost[0]["process"] not in processes


def test_a_process_that_died_while_it_had_nothing_to_do_is_replaced_unseen():
    async def question(crew):
        await all_of(crew, PROMPT, "count", 1)
        await all_of(crew, PATIENT, "count", 1)
        for process in crew.processes:
            os.kill(process, signal.SIGKILL)
        await until(lambda: not any(worker.process.is_alive() for worker in crew._workers))
        return [len(await all_of(crew, lane, "count", 2)) for lane in (PROMPT, PATIENT)]

    assert [2, 2] == run(question)


def test_a_first_answer_does_not_wait_for_what_refines(hasty):
    async def question(crew):
        async with aclosing(crew.run(PATIENT, "deaf", None)) as events:
            await anext(events)
            return await all_of(crew, PROMPT, "count", 1)

    assert 1 == len(run(question))


def test_who_asks_first_is_served_first_however_long_it_takes(monkeypatch):
    monkeypatch.setattr(crew_module, "WAIT_S", 0.005)  # many turns of the question whether there can be a process
    served = []

    async def ask(crew, number):
        async for _ in crew.run(PATIENT, "count", 4, client=f"page {number}"):
            if number not in served:
                served.append(number)

    async def question(crew):
        waiting = []
        for number in range(12):
            waiting.append(asyncio.create_task(ask(crew, number)))
            await asyncio.sleep(0)
        await asyncio.gather(*waiting)

    run(question)
    assert list(range(12)) == served


def test_one_page_cannot_take_every_process(hasty):
    async def question(crew):
        async with aclosing(crew.run(PATIENT, "deaf", None, client="greedy")) as first:
            await anext(first)
            greedy = asyncio.create_task(all_of(crew, PATIENT, "deaf", None, "greedy"))
            await asyncio.sleep(0)
            other = await all_of(crew, PATIENT, "count", 2, "modest")
            is_waiting = not greedy.done()
            greedy.cancel()
            return len(other), is_waiting

    assert (2, True) == run(question, patient=2)


def test_who_no_longer_waits_leaves_the_queue(hasty):
    async def question(crew):
        async with aclosing(crew.run(PATIENT, "deaf", None)) as events:
            await anext(events)
            gone = asyncio.create_task(all_of(crew, PATIENT, "count", 1))
            await asyncio.sleep(0)
            gone.cancel()
            with suppress(asyncio.CancelledError):
                await gone
        return await all_of(crew, PATIENT, "count", 1), crew._waiting[PATIENT]

    answers, waiting = run(question)
    assert (1, []) == (len(answers), waiting)


def test_no_more_processes_than_were_planned_however_many_ask():
    async def question(crew):
        found = await asyncio.gather(*(all_of(crew, PATIENT, "count", 2) for _ in range(8)))
        return [len(events) for events in found], len(crew.processes)

    assert ([2] * 8, 2) == run(question)


def test_who_waits_for_processes_that_never_start_is_told_so_and_answered_when_they_do(monkeypatch, tmp_path):
    is_mended = tmp_path / "mended"

    def often_broken(connection, is_patient):
        if is_mended.exists():
            main(connection, is_patient)

    async def question(crew):
        told = await all_of(crew, PROMPT, "count", 1)
        is_mended.touch()
        while (after := await all_of(crew, PROMPT, "count", 1))[0]["type"] == "failed":
            await asyncio.sleep(0.05)
        return told, after

    monkeypatch.setattr(crew_module, "main", often_broken)
    monkeypatch.setattr(crew_module, "HIRE_AGAIN_S", 0.05)
    told, after = run(question)
    assert [{"type": "failed", "text": crew_module.NO_START}] == told
    assert [{"type": "count", "number": 0}] == after


def test_a_mistake_in_a_job_is_told_and_the_process_works_on():
    async def question(crew):
        return await all_of(crew, PROMPT, "broken"), await all_of(crew, PROMPT, "count", 1)

    told, after = run(question)
    assert [{"type": "failed", "text": "ZeroDivisionError: nothing by nothing. This is a mistake in Endive."}] == told
    assert 1 == len(after)


def test_a_cancelled_job_gives_no_further_event():
    assert [{"type": "count", "number": 0}] == list(answer_events(count, 5, lambda: True))
