"""The txns of one file, counted: by bins of simulated time, and by outcome, attempts and n_behind.

This file defines both counts and reads each row group once, so memory does not grow with the file. It runs in a worker
and knows no Spark. All numbers are whole, so counts of files may be added in any order. What is made of them is in
``endive.pipeline.analysis.rates_over_time`` and ``histograms``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from endive.pipeline.analysis.octave_halves import BINS, place_of_count, smallest_count
from endive.pipeline.analysis.scopes import by_scope, summed
from endive.results.schema import Ints

COLUMNS: Final = (
    *("run_id", "source", "kind", "status", "submit_ms", "end_ms", "commit_latency_ms"),
    *("attempts", "n_behind_first", "phase_history_ms", "history_lists"),
)
TIME_SUMS: Final = ("submitted", "committed", "aborted", "latency_us", "latency_txns")
TIMELINE_SUMS: Final = (*TIME_SUMS, "committed_squared")
OUTCOME_KEYS: Final = ("kind", "source", "is_committed", "attempts_low", "n_behind_low")
OUTCOME_SUMS: Final = ("txns", "attempts", "n_behind", "history_lists", "phase_history_us", "commit_us")
NO_HISTORY: Final = -1  # in the place of n_behind_low, of txns that read none

_COMMITTED, _ABORTED, _IN_FLIGHT = range(3)
_STATUS: Final = {"committed": _COMMITTED, "aborted": _ABORTED, "in_flight": _IN_FLIGHT}

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRun:
    """What counting has to know of a run."""

    point: int
    duration_us: int
    window_start_us: int
    window_end_us: int


def count_txns(file: Any, runs: Mapping[str, CountedRun], bins: int) -> tuple[pa.Table, pa.Table]:
    """The two counts of a Parquet file's txns: by bins of time, and by outcome. Txns of other runs are left out.

    The first has ``point``, ``scope``, ``name``, ``bin`` and ``TIMELINE_SUMS``, of which ``committed_squared`` is the
    square of each run's commits; the second ``point``, ``OUTCOME_KEYS`` and ``OUTCOME_SUMS``.
    """
    names = list(runs)
    times, outcomes = [_NO_TIMES], [_NO_OUTCOMES]
    for number in range(file.num_row_groups):
        rows = file.read_row_group(number, columns=list(COLUMNS), use_threads=False).combine_chunks()
        txns = _Txns.of(rows, names, list(runs.values()))
        times.append(_by_time(txns, bins))
        outcomes.append(_by_outcome(txns))
    keys = ["run", "kind", "source", "bin"]
    of_runs = by_scope(summed(pa.concat_tables(times), keys, TIME_SUMS), ["run", "bin"], TIME_SUMS)
    of_runs = of_runs.append_column("committed_squared", pc.multiply(of_runs["committed"], of_runs["committed"]))
    timeline = summed(_with_point(of_runs, runs), ["point", "scope", "name", "bin"], TIMELINE_SUMS)
    by_outcome = summed(_with_point(pa.concat_tables(outcomes), runs), ["point", *OUTCOME_KEYS], OUTCOME_SUMS)
    return timeline, by_outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class _Txns:
    """Txns as arrays of whole numbers; names are places in ``labels``."""

    run: Ints
    kind: Ints
    source: Ints
    status: Ints
    submit_us: Ints
    end_us: Ints
    has_ended: Bools
    commit_us: Ints
    attempts: Ints
    n_behind: Ints  # NO_HISTORY if it is not known
    history_lists: Ints
    history_us: Ints
    is_in_window: Bools
    duration_us: Ints
    kinds: Sequence[str]
    sources: Sequence[str]

    @classmethod
    def of(cls, rows: pa.Table, names: Sequence[str], runs: Sequence[CountedRun]) -> _Txns:
        run, run_names = _codes(rows["run_id"])
        place = np.array([names.index(name) if name in names else -1 for name in run_names], np.int64)[run]
        if (place < 0).any():
            return cls.of(rows.filter(pa.array(place >= 0)), names, runs)
        kind, kinds = _codes(rows["kind"])
        source, sources = _codes(rows["source"])
        status, statuses = _codes(rows["status"])
        facts = np.array([(one.duration_us, one.window_start_us, one.window_end_us) for one in runs], np.int64)
        duration_us, start_us, end_us = facts[place].T
        submit_us = _us(rows["submit_ms"])
        return cls(
            run=place,
            kind=kind,
            source=source,
            status=np.array([_STATUS[name] for name in statuses], np.int64)[status],
            submit_us=submit_us,
            end_us=_us(rows["end_ms"]),
            has_ended=rows["end_ms"].is_valid().to_numpy(),
            commit_us=_us(rows["commit_latency_ms"]),
            attempts=_ints(rows["attempts"], 0),
            n_behind=_ints(rows["n_behind_first"], NO_HISTORY),
            history_lists=_ints(rows["history_lists"], 0),
            history_us=_us(rows["phase_history_ms"]),
            is_in_window=(submit_us >= start_us) & (submit_us < end_us),
            duration_us=duration_us,
            kinds=kinds,
            sources=sources,
        )


def _by_time(txns: _Txns, bins: int) -> pa.Table:
    """``run``, ``kind``, ``source``, ``bin``, ``TIME_SUMS``: submissions and latency in one bin, ends in another."""
    submit_bin = np.minimum(txns.submit_us * bins // txns.duration_us, bins - 1)
    end_bin = np.where(txns.has_ended, np.minimum(txns.end_us * bins // txns.duration_us, bins - 1), bins)
    shape = (len(txns.kinds), len(txns.sources), len(_STATUS), bins, bins + 1)
    cell = _packed((txns.run, txns.kind, txns.source, txns.status, submit_bin, end_bin), shape)
    is_committed = txns.status == _COMMITTED
    counts = _counted(cell, {"commit_us": np.where(is_committed, txns.commit_us, 0)})
    run, kind, source, status, submit_bin, end_bin = _unpacked(counts["cell"].to_numpy(), shape)
    count, latency_us = counts["txns"].to_numpy(), counts["commit_us"].to_numpy()
    commits = np.where(status == _COMMITTED, count, 0)
    aborts = np.where(status == _ABORTED, count, 0)
    zero = np.zeros_like(count)
    labels = {"run": run, "kind": _names(kind, txns.kinds), "source": _names(source, txns.sources)}
    submission = (count, zero, zero, latency_us, commits)
    end = (zero, commits, aborts, zero, zero)
    begun = _table(labels, "bin", submit_bin, TIME_SUMS, submission)
    ended = _table(labels, "bin", end_bin, TIME_SUMS, end).filter(pa.array(end_bin < bins))
    return summed(pa.concat_tables([begun, ended]), [*labels, "bin"], TIME_SUMS)


def _by_outcome(txns: _Txns) -> pa.Table:
    """``run``, ``OUTCOME_KEYS`` and ``OUTCOME_SUMS`` of the window's txns that ended."""
    chosen = np.flatnonzero(txns.is_in_window & (txns.status != _IN_FLIGHT))
    reads_history = (txns.history_lists > 0) & (txns.n_behind >= 0)
    behind = np.where(reads_history, place_of_count(np.maximum(txns.n_behind, 0)) + 1, 0)
    shape = (len(txns.kinds), len(txns.sources), 2, BINS, BINS + 1)
    is_committed = (txns.status == _COMMITTED).astype(np.int64)
    keys = (txns.run, txns.kind, txns.source, is_committed, place_of_count(txns.attempts), behind)
    amounts = {
        "attempts": txns.attempts,
        "n_behind": np.maximum(txns.n_behind, 0),
        "history_lists": txns.history_lists,
        "phase_history_us": txns.history_us,
        "commit_us": txns.commit_us,
    }
    cell = _packed([key[chosen] for key in keys], shape)
    counts = _counted(cell, {name: amount[chosen] for name, amount in amounts.items()})
    run, kind, source, committed, attempts, behind = _unpacked(counts["cell"].to_numpy(), shape)
    found = {
        "run": run,
        "kind": _names(kind, txns.kinds),
        "source": _names(source, txns.sources),
        "is_committed": committed,
        "attempts_low": smallest_count(attempts),
        "n_behind_low": np.where(behind > 0, smallest_count(np.maximum(behind - 1, 0)), NO_HISTORY),
    }
    return pa.table({**found, **{name: counts[name] for name in OUTCOME_SUMS}})


# ---- arithmetic --------------------------------------------------------------------------------------


def _packed(keys: Iterable[Ints], shape: Sequence[int]) -> Ints:
    """Several keys as one number: the first has no bound, the others lie below ``shape``."""
    first, *others = keys
    cell = first
    for key, size in zip(others, shape, strict=True):
        cell = cell * size + key
    return cell


def _unpacked(cell: Ints, shape: Sequence[int]) -> list[Ints]:
    found: list[Ints] = []
    for size in reversed(shape):
        cell, key = np.divmod(cell, size)
        found.append(key)
    return [cell, *reversed(found)]


def _counted(cell: Ints, amounts: Mapping[str, Ints]) -> pa.Table:
    """``cell``, ``txns`` and the sums of ``amounts``."""
    ones = np.ones(len(cell), np.int64)
    return summed(pa.table({"cell": cell, "txns": ones, **amounts}), ["cell"], ["txns", *amounts])


def _codes(column: pa.ChunkedArray) -> tuple[Ints, list[str]]:
    """Names as places in a list of them."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), encoded.dictionary.to_pylist()


def _names(codes: Ints, names: Sequence[str]) -> pa.Array:
    return pa.array(names, pa.string()).take(pa.array(codes))


def _us(column: pa.ChunkedArray) -> Ints:
    """Milliseconds as the whole microseconds they were made from; 0 for null."""
    found: Ints = (pc.fill_null(column, 0.0).to_numpy() * 1000.0 + 0.5).astype(np.int64)
    return found


def _ints(column: pa.ChunkedArray, missing: int) -> Ints:
    found: Ints = pc.fill_null(column, missing).to_numpy().astype(np.int64)
    return found


def _table(labels: Mapping[str, Any], key: str, places: Ints, names: Sequence[str], values: Sequence[Ints]) -> pa.Table:
    return pa.table({**labels, key: places, **dict(zip(names, values, strict=True))})


def _with_point(counts: pa.Table, runs: Mapping[str, CountedRun]) -> pa.Table:
    points = np.array([run.point for run in runs.values()], np.int32)
    return counts.append_column("point", pa.array(points[counts["run"].to_numpy()], pa.int32()))


def _empty(texts: Sequence[str], numbers: Sequence[str]) -> pa.Table:
    fields = [("run", pa.int64()), *((name, pa.string()) for name in texts), *((name, pa.int64()) for name in numbers)]
    return pa.schema(fields).empty_table()


_NO_TIMES: Final = _empty(("kind", "source"), ("bin", *TIME_SUMS))
_NO_OUTCOMES: Final = _empty(("kind", "source"), (*OUTCOME_KEYS[2:], *OUTCOME_SUMS))
