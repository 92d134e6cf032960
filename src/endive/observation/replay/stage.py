"""A history and the model that runs it: fitted to it, run beside it, compared with it.

``replay`` decides what is run; here is how.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from endive.config import apply_overrides, parse_config
from endive.observation.fitting.arrivals import quantile_table
from endive.observation.fitting.findings import REPORTS, STATEMENTS, TIMED
from endive.observation.fitting.rate_check import shift_work
from endive.observation.fitting.sources import NO_WORK
from endive.observation.folder import TRACE_FILE, TraceRow
from endive.observation.replay.figures import COUNT_MIN, Figure, Seen, figures_of, misfit, seen_of_trace
from endive.observation.replay.latency_fit import Latency, fit_latencies, write_profile
from endive.observation.replay.trace import MARGIN_MS, Trace, as_observed, loading_ms, plain_name, reads_back
from endive.simulation import Simulation

SEARCH_SEEDS: Final = 3
FIT_SEEDS: Final = (2, 4)  # at least, and of a short history at most
FIT_TXNS: Final = 2_000  # in the runs of one trial, or the fewest seeds
WORK_PASSES: Final = 2
SEARCH_TXNS_MAX: Final = 4_000  # of a history that latencies are fitted to; of a longer one the first part
COLUMNS: Final = ("submit_ms", "commit_start_ms", "total_latency_ms", "attempts")
Progress = Callable[[int], None]


def _say_nothing(runs_done: int) -> None:
    """The progress of runs that nobody waits for."""


class Stage:
    """A history, and the model that runs it."""

    def __init__(self, rows: Sequence[TraceRow], findings: Mapping[str, Any]) -> None:
        self._rows = rows
        self._findings = findings
        told = [each for each in findings.get("sources") or [] if isinstance(each, dict)]
        self._statements = frozenset(str(e["name"]) for e in told if e.get("durations_of") in (STATEMENTS, TIMED))
        self._timed = frozenset(str(e["name"]) for e in told if e.get("durations_of") == TIMED)
        split = {row.source for row in rows if row.runtime_ms is not None and row.is_committed}
        self.whole = self._statements - split  # nobody tells their work from their commits
        self._real = seen_of_trace(rows, self._statements & split)

    def first_rows(self, rows_max: int) -> Stage:
        """The same with the first rows alone."""
        return self if len(self._rows) <= rows_max else Stage(self._rows[:rows_max], self._findings)

    def run(
        self, document: Mapping[str, Any], runs: int, scratch: Path, progress: Progress = _say_nothing
    ) -> dict[str, list[Seen]]:
        """Every source begins to commit when it did."""
        trace = self._as_observed(document, scratch)
        seen = self._run(
            trace.document,
            self._untold_ms(trace.document),
            runs,
            progress,
            trace.begin_ms,
        )
        return {name: _of_copies(seen, name) for name in dict.fromkeys(map(plain_name, seen))}

    def _as_observed(self, document: Mapping[str, Any], scratch: Path) -> Trace:
        return as_observed(
            set_times(document, self._findings),
            self._rows,
            scratch / TRACE_FILE,
            statements=self._statements,
            timed=self._timed,
        )

    def run_ahead(
        self,
        document: Mapping[str, Any],
        base: Mapping[str, Any],
        runs: int,
        scratch: Path,
        progress: Progress,
    ) -> dict[str, list[Seen]]:
        """Every source submits by its fitted distribution: what would happen if."""
        untold_ms = self._untold_ms(self._as_observed(base, scratch).document)
        return self._run(set_times(document, self._findings), untold_ms, runs, progress)

    def fit(
        self, document: Mapping[str, Any], profile: Path, scratch: Path, *, is_catalog_fitted: bool
    ) -> dict[str, Any]:
        """The configuration on a store, and a catalog if nobody measured it, whose latency fits the commits seen.

        Statements whose commits nobody timed are given the work that is left of them then. If there are no others, but
        their attempts were counted, requests alone are taken to be what they wait for.
        """
        part = self.first_rows(SEARCH_TXNS_MAX)
        names = [name for name in part._real if name not in self.whole]
        is_waiting = all(len(part._real[name].durations_ms) < COUNT_MIN for name in names)
        if is_waiting:
            names = [name for name, real in part._real.items() if real.is_counted]
            document = apply_overrides(document, {})
            for source in document["source"]:
                source |= {"runtime": NO_WORK} if source["name"] in names else {}

        def with_latency(latency: Latency) -> dict[str, Any]:
            plain = {key: value for key, value in document["storage"].items() if key in ("max_parallel", "objects")}
            catalog = dict(document["catalog"])
            if latency.catalog is not None:
                catalog.pop("latency_ms", None)
                catalog["latency"] = latency.catalog
            storage = {**plain, "provider": write_profile(latency, profile)}
            return {**apply_overrides(document, {}), "storage": storage, "catalog": catalog}

        least, most = FIT_SEEDS
        seeds = max(least, min(most, FIT_TXNS // max(1, len(part._rows))))

        def run(changed: Mapping[str, Any]) -> dict[str, list[Seen]]:
            return part.run(changed, seeds, scratch)

        is_catalog_fitted = is_catalog_fitted and "latency" not in document.get("catalog", {})
        tried = []
        for latency in fit_latencies(
            part._real, names, lambda each: run(with_latency(each)), is_catalog_fitted=is_catalog_fitted
        ):
            fitted = with_latency(latency)
            if not is_waiting:
                part._share_work(fitted)
            for _ in range(WORK_PASSES if self.whole else 0):
                part._move_work(fitted, run(fitted))
            tried.append((misfit(part._judge(part.run(fitted, SEARCH_SEEDS, scratch))), latency, fitted))
        _, latency, fitted = min(tried, key=lambda each: each[0])
        write_profile(latency, profile)
        return fitted

    def _share_work(self, document: Mapping[str, Any]) -> None:
        """Of whole statements whose attempts were counted, work is no more than one attempt took."""
        for source in document["source"]:
            real = self._real.get(source["name"])
            if source["name"] in self.whole and real is not None and real.is_counted:
                source["runtime"] = quantile_table(real.per_attempt_ms.tolist())

    def _move_work(self, document: Mapping[str, Any], runs: Mapping[str, list[Seen]]) -> None:
        """Give whole statements as much more work, or less, as their medians differ; per attempt, where counted."""
        for source in document["source"]:
            real, own = self._real.get(source["name"]), runs.get(source["name"], [])
            if source["name"] in self.whole and real is not None and len(real.durations_ms) and own:
                model = Seen.joined(own)
                sides = [each.per_attempt_ms if real.is_counted else each.durations_ms for each in (real, model)]
                if len(sides[1]):
                    source["runtime"] = shift_work(source["runtime"], float(np.median(sides[0]) - np.median(sides[1])))

    def _judge(self, runs: Mapping[str, list[Seen]]) -> list[tuple[str, Figure]]:
        return [(name, figure) for name, figures in self.compare(runs, {}).items() for figure in figures]

    def compare(
        self, base: Mapping[str, list[Seen]], changed: Mapping[str, list[Seen]]
    ) -> dict[str, tuple[Figure, ...]]:
        """Model beside reality, source by source."""
        knows = bool(self._findings.get("has_outcomes", True))
        return {
            name: figures_of(seen, base.get(name, []), _of_copies(changed, name), knows_failures=knows)
            for name, seen in self._real.items()
        }

    def _untold_ms(self, observed: Mapping[str, Any]) -> dict[str, float]:
        """What a duration leaves out at the end of a commit, by source.

        A report's timer stops before the table is read back (``SnapshotProducer.commit``: the timer ends, then
        ``notifyListeners`` refreshes); that takes as long as loading it. A log's duration is the caller's own.
        """
        if not reads_back(observed):
            return {}
        if self._findings.get("durations_from") == REPORTS:
            return loading_ms(observed)
        return {name: ms for name, ms in loading_ms(observed).items() if name in self._timed} if self._timed else {}

    def _run(
        self,
        document: Mapping[str, Any],
        untold_ms: Mapping[str, float],
        runs: int,
        progress: Progress,
        begin_ms: float = 0.0,
    ) -> dict[str, list[Seen]]:
        """What each run of the model gives for each source; durations without what the history leaves out of them."""
        simulation = Simulation(parse_config(document))
        seen: dict[str, list[Seen]] = {}
        for seed in range(runs):
            table = simulation.run(seed).transactions
            names, status, reasons = (
                np.asarray(table[key].to_pylist(), dtype=object) for key in ("source", "status", "reason")
            )
            columns = {key: table[key].to_numpy(zero_copy_only=False) for key in COLUMNS}
            for name in dict.fromkeys(names.tolist()):
                own = names == name
                plain = plain_name(str(name))
                part = {key: each[own] for key, each in columns.items()}
                ends_ms = part["submit_ms"] + part["total_latency_ms"]
                begins_ms = part["submit_ms" if plain in self.whole else "commit_start_ms"]
                part["end_ms"] = begin_ms + ends_ms
                part["took_ms"] = ends_ms - untold_ms.get(plain, 0.0) - begins_ms
                seen.setdefault(str(name), []).append(_seen(part, status[own], reasons[own]))
            progress(seed + 1)
        return seen


def set_times(document: Mapping[str, Any], findings: Mapping[str, Any]) -> dict[str, Any]:
    """As long as the table was watched, measured as a whole, from the sizes it had at the beginning."""
    changed = apply_overrides(document, {})
    simulation = changed.setdefault("simulation", {})
    simulation |= {"duration_ms": findings["duration_ms"] + MARGIN_MS, "warmup_ms": 0.0, "cooldown_ms": 0.0}
    for source in changed["source"]:
        source.setdefault("stop_ms", findings["duration_ms"] + 1.0)
    table = changed.setdefault("table", {})
    if "initial_snapshots" in table:
        table["initial_snapshots"] = max(0, table["initial_snapshots"] - findings["commits"])
    if "initial_version" in changed.get("delta", {}):
        changed["delta"]["initial_version"] = max(0, changed["delta"]["initial_version"] - findings["commits"])
    if "initial_manifests" in table and findings.get("manifests_first") is not None:
        table["initial_manifests"] = findings["manifests_first"]
    return changed


def _seen(columns: Mapping[str, Any], status: Any, reasons: Any) -> Seen:
    made, lost = status == "committed", status == "aborted"
    return Seen(
        times_ms=np.sort(columns["end_ms"][made].astype(np.float64)),
        durations_ms=columns["took_ms"][made].astype(np.float64),
        attempts=columns["attempts"][made].astype(np.int64),
        failed=int(lost.sum()),
        ended=int((made | lost).sum()),
        lost_attempts=columns["attempts"][lost].astype(np.int64),
        reasons=dict(Counter(reasons[lost].tolist())),
    )


def _of_copies(runs: Mapping[str, list[Seen]], name: str) -> list[Seen]:
    """A source's runs; copies of it (``name~2``) are counted with it."""
    parts = [seen for key, seen in runs.items() if key == name or plain_name(key) == name]
    return [Seen.joined(each) for each in zip(*parts, strict=False)] if parts else []
