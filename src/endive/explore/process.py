"""One worker process: takes a job, sends its events one by one, and stops between two of them when told to.

Who starts it and what happens if it dies is ``endive.explore.crew``'s. Importing it loads the engine, so that a process
forked from a server that has imported it is ready at once.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

from endive.answers.replicate import run_sample
from endive.config import parse_config
from endive.errors import EndiveError
from endive.explore.jobs import JOBS, Job
from endive.explore.runs import Cancelled, Events, IsCancelled

CANCEL = "cancel"
GIVES_WAY = 10  # of the scheduler's twenty steps


def warm_up() -> None:
    """Run a small simulation, so that the engine is compiled or read from its cache before an answer is wanted."""
    operations = {"fast_append": 1.0, "validated_overwrite": 1.0}  # the latter draws sums, whose tables take a second
    document = {"simulation": {"duration_ms": 1000.0}, "transaction": {"operation_types": operations}}
    run_sample(parse_config(document), 1)


def main(connection: Connection, is_patient: bool) -> None:
    """Load the engine, then serve jobs until the other end closes; who is patient gives way to first answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends us
    if is_patient and hasattr(os, "nice"):
        os.nice(GIVES_WAY)
    warm_up()
    connection.send((0, {"type": "ready"}))
    serve_jobs(connection, JOBS)


def serve_jobs(connection: Connection, jobs: Mapping[str, Job]) -> None:
    """One job after another; what it says goes back under the job's number, then nothing as its end."""
    while True:
        try:
            message = connection.recv()
        except EOFError:
            return
        if message[0] == CANCEL:
            continue  # came too late: that job is done
        number, name, payload = message
        try:
            for event in answer_events(jobs[name], payload, _asker(connection)):
                connection.send((number, event))
            connection.send((number, None))
        except (BrokenPipeError, ConnectionResetError):
            return


def answer_events(job: Job, payload: Any, is_cancelled: IsCancelled) -> Events:
    """Return the events of a job; what goes wrong is the last of them, in words."""
    try:
        for event in job(payload, is_cancelled):
            yield event
            if is_cancelled():
                return
    except Cancelled:
        return
    except EndiveError as error:
        yield {"type": "refused", "problems": list(getattr(error, "problems", (str(error),)))}
    except MemoryError:
        yield {"type": "failed", "text": "There is not enough memory for this configuration."}
    except Exception as error:  # a mistake of ours: the page says so and goes on
        told = " ".join(str(error).split())[:300]
        yield {"type": "failed", "text": f"{type(error).__name__}: {told}. This is a mistake in Endive."}


def _asker(connection: Connection) -> IsCancelled:
    """Return whether the job has been cancelled; looks into the pipe, where nothing else can come while a job runs."""
    seen = False

    def is_cancelled() -> bool:
        nonlocal seen
        while not seen and connection.poll():
            seen = connection.recv()[0] == CANCEL
        return seen

    return is_cancelled
