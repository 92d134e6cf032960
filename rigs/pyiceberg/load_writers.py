"""Drives real PyIceberg under load: closed-loop writers on one table, every request delayed, everything measured.

What a span is lives in ``spans``, the comparison in ``verification.suites.pyiceberg``.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any, Final

import pyiceberg
from pyiceberg.exceptions import CommitFailedException

from rigs.pyiceberg.journal import DELETE, HEAD, READ, WRITE, Journal
from rigs.pyiceberg.journalled_catalog import JournalledCatalog, journalled_backoff
from rigs.pyiceberg.spans import QUANTILES, spans
from rigs.pyiceberg.story_stage import SCHEMA, SPEC, TABLE, append, data_file
from verification.recordings import pool, quantiles, today

WRITERS: Final = (1, 2, 4, 8, 16)
DELAYS_MS: Final = {READ: 20.0, HEAD: 10.0, WRITE: 30.0, DELETE: 20.0}
_START_AFTER_S: Final = 0.2  # from the moment every writer is ready
# The log of former metadata files is kept short: what a client works on its metadata grows slower with every commit.
_PROPERTIES: Final = {"write.metadata.previous-versions-max": "1"}
_SHARED_MEMORY: Final = Path("/dev/shm")


def writer(number: int, folder: str, duration_s: float, ready: Any, start: Any, answers: Queue[Any]) -> None:
    """One closed-loop writer: load the table, append, again. The clock is the same in every process (Linux)."""
    logging.getLogger("pyiceberg").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    journal = Journal()
    catalog = JournalledCatalog(f"writer-{number}", Path(folder), journal)
    own = catalog.create_table(f"db.warm_{number}", SCHEMA, partition_spec=SPEC)
    append(own, data_file(0, 0, "first"))
    append(own, data_file(0, 0, "second"))  # connections are open, code is imported
    journal.delays_ms = DELAYS_MS
    txns: list[tuple[float, float, float, int, bool]] = []
    measured: dict[str, list[float]] = {}
    ready.wait()
    begin_s = start.get()
    end_s = begin_s + duration_s
    time.sleep(max(0.0, begin_s - time.perf_counter()))
    with journalled_backoff(journal):
        while (submit_s := time.perf_counter()) < end_s:
            journal.clear()
            table = catalog.load_table(TABLE)
            commit_s = time.perf_counter()
            journal.attempt = 1
            is_committed = True
            try:
                append(table, data_file(number, 0, f"{number}-{len(txns)}"))
            except CommitFailedException:
                is_committed = False
            last_s = time.perf_counter()
            txns.append((submit_s - begin_s, commit_s - begin_s, last_s - begin_s, journal.attempt, is_committed))
            for name, took_ms in spans(journal.requests, journal.pauses, submit_s, last_s):
                measured.setdefault(name, []).append(took_ms)
    answers.put((txns, measured))


def run(writers: int, duration_s: float) -> tuple[list[Any], dict[str, list[float]]]:
    """One repetition of one cell: every txn, and every span by its name."""
    context = multiprocessing.get_context("fork")  # PyIceberg notices a fork; importing it anew takes seconds
    with tempfile.TemporaryDirectory(dir=_SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None) as folder:
        catalog = JournalledCatalog("setup", Path(folder), Journal())
        catalog.create_namespace("db")
        table = catalog.create_table(TABLE, SCHEMA, partition_spec=SPEC, properties=_PROPERTIES)
        append(table, data_file(0, 0, "first"))
        catalog.engine.dispose()
        answers, start, ready = context.Queue(), context.Queue(), context.Barrier(writers + 1)
        processes = [
            context.Process(target=writer, args=(number, folder, duration_s, ready, start, answers))
            for number in range(writers)
        ]
        for process in processes:
            process.start()
        ready.wait()
        begin_s = time.perf_counter() + _START_AFTER_S
        for _ in processes:
            start.put(begin_s)
        found = [answers.get() for _ in processes]
        for process in processes:
            process.join()
    measured: dict[str, list[float]] = {}
    for _, part in found:
        pool(measured, part)
    return [txn for txns, _ in found for txn in txns], measured


def measure(writers: int, duration_s: float, repetitions: int) -> dict[str, Any]:
    """One cell: the txns of every repetition (ms, rounded), and the quantiles of what each kind of request took."""
    runs = []
    pooled: dict[str, list[float]] = {}
    for _ in range(repetitions):
        txns, measured = run(writers, duration_s)
        rows = [
            [round(1e3 * submit), round(1e3 * commit), round(1e3 * end), attempts, int(is_committed)]
            for submit, commit, end, attempts, is_committed in sorted(txns)
        ]
        runs.append({"loadavg": round(os.getloadavg()[0], 2), "txns": rows})
        pool(pooled, measured)
        print(f"{writers} writers: {len(rows)} txns, load {runs[-1]['loadavg']}", file=sys.stderr, flush=True)
    return {
        "writers": writers,
        "duration_ms": round(1e3 * duration_s),
        "runs": runs,
        "spans": {
            name: {"count": len(v), "quantiles_ms": quantiles(v, QUANTILES, 3)} for name, v in sorted(pooled.items())
        },
    }


def measure_all(seconds: float, repetitions: int, writers: Sequence[int] = WRITERS) -> dict[str, Any]:
    """Every cell, and what they have in common."""
    cells = [measure(count, seconds, repetitions) for count in writers]
    return {
        "pyiceberg": pyiceberg.__version__,
        "recorded": today(),
        "cores": os.cpu_count(),
        "delays_ms": DELAYS_MS,
        "quantiles": QUANTILES,
        "cells": cells,
    }
