"""The totals of a run as tables on a terminal.

Every figure comes from the JSON object of the run, except shares of it. What is said about each source lives in
``endive.cli.run_text``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from rich import box
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from endive.answers.format_words import ALWAYS_TOLD, ALWAYS_TOLD_OF_DELTA, is_delta, phase_name
from endive.objectives.verdict_text import NOTHING, PER_HOUR_BELOW

_BAR_COLUMNS: Final = 24


def total_tables(document: Mapping[str, Any]) -> Iterable[RenderableType]:
    """Yield the tables, and the line that names the run."""
    yield _summary(document)
    operations = document.get("by_operation", ())  # none of a run in which nothing was submitted
    if len(operations) > 1:
        yield _groups("By operation", "operation", operations)
    if document["summary"]["txns"]["committed"]:
        yield _phases(document["summary"]["phases_ms"], is_delta(document["protocol"]))
    if document["requests"]["total"]:
        yield _requests(document["requests"])
    yield Text(_identity(document), style="dim")


def _identity(document: Mapping[str, Any]) -> str:
    seeds = document["seeds"]
    named = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    config = f"protocol {document['protocol']}  config {document['config_hash'][:12]}"
    if "fingerprint" not in document:
        return f"{named}  {config}"
    of = "" if len(seeds) == 1 else f" of seed {document['seed']}"
    return f"{named}  engine {document['engine']}  {config}  fingerprint{of} {document['fingerprint']}"


def new_table(title: str, *columns: str, show_header: bool = True) -> Table:
    """Return an empty table in the house style; a column whose name begins with ``>`` stands to the right."""
    table = Table(
        title=escape(title),
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD if show_header else box.SIMPLE,
        show_header=show_header,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for name in columns:
        table.add_column(name.removeprefix(">"), justify="right" if name.startswith(">") else "left")
    return table


def _summary(document: Mapping[str, Any]) -> Table:
    summary = document["summary"]
    window = document["window"]
    txns = summary["txns"]
    table = new_table("All sources together", "", "", show_header=False)
    runs = len(document.get("seeds", (0,)))
    table.add_row(
        "window",
        f"{runs:,} runs, each " * (runs > 1) + f"{window['start_ms'] / 1e3:,.0f} to {window['end_ms'] / 1e3:,.0f} s of "
        f"{window['duration_ms'] / 1e3:,.0f} s simulated; txns submitted in it count",
    )
    table.add_row("offered", rate_words(summary["offered_per_s"], " txns"))
    table.add_row(
        "committed",
        f"{rate_words(summary['committed_per_s'], ' txns')}   "
        f"({rate_words(summary['committed_in_window_per_s'], ' ')} ended inside the window)",
    )
    table.add_row("success rate", share(summary["success_rate"]))
    table.add_row("commit latency", _latency(summary["commit_latency_ms"]))
    table.add_row("total latency", _latency(summary["total_latency_ms"]))
    table.add_row("retries, mean", number(summary["retries_mean"], 2))
    table.add_row("txns", f"{txns['submitted']:,} submitted, {txns['committed']:,} committed")
    told = ALWAYS_TOLD_OF_DELTA if is_delta(document["protocol"]) else ALWAYS_TOLD
    aborted = {reason: count for reason, count in txns["aborted"].items() if count or reason in told}
    table.add_row("  aborted", _counts(aborted))
    table.add_row("  in flight", _counts(txns["in_flight"]))
    return table


def _latency(latency: Mapping[str, float | None]) -> str:
    return (
        f"P50 {ms(latency['p50'])}   P95 {ms(latency['p95'])}   P99 {ms(latency['p99'])}   "
        f"mean {ms(latency['mean'])} ms"
    )


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items())


def _groups(title: str, heading: str, blocks: Mapping[str, Mapping[str, Any]]) -> Table:
    figures = (">offered/s", ">commits/s", ">success", ">retries", ">P50", ">P95", ">P99")
    table = new_table(f"{title}; commit latency in ms", heading, *figures)
    for name, block in blocks.items():
        latency = block["commit_latency_ms"]
        table.add_row(
            escape(name),
            rate(block["offered_per_s"]),
            rate(block["committed_per_s"]),
            share(block["success_rate"]),
            number(block["retries_mean"], 2),
            *(ms(latency[percentile]) for percentile in ("p50", "p95", "p99")),
        )
    return table


def _phases(phases_ms: Mapping[str, float], is_delta: bool) -> Table:
    """Return shares are of the commit; runtime is the txn's own work and stands below for comparison."""
    table = new_table("Where commit latency goes, on average", "phase", ">ms", ">share", "")
    commit_ms = sum(mean_ms for phase, mean_ms in phases_ms.items() if phase != "runtime")
    for phase, mean_ms in phases_ms.items():
        if phase == "runtime" or not mean_ms:
            continue
        part = mean_ms / commit_ms
        bar = "█" * max(1, round(part * _BAR_COLUMNS))
        table.add_row(phase_name(phase, is_delta), ms(mean_ms), share(part), Text(bar, style="cyan"))
    table.add_row("runtime", ms(phases_ms["runtime"]), "", "")
    return table


def _requests(requests: Mapping[str, Any]) -> Table:
    table = new_table("Requests", "object", "operation", ">count", ">per commit")
    total, per_commit = requests["total"], requests["per_committed_txn"]

    def of_commit(count: int) -> str:
        return number(None if per_commit is None else per_commit * count / total, 2)

    for name, by_operation in requests["counts"].items():
        for operation, count in by_operation.items():
            table.add_row(name.replace("_", " "), operation.replace("_", " "), f"{count:,}", of_commit(count))
    table.add_section()
    table.add_row("all", "", f"{total:,}", of_commit(total))
    table.caption = f"{size(requests['bytes_read'])} read, {size(requests['bytes_written'])} written"
    table.caption_justify = "left"
    return table


def print_warnings(console: Console, warnings: Iterable[str]) -> None:
    """What a reader must know before he trusts the figures."""
    for warning in warnings:
        console.print(Text.assemble(("warning: ", "bold yellow"), warning))


def number(value: float | None, digits: int) -> str:
    """Return a figure with thousands separated, or a dash if there is none."""
    return NOTHING if value is None else f"{value:,.{digits}f}"


def rate(per_s: float | None) -> str:
    """Return three digits that matter, or all before the point; per hour if it is rare."""
    if per_s and per_s < PER_HOUR_BELOW:
        return f"{3_600.0 * per_s:.3g}/h"
    return number(per_s, 0 if per_s is None or per_s >= 1000 else 1 if per_s >= 100 else 2 if per_s >= 10 else 3)


def rate_words(per_s: float | None, counted: str) -> str:
    """Return the same with what is counted and per what: "1.27 txns/s", "12.1 txns/h"."""
    text = rate(per_s)
    return f"{text.removesuffix('/h')}{counted}/{'h' if text.endswith('/h') else 's'}"


def ms(value: float | None) -> str:
    """Tenths of a millisecond below 100 ms, whole ones above."""
    return number(value, 1 if value is not None and value < 100 else 0)


def share(value: float | None) -> str:
    """Return a part of one as a percentage."""
    return NOTHING if value is None else f"{100 * value:.1f} %"


def deviation(ends: tuple[float, float], mean: float, text: Callable[[float | None], str], space: str = "") -> str:
    """Return how far an interval reaches to either side of its mean: one figure, or two where it ends at a bound."""
    below, above = text(max(0.0, mean - ends[0])), text(max(0.0, ends[1] - mean))
    if below == above:
        return f"±{space}{above}"
    return " ".join(f"{sign}{side}" for sign, side in (("+", above), ("-", below)) if side != text(0.0))


def size(n_bytes: int) -> str:
    """Return bytes in the largest decimal unit that leaves at least one before the point."""
    value = float(n_bytes)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:,.0f} {unit}" if unit == "bytes" else f"{value:,.1f} {unit}"
        value /= 1000
    return f"{value:,.1f} TB"
