"""The page of one run: what became of every source, its latencies, its phases, its attempts, and commits over time.

One HTML file without a script; the charts are pictures inside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from endive.answers.headline import headline_of
from endive.config import SimulationConfig, load_simulation_config
from endive.config.printable import printable_values
from endive.config.slo import objective_of
from endive.errors import IntakeError, OutputError
from endive.intake import parse_json, read_bytes
from endive.objectives import Estimate, Subject, judge
from endive.objectives.duration import duration_text
from endive.objectives.names import KIND, SOURCE, TABLE
from endive.report.charts.chart import Spec
from endive.report.charts.chart_files import to_svg
from endive.report.charts.run_chart import (
    BINS,
    Late,
    apply_theme,
    attempt_spec,
    freshness_spec,
    latency_spec,
    lateness_spec,
    phase_spec,
    time_spec,
)
from endive.report.words import number, percent, show
from endive.results.folder import CONFIG_FILE, SUMMARY_FILE, TRANSACTIONS_FILE
from endive.results.freshness import Ages, Stream, ages_at, ages_of
from endive.results.window import Window
from endive.workload.streams import streams_of

MOMENTS: Final = 300  # of a run at which it is looked how late data are
SUMMARY_BYTES_MAX: Final = 64 * 2**20
_COLUMNS: Final = [
    *("source", "client", "status", "reason", "submit_ms", "end_ms", "commit_latency_ms", "attempts"),
    "commits_untold",
]
# A browser's letters may be wider than those the pictures were laid out with.
_STYLE: Final = (Path(__file__).parent / "assets" / "page.css").read_text(encoding="utf-8") + "svg{overflow:visible}"


def is_run_folder(folder: Path) -> bool:
    """Return whether ``endive run --out`` has filled a folder."""
    return (folder / SUMMARY_FILE).is_file() and (folder / TRANSACTIONS_FILE).is_file()


def run_page(folder: Path, slo: str | None = None) -> tuple[str, tuple[str, ...]]:
    """Return the whole page, and its answer in lines for a terminal."""
    summary, txns = _read(folder)
    config = load_simulation_config(folder / CONFIG_FILE)
    verdict = judge(objective_of(config, slo), lambda subject: _figure(summary, subject))
    blocks = summary["by_source"]
    headline = headline_of(verdict, tuple(blocks), lambda name: blocks[name]["success_rate"])
    warnings = [f"warning: {text}" for text in summary["warnings"]]
    sources = [f"{name}: {_counts(block)}" for name, block in summary["by_source"].items()]
    lines = (f"{folder.name}: seed {summary['seed']}, one run", headline, *sources, *warnings)
    title = summary.get("label") or folder.name
    charts = _charts(summary, config, txns)
    figures = [
        f'<figure class="wide"><figcaption><h3>{escape(name)}</h3><p>{escape(reading)}</p></figcaption>'
        f'<div role="img" aria-label="{escape(name)}">{to_svg(apply_theme(spec))}</div></figure>'
        for name, reading, spec in charts
    ]
    page = (
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(str(title))} · Endive</title><style>{_STYLE}</style></head>",
        f'<body><header><p class="brand">Endive <span>one run</span></p><h1>{escape(str(title))}</h1></header><main>',
        f'<div class="answer"><p><strong>{escape(headline)}</strong></p>{_table(summary)}{_identity(summary)}</div>',
        *_warnings(summary),
        '<details class="simulated"><summary>What was simulated</summary>'
        f"<pre>{escape((folder / CONFIG_FILE).read_text(encoding='utf-8'))}</pre></details>",
        *figures,
        "</main></body></html>",
    )
    return "\n".join(page) + "\n", lines


def _read(folder: Path) -> tuple[dict[str, Any], pa.Table]:
    try:
        content = read_bytes(folder / SUMMARY_FILE, bytes_max=SUMMARY_BYTES_MAX, noun="a summary")
        summary = printable_values(parse_json(content, name=SUMMARY_FILE, bytes_max=SUMMARY_BYTES_MAX))
        _ = summary["summary"], summary["by_source"], summary["window"], summary["seed"]
        return summary, pq.ParquetFile(folder / TRANSACTIONS_FILE).read(columns=_COLUMNS)
    except (OSError, ValueError, KeyError, TypeError, IntakeError, pa.ArrowException) as error:
        raise OutputError(f"{folder} is damaged: its run cannot be read ({error}). Run it again.") from None


def _figure(summary: Mapping[str, Any], subject: Subject) -> Estimate:
    """Return a figure of the run; one seed has no interval here."""
    blocks = {SOURCE: "by_source", KIND: "by_operation", TABLE: "by_table"}
    block: Any = summary["summary"] | {"requests": summary["requests"]}
    if subject.name:
        block = summary.get(blocks[subject.scope], {}).get(subject.name)
    for part in subject.field.path:
        block = None if block is None else block.get(part)
    return Estimate(None if block is None else float(block), runs=1)


def _counts(block: Mapping[str, Any]) -> str:
    txns = block["txns"]
    aborted = [f"{count:,} {reason.replace('_', ' ')}" for reason, count in txns["aborted"].items() if count]
    ended = txns["committed"] + sum(txns["aborted"].values())
    return ", ".join([f"{txns['committed']:,} of {ended:,} committed", *aborted])


def _table(summary: Mapping[str, Any]) -> str:
    blocks = summary["by_source"]
    late_ms: dict[str, Any] = {name: (block.get("freshness_ms") or {}).get("p95") for name, block in blocks.items()}
    late = {name: "-" if ms is None else duration_text(ms) for name, ms in late_ms.items()}
    heads = ["source", "txns", "success", "commits", "P50 (ms)", "P95 (ms)", "P99 (ms)"]
    has_streams = any(text != "-" for text in late.values())
    heads += ["stale, P95"] * has_streams
    rows = ""
    for name, block in blocks.items():
        cells = [
            escape(_counts(block)),
            percent(block["success_rate"]),
            show("committed_per_s", block["committed_per_s"]),
        ]
        cells += [number(block["commit_latency_ms"][part]) for part in ("p50", "p95", "p99")]
        cells += [late[name]] * has_streams
        rows += f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return f"<table><caption>Every source</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _identity(summary: Mapping[str, Any]) -> str:
    text = (
        f"Seed {summary['seed']}, engine {summary['engine']}, configuration {summary['config_hash']}, fingerprint "
        f"{summary['fingerprint']}. Latencies are of txns that committed."
    )
    return f'<p class="small">{escape(text)}</p>'


def _warnings(summary: Mapping[str, Any]) -> list[str]:
    if not summary["warnings"]:
        return []
    items = "".join(f"<li>{escape(text)}</li>" for text in summary["warnings"])
    return [f'<div class="cautions" role="note"><h3>Warnings</h3><ul>{items}</ul></div>']


# ---- charts ------------------------------------------------------------------------------------------------


def in_window(txns: pa.Table, window: Mapping[str, Any]) -> pa.Table:
    """Return the txns that count: those submitted between warm-up and cool-down."""
    submitted_ms = txns["submit_ms"]
    return txns.filter(
        pc.and_(pc.greater_equal(submitted_ms, window["start_ms"]), pc.less(submitted_ms, window["end_ms"]))
    )


def ages_by_source(config: SimulationConfig, txns: pa.Table) -> dict[str, Ages]:
    """Return how late the data of every stream are."""
    times = config.simulation
    window = Window.of_ms(duration_ms=times.duration_ms, warmup_ms=times.warmup_ms, cooldown_ms=times.cooldown_ms)
    return {name: ages_of(stream, window, own) for name, stream, own in _streams(config, txns)}


def late_by_source(config: SimulationConfig, txns: pa.Table) -> dict[str, Late]:
    """Return the same at moments of the whole run, from the first to the last."""
    moments_us = np.linspace(0.0, config.simulation.duration_ms * 1000.0, MOMENTS + 1).astype(np.int64)[1:]
    late = {}
    for name, stream, own in _streams(config, txns):
        there_us = moments_us[moments_us > stream.start_us]
        if len(there_us):
            late[name] = Late(there_us, ages_at(stream, own, there_us), stream.bound_us)
    return late


def _streams(config: SimulationConfig, txns: pa.Table) -> Iterator[tuple[str, Stream, pa.Table]]:
    """Yield every stream with its name and its own txns."""
    for stream in streams_of(config):
        name = config.sources[stream.source].name
        yield name, stream, txns.filter(pc.equal(txns["source"], name))


def _charts(summary: Mapping[str, Any], config: SimulationConfig, txns: pa.Table) -> list[tuple[str, str, Spec]]:
    names = list(summary["by_source"])
    window = summary["window"]
    counted = in_window(txns, window)
    phases = {name: block["phases_ms"] for name, block in summary["by_source"].items()}
    is_bounded = any(stream.bound_us is not None for stream in streams_of(config))
    ages = "Share of time in which the newest visible data were no older"
    worst = "Age of the newest visible data, of the job that is furthest behind and of the median one."
    bins = f"Commits of each source in {BINS} bins of time, warm-up and cool-down included."
    tries = "Attempts per transaction, as a share of those of its source that ended."
    latencies = "Share of committed transactions of each source that were faster."
    parts = "Mean time of a committed transaction in each phase of its commit."
    charts = [
        ("Commit latency", latencies, latency_spec(counted, names)),
        ("Commits over simulated time", bins, time_spec(txns, names, float(window["duration_ms"]))),
        (
            "Data staleness",
            f"{ages}; dashed: the bound." if is_bounded else f"{ages}.",
            freshness_spec(ages_by_source(config, txns)),
        ),
        ("Data staleness over simulated time", worst, lateness_spec(late_by_source(config, txns))),
        ("Attempts", tries, attempt_spec(counted, names)),
        ("Commit latency by phase", parts, phase_spec(phases)),
    ]
    return [chart for chart in charts if chart[2]["data"]["values"]]
