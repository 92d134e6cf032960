"""An observed history run through the model: what comes out beside what was seen, and if they differ, why.

Where a duration or a number of attempts is known it is compared, else the gaps between commits. Every figure has two
intervals: how well the history knows it, and how far equal runs of the model lie apart.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from endive.config import apply_overrides, parse_config, parse_overrides
from endive.observation.fitting.arrivals import quantile_table
from endive.observation.fitting.findings import REPORTS, STATEMENTS, TIMED
from endive.observation.fitting.rate_check import moved
from endive.observation.folder import STORE_FILE, TRACE_FILE, read_findings, read_history
from endive.observation.folder_memory import given_document
from endive.observation.logs.statement_log import FAILED
from endive.observation.replay.cause_search import Cause, find_cause, misfit
from endive.observation.replay.figures import COUNT_MIN, Figure, Seen, figures_of, seen_of_trace
from endive.observation.replay.latency_fit import Latency, fit_latencies, write_profile
from endive.observation.replay.scaling import scaled
from endive.observation.replay.trace import MARGIN_MS, NO_WORK, as_observed, loading_ms, reads_back
from endive.simulation import Simulation
from endive.workload.trace_file import is_empty

SEEDS: Final = 20
SEARCH_SEEDS: Final = 3
FIT_SEEDS: Final = (2, 4)  # at least, and of a short history at most
FIT_TXNS: Final = 2_000  # in the runs of one trial, or the fewest seeds
WORK_PASSES: Final = 2
SEARCH_TXNS_MAX: Final = 4_000  # of a history that is searched for a cause; of a longer one the first part
TXNS_MAX: Final = 2_000_000  # in all runs of a replay; a long history is run with fewer seeds
COLUMNS: Final = ("submit_ms", "commit_latency_ms", "total_latency_ms", "attempts")
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReplay:
    """One source and its figures."""

    name: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Model beside reality."""

    table: str
    sources: tuple[SourceReplay, ...]
    runs: int
    is_changed: bool  # by --scale or --set: then a third column says what would happen
    document: Mapping[str, Any]  # with all that was given
    cause: Cause | None = None
    is_searched: bool = False

    @property
    def figures(self) -> list[tuple[str, Figure]]:
        """Every figure with its source."""
        return [(source.name, figure) for source in self.sources for figure in source.figures]

    @property
    def wrong(self) -> list[tuple[str, Figure]]:
        """Figures that speak against the model, worst first."""
        wrong = [(name, figure) for name, figure in self.figures if not (figure.holds or figure.is_unclear)]
        return sorted(wrong, key=lambda pair: -pair[1].error)

    @property
    def explains(self) -> bool:
        """Whether something was compared, and nothing that was seen speaks against the model."""
        return bool(self.figures) and not self.wrong

    @property
    def memory(self) -> dict[str, Any]:
        """What the folder remembers of it."""
        return {
            "table": self.table,
            "explains": self.explains,
            "agree": sum(figure.holds for _, figure in self.figures),
            "unclear": sum(figure.is_unclear for _, figure in self.figures),
            "total": len(self.figures),
            "rest": [_beside(name, figure) for name, figure in self.wrong],
            "cause": None if self.cause is None else self.cause.text,
        }

    @property
    def verdict(self) -> str:
        """Does the model explain what was seen, and if not, where, and which assumption would explain most."""
        total = len(self.figures)
        unclear = sum(figure.is_unclear for _, figure in self.figures)
        if not total:
            return f"Nothing of {self.table} can be compared: its history is too short."
        if not self.wrong:
            short = f"; of {unclear} too few commits were seen to tell" if unclear else ""
            return (
                f"The model explains what you saw on {self.table}: {total - unclear} of {total} figures agree{short}."
            )
        text = (
            f"The model does not explain what you saw on {self.table}: {len(self.wrong)} of {total} figures disagree, "
            f"most of all {_beside(*self.wrong[0])}."
        )
        if self.cause is not None:
            return f"{text} {self.cause.text}"
        return f"{text} No single change of what is assumed explains more of it." if self.is_searched else text


def _beside(name: str, figure: Figure) -> str:
    return f"{figure.name} of {name} ({figure.real:,.4g} {figure.unit} seen, {figure.model:,.4g} in the model)"


def replay(
    folder: Path,
    *,
    profile: str | None = None,
    catalog_profile: Path | None = None,
    assumed: Sequence[str] = (),
    scale: float = 1.0,
    overrides: Sequence[str] = (),
    seeds: int = SEEDS,
    is_fitted: bool = False,
    is_searched: bool = True,
    progress: Progress = lambda done, total: None,
) -> Replay:
    """The history of one observed table, run by the model; ``scale`` and ``overrides`` add what would happen if.

    With ``is_fitted`` the store's latency is fitted to the commits that were seen, and the profile kept in the folder.
    """
    findings = read_findings(folder)
    columns, _ = read_history(folder)
    document = given_document(folder, profile=profile, catalog_profile=catalog_profile, assumed=assumed)
    stage = Stage(columns, findings)
    is_changed = scale != 1.0 or bool(overrides)
    runs = max(2, min(seeds, TXNS_MAX // max(1, len(columns["source"]))))
    total = runs * (2 if is_changed else 1)
    with tempfile.TemporaryDirectory(prefix="endive-replay-") as scratch:
        place = Path(scratch)
        if is_fitted:
            is_given = catalog_profile is not None or any(each.startswith("catalog.") for each in assumed)
            document = stage.fit(document, folder / STORE_FILE, place, is_catalog_fitted=not is_given)
        base = stage.run(document, runs, place, lambda done: progress(done, total))
        changed: dict[str, list[Seen]] = {}
        if is_changed:
            what_if = apply_overrides(scaled(document, scale), parse_overrides(overrides))
            changed = stage.run_ahead(what_if, document, runs, place, lambda done: progress(runs + done, total))
        result = Replay(
            table=findings["table"],
            sources=stage.compare(base, changed),
            runs=runs,
            is_changed=is_changed,
            document=document,
        )
        if not result.wrong or not is_searched:
            return result
        is_measured = bool(profile or catalog_profile or (folder / STORE_FILE).exists())
        part = stage.shortened(SEARCH_TXNS_MAX)
        cause = find_cause(document, lambda each: part.judge(each, place), place, is_measured=is_measured)
    return Replay(
        table=result.table,
        sources=result.sources,
        runs=runs,
        is_changed=is_changed,
        document=document,
        cause=cause,
        is_searched=True,
    )


class Stage:
    """A history, and the model that runs it."""

    def __init__(self, columns: Mapping[str, list[Any]], findings: Mapping[str, Any]) -> None:
        self._columns = columns
        self._findings = findings
        told = [each for each in findings.get("sources") or [] if isinstance(each, dict)]
        self._statements = frozenset(str(e["name"]) for e in told if e.get("durations_of") in (STATEMENTS, TIMED))
        self._timed = frozenset(str(e["name"]) for e in told if e.get("durations_of") == TIMED)
        split = {
            str(name)
            for name, work, outcome in zip(columns["source"], columns["runtime_ms"], columns["outcome"], strict=True)
            if not is_empty(work) and str(outcome) not in FAILED
        }
        self._whole = self._statements - split  # nobody tells their work from their commits
        self._real = seen_of_trace(columns, self._statements & split)

    def shortened(self, rows_max: int) -> Stage:
        """The same with the first rows alone."""
        if len(self._columns["source"]) <= rows_max:
            return self
        return Stage({name: cells[:rows_max] for name, cells in self._columns.items()}, self._findings)

    def run(
        self, document: Mapping[str, Any], runs: int, scratch: Path, progress: Callable[[int], None]
    ) -> dict[str, list[Seen]]:
        """Every source begins to commit when it did."""
        observed = self._as_observed(document, scratch)
        return self._run(observed, self._untold_ms(observed), runs, progress)

    def _as_observed(self, document: Mapping[str, Any], scratch: Path) -> dict[str, Any]:
        return as_observed(
            timed(document, self._findings),
            self._columns,
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
        progress: Callable[[int], None],
    ) -> dict[str, list[Seen]]:
        """Every source submits by its fitted law: what would happen if."""
        untold_ms = self._untold_ms(self._as_observed(base, scratch))
        return self._run(timed(document, self._findings), untold_ms, runs, progress)

    def fit(
        self, document: Mapping[str, Any], profile: Path, scratch: Path, *, is_catalog_fitted: bool
    ) -> dict[str, Any]:
        """The configuration on a store, and a catalog if nobody measured it, whose latency fits the commits seen.

        Statements whose commits nobody timed are given the work that is left of them then. If there are no others, but
        their attempts were counted, requests alone are taken to be what they wait for.
        """
        part = self.shortened(SEARCH_TXNS_MAX)
        names = [name for name in part._real if name not in self._whole]
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
        seeds = max(least, min(most, FIT_TXNS // max(1, len(part._columns["source"]))))

        def run(changed: Mapping[str, Any]) -> dict[str, list[Seen]]:
            return part.run(changed, seeds, scratch, lambda done: None)

        is_catalog_fitted = is_catalog_fitted and "latency" not in document.get("catalog", {})
        tried = []
        for latency in fit_latencies(
            part._real, names, lambda each: run(with_latency(each)), is_catalog_fitted=is_catalog_fitted
        ):
            fitted = with_latency(latency)
            if not is_waiting:
                part._share_work(fitted)
            for _ in range(WORK_PASSES if self._whole else 0):
                part._move_work(fitted, run(fitted))
            tried.append((misfit(part.judge(fitted, scratch)), latency, fitted))
        _, latency, fitted = min(tried, key=lambda each: each[0])
        write_profile(latency, profile)
        return fitted

    def _share_work(self, document: Mapping[str, Any]) -> None:
        """Of whole statements whose attempts were counted, work is no more than one attempt took."""
        for source in document["source"]:
            real = self._real.get(source["name"])
            if source["name"] in self._whole and real is not None and real.is_counted:
                source["runtime"] = quantile_table(real.per_attempt_ms.tolist())

    def _move_work(self, document: Mapping[str, Any], runs: Mapping[str, list[Seen]]) -> None:
        """Give whole statements as much more work, or less, as their medians differ; per attempt, where counted."""
        for source in document["source"]:
            real, own = self._real.get(source["name"]), runs.get(source["name"], [])
            if source["name"] in self._whole and real is not None and len(real.durations_ms) and own:
                model = Seen.joined(own)
                sides = [each.per_attempt_ms if real.is_counted else each.durations_ms for each in (real, model)]
                if len(sides[1]):
                    source["runtime"] = moved(source["runtime"], float(np.median(sides[0]) - np.median(sides[1])))

    def judge(self, document: Mapping[str, Any], scratch: Path) -> list[tuple[str, Figure]]:
        """The figures of a few runs."""
        comparison = self.compare(self.run(document, SEARCH_SEEDS, scratch, lambda done: None), {})
        return [(source.name, figure) for source in comparison for figure in source.figures]

    def compare(self, base: Mapping[str, list[Seen]], changed: Mapping[str, list[Seen]]) -> tuple[SourceReplay, ...]:
        """Model beside reality, source by source."""
        knows = bool(self._findings.get("has_outcomes", True))
        return tuple(
            SourceReplay(
                name=name,
                figures=figures_of(seen, base.get(name, []), _of_copies(changed, name), knows_failures=knows),
            )
            for name, seen in self._real.items()
        )

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
        progress: Callable[[int], None],
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
                plain = str(name).partition("~")[0]
                part = {key: each[own] for key, each in columns.items()}
                took = part["total_latency_ms" if plain in self._whole else "commit_latency_ms"]
                part["took_ms"] = took - untold_ms.get(plain, 0.0)
                seen.setdefault(str(name), []).append(_seen(part, status[own], reasons[own]))
            progress(seed + 1)
        return seen


def timed(document: Mapping[str, Any], findings: Mapping[str, Any]) -> dict[str, Any]:
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
    ends_ms = columns["submit_ms"][made] + columns["total_latency_ms"][made]
    return Seen(
        times_ms=np.sort(ends_ms.astype(np.float64)),
        durations_ms=columns["took_ms"][made].astype(np.float64),
        attempts=columns["attempts"][made].astype(np.int64),
        failed=int(lost.sum()),
        ended=int((made | lost).sum()),
        lost_attempts=columns["attempts"][lost].astype(np.int64),
        reasons=dict(Counter(reasons[lost].tolist())),
    )


def _of_copies(runs: Mapping[str, list[Seen]], name: str) -> list[Seen]:
    """A source's runs after a change; copies of it (``name~2``) are counted with it."""
    parts = [seen for key, seen in runs.items() if key == name or key.startswith(f"{name}~")]
    return [Seen.joined(each) for each in zip(*parts, strict=False)] if parts else []
