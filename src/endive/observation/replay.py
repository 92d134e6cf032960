"""This file runs an observed history through the model and holds what comes out beside what was seen.

Where a duration or a number of attempts is known it is compared, else the gaps between commits. Every figure has two
intervals: how well the history knows it, and how far equal runs of the model lie apart.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from endive.config import apply_overrides, parse_config, parse_overrides, read_toml
from endive.errors import ConfigError
from endive.observation.compared_figures import Figure, Seen, figures_of, seen_of_trace
from endive.observation.findings import REPORTS
from endive.observation.observed_folder import TRACE_FILE, read_findings, read_history
from endive.observation.replay_trace import MARGIN_MS, as_observed, loading_ms
from endive.observation.scaling import scaled
from endive.simulation import Simulation

SEEDS: Final = 20
TXNS_MAX: Final = 2_000_000  # in all runs of a replay; a long history is run with fewer seeds
OF_THE_TABLE: Final = ("partitions", "num_tables")  # keys of [catalog] that no measured profile knows
RELOAD: Final = "reload"
COLUMNS: Final = ("submit_ms", "commit_latency_ms", "total_latency_ms", "attempts")
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReplay:
    """One source: its figures, and how many of its txns the model ran in each run."""

    name: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Model beside reality."""

    table: str
    sources: tuple[SourceReplay, ...]
    runs: int
    is_changed: bool  # by --scale or --set: then a third column says what would happen

    @property
    def figures(self) -> list[tuple[str, Figure]]:
        """Every figure with its source."""
        return [(source.name, figure) for source in self.sources for figure in source.figures]

    @property
    def explains(self) -> bool:
        """Whether nothing that was seen speaks against the model."""
        return all(figure.holds or figure.is_unclear for _, figure in self.figures)

    @property
    def verdict(self) -> str:
        """One sentence: does the model explain what was seen, and if not, where."""
        unlike = [(name, figure) for name, figure in self.figures if not figure.holds]
        wrong = [(name, figure) for name, figure in unlike if not figure.is_unclear]
        total, unclear = len(self.figures), len(unlike) - len(wrong)
        if not total:
            return f"Nothing of {self.table} can be compared: its history is too short."
        if not wrong:
            short = f"; of {unclear} too few commits were seen to tell" if unclear else ""
            return (
                f"The model explains what you saw on {self.table}: {total - unclear} of {total} figures agree{short}."
            )
        worst_name, worst = max(wrong, key=lambda pair: pair[1].error)
        return (
            f"The model does not explain what you saw on {self.table}: {len(wrong)} of {total} figures disagree, most "
            f"of all {worst.name} of {worst_name} ({worst.real:,.4g} {worst.unit} seen, {worst.model:,.4g} in the "
            f"model). {worst.advice}"
        )


def replay(
    folder: Path,
    *,
    profile: str | None = None,
    catalog_profile: Path | None = None,
    assumed: Sequence[str] = (),
    scale: float = 1.0,
    overrides: Sequence[str] = (),
    seeds: int = SEEDS,
    progress: Progress = lambda done, total: None,
) -> Replay:
    """The history of one observed table, run by the model; ``scale`` and ``overrides`` add what would happen if."""
    findings = read_findings(folder)
    columns, document = read_history(folder)
    real = seen_of_trace(columns)
    given = ([f'storage.provider="{Path(profile).absolute()}"'] if profile else []) + list(assumed)
    if catalog_profile is not None:
        document["catalog"] = with_catalog(document, catalog_profile)
    document = apply_overrides(document, parse_overrides(given))
    is_changed = scale != 1.0 or bool(overrides)
    runs = max(2, min(seeds, TXNS_MAX // max(1, len(columns["source"]))))
    total = runs * (2 if is_changed else 1)
    with tempfile.TemporaryDirectory(prefix="endive-replay-") as scratch:
        observed = as_observed(_timed(document, findings), columns, Path(scratch) / TRACE_FILE)
        untold_ms = _untold_ms(observed, findings)
        base = _run(observed, runs, untold_ms, lambda done: progress(done, total))
    changed: dict[str, list[Seen]] = {}
    if is_changed:
        what_if = apply_overrides(scaled(document, scale), parse_overrides(overrides))
        changed = _run(_timed(what_if, findings), runs, untold_ms, lambda done: progress(runs + done, total))
    sources = tuple(
        SourceReplay(name=name, figures=figures_of(seen, base.get(name, []), _of_copies(changed, name)))
        for name, seen in real.items()
    )
    return Replay(table=findings["table"], sources=sources, runs=runs, is_changed=is_changed)


def with_catalog(document: Mapping[str, Any], profile: Path) -> dict[str, Any]:
    """``[catalog]`` as a profile has it; how the table is partitioned is not the catalog's, and stays."""
    measured = read_toml(profile).get("catalog")
    if not isinstance(measured, dict):
        raise ConfigError(f"'{profile}' has no [catalog]. Give the file that endive measure catalog has written.")
    kept = {key: value for key, value in document.get("catalog", {}).items() if key in OF_THE_TABLE}
    return {**measured, **kept}


def _timed(document: Mapping[str, Any], findings: Mapping[str, Any]) -> dict[str, Any]:
    """As long as the table was watched, measured as a whole, from the sizes it had at the beginning."""
    changed = apply_overrides(document, {})
    simulation = changed.setdefault("simulation", {})
    simulation |= {"duration_ms": findings["duration_ms"] + MARGIN_MS, "warmup_ms": 0.0, "cooldown_ms": 0.0}
    for source in changed["source"]:
        source.setdefault("stop_ms", findings["duration_ms"] + 1.0)
    table = changed.setdefault("table", {})
    if "initial_snapshots" in table:
        table["initial_snapshots"] = max(0, table["initial_snapshots"] - findings["commits"])
    if "initial_manifests" in table and findings.get("manifests_first") is not None:
        table["initial_manifests"] = findings["manifests_first"]
    return changed


def _untold_ms(observed: Mapping[str, Any], findings: Mapping[str, Any]) -> dict[str, float]:
    """What a duration leaves out at the end of a commit, by source.

    A report's timer stops before the table is read back (``SnapshotProducer.commit``: the timer ends, then
    ``notifyListeners`` refreshes); that takes as long as loading it. A log's duration is the caller's own.
    """
    if findings.get("durations_from") != REPORTS or parse_config(observed).commit.after_success != RELOAD:
        return {}
    return loading_ms(observed)


def _run(
    document: Mapping[str, Any], runs: int, untold_ms: Mapping[str, float], progress: Callable[[int], None]
) -> dict[str, list[Seen]]:
    """What each run of the model gives for each source; durations without what the history leaves out of them."""
    simulation = Simulation(parse_config(document))
    found: dict[str, list[Seen]] = {}
    for seed in range(runs):
        table = simulation.run(seed).transactions
        names = np.asarray(table["source"].to_pylist(), dtype=object)
        status = np.asarray(table["status"].to_pylist(), dtype=object)
        columns = {key: table[key].to_numpy(zero_copy_only=False) for key in COLUMNS}
        for name in dict.fromkeys(names.tolist()):
            own = names == name
            part = {key: each[own] for key, each in columns.items()}
            part["commit_latency_ms"] = part["commit_latency_ms"] - untold_ms.get(str(name).partition("~")[0], 0.0)
            found.setdefault(str(name), []).append(_seen(part, status[own]))
        progress(seed + 1)
    return found


def _seen(columns: Mapping[str, Any], status: Any) -> Seen:
    ended = (status == "committed") | (status == "aborted")
    made = status == "committed"
    ends_ms = columns["submit_ms"][made] + columns["total_latency_ms"][made]
    return Seen(
        times_ms=np.sort(ends_ms.astype(np.float64)),
        durations_ms=columns["commit_latency_ms"][made].astype(np.float64),
        attempts=columns["attempts"][made].astype(np.int64),
        failed=int((ended & ~made).sum()),
        ended=int(ended.sum()),
    )


def _of_copies(runs: Mapping[str, list[Seen]], name: str) -> list[Seen]:
    """A source's runs after a change; copies of it (``name~2``) are counted with it."""
    parts = [seen for key, seen in runs.items() if key == name or key.startswith(f"{name}~")]
    return [Seen.joined(each) for each in zip(*parts, strict=False)] if parts else []
