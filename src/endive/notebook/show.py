"""Answers as text and as HTML, for the ``repr`` of a value."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from endive.answers.compare import html_table
from endive.answers.run_answer import RunAnswer
from endive.objectives import duration_text
from endive.objectives.fields import field_at
from endive.objectives.names import SOURCE
from endive.objectives.verdict_text import NOTHING, PER_HOUR_BELOW, estimate_text, verdict_lines

HEADING: Final = ("source", "committed", "success", "commits/s", "P50", "P95", "P99")


def answer_rows(answer: RunAnswer) -> list[tuple[str, ...]]:
    """One row for each source."""
    rows = []
    success = field_at("success_rate")
    assert success is not None
    for name in answer.parts(SOURCE):
        figures = answer.figures(SOURCE, name)
        assert figures is not None
        txns, latency = figures["txns"], figures["commit_latency_ms"]
        ended = txns["committed"] + sum(txns["aborted"].values())
        rate = figures["committed_per_s"]
        rows.append(
            (
                name,
                f"{txns['committed']:,} of {ended:,}",
                estimate_text(success, answer.estimate(SOURCE, name, "success_rate")),
                NOTHING if rate is None else f"{3_600 * rate:.3g}/h" if 0 < rate < PER_HOUR_BELOW else f"{rate:.3g}",
                *(NOTHING if latency[p] is None else duration_text(latency[p]) for p in ("p50", "p95", "p99")),
            )
        )
    return rows


def answer_text(answer: RunAnswer) -> str:
    """As a terminal shows it."""
    head = f"{answer.name}, {_seeds(answer)}"
    told = [*verdict_lines(answer.verdict), *answer.why, *warning_lines(answer.warnings)]
    return "\n".join([head, text_table(HEADING, answer_rows(answer)), *told])


def answer_html(answer: RunAnswer) -> str:
    """As a notebook shows it."""
    told = "<br>".join(escape(line) for line in (*verdict_lines(answer.verdict), *answer.why))
    table = html_table(HEADING, answer_rows(answer))
    return f"<b>{escape(answer.name)}</b>, {_seeds(answer)}{table}<p>{told}</p>{warning_html(answer.warnings)}"


def warning_lines(caveats: Sequence[str]) -> list[str]:
    """What to know before an answer is trusted, a line each."""
    return [f"warning: {text}" for text in caveats]


def warning_html(caveats: Sequence[str]) -> str:
    """The same for a notebook."""
    items = "".join(f"<li>{escape(text)}</li>" for text in caveats)
    return f"<p>Read with care</p><ul>{items}</ul>" if items else ""


def text_table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell."""
    cells = [tuple(heading), *rows]
    widths = [max(len(row[place]) for row in cells) for place in range(len(heading))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )


def _seeds(answer: RunAnswer) -> str:
    seeds = answer.seeds
    return f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
