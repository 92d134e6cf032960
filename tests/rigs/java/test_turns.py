"""Who orders the commits of the rig's loops: a queue lets one commit at a time, a coordinator commits for all."""

import threading
import time
from itertools import pairwise
from typing import ClassVar

import pytest

from rigs.java import loop_stage
from rigs.java.loop_stage import _Coordinator, _Queue

WRITERS = 6


class Change:
    """Stands in for an append of Java Iceberg: which files it has, and when it was committed."""

    log: ClassVar[list] = []

    def __init__(self, file):
        self.files = [file]

    def appendFile(self, file):  # noqa: N802, as Java has it
        self.files.append(file)
        return self

    def commit(self):
        begin_s = time.perf_counter()
        time.sleep(0.02)
        self.log.append((begin_s, time.perf_counter(), self.files))


@pytest.fixture
def log(monkeypatch):
    monkeypatch.setattr(Change, "log", [])
    return Change.log


def commit_all(turns):
    found = []
    threads = [
        threading.Thread(target=lambda file=file: found.append(turns(Change(file), file))) for file in range(WRITERS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20.0)
    assert [True] * WRITERS == [is_committed for is_committed, _ in found]


def test_commits_of_a_queue_come_one_after_another(log):
    commit_all(_Queue())

    spans = sorted((begin_s, end_s) for begin_s, end_s, _ in Change.log)
    assert WRITERS == len(spans)
    assert all(end_s <= begin_s for (_, end_s), (begin_s, _) in pairwise(spans))


def test_a_coordinator_commits_every_file_once_in_fewer_commits(log, monkeypatch):
    monkeypatch.setattr(loop_stage, "GATHER_EVERY_S", 0.2)
    commit_all(_Coordinator(time.perf_counter()))

    files = [file for _, _, files in Change.log for file in files]
    assert list(range(WRITERS)) == sorted(files)
    assert len(Change.log) < WRITERS
