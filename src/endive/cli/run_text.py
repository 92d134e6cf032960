"""What ``endive run`` says: each source first, with counts and intervals, then the verdict, then the totals.

Totals are ``endive.cli.tables``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from endive.answers.run_answer import outcome_text
from endive.cli.console import print_line, stdout
from endive.cli.tables import new_table, print_warnings, rate, total_tables
from endive.objectives import MET, NOT_MET, duration_text, field_at
from endive.objectives.names import SOURCE, TABLE
from endive.objectives.verdict_text import NOTHING, describe_verdict, interval_text, share_digits

if TYPE_CHECKING:
    from endive.answers.price import Bill
    from endive.answers.run_answer import RunAnswer

TABLES_SHOWN_MAX: Final = 20
_FATES: Final = {"lost": "lost", "waiting": "waiting at the end", "twice": "written twice"}
_COLOURS: Final = {MET: "bold green", NOT_MET: "bold red"}


def print_answer(answer: RunAnswer, document: Mapping[str, Any]) -> None:
    """Everything the runs measured, most important first."""
    console = stdout()
    title = answer.name if len(answer.samples) == 1 else f"{answer.name}, {len(answer.samples)} runs"
    console.print(parts_table(answer, SOURCE, f"{title}: every source; brackets are 95 % intervals"))
    if answer.parts(TABLE):
        console.print(parts_table(answer, TABLE, "Every table"))
    if streams := stream_table(answer):
        console.print(streams)
    verdict = answer.verdict
    style = _COLOURS.get(verdict.outcome, "bold yellow")
    console.print(Text.assemble("objective  ", verdict.objective.text, ": ", (verdict.outcome, style)), soft_wrap=True)
    for each in verdict.decisive:
        print_line(f"  {describe_verdict(each)}")
    for sentence in answer.why:
        print_line(f"why  {sentence}")
    for part in total_tables(document):
        console.print(part)
    print_warnings(console, document["warnings"])


def parts_table(answer: RunAnswer, scope: str, title: str) -> Table:
    """One line for each source, kind or table."""
    table = new_table(title, scope, "txns", ">success", ">commits/s", ">P50", ">P95", ">P99")
    names = answer.parts(scope)
    for name in names[:TABLES_SHOWN_MAX] if scope == TABLE else names:
        figures = answer.figures(scope, name)
        assert figures is not None
        latency = figures["commit_latency_ms"]
        table.add_row(
            escape(name),
            outcome_text(figures["txns"]),
            _success(answer, scope, name),
            rate(figures["committed_per_s"]),
            *(NOTHING if latency[p] is None else duration_text(latency[p]) for p in ("p50", "p95", "p99")),
        )
    if scope == TABLE and len(names) > TABLES_SHOWN_MAX:
        table.caption = f"and {len(names) - TABLES_SHOWN_MAX:,} more; --json has them all"
    return table


def print_bill(bill: Bill) -> None:
    """What a month of the load costs, the dearest first."""
    title = f"The bill: {bill.usd:,.2f} USD a month of 30 days at this load, by list price"
    table = new_table(title, "what", ">a month", ">USD")
    table.add_column("price by", overflow="fold")
    for line in sorted(bill.lines, key=lambda line: -line.usd):
        table.add_row(line.what, f"{line.per_month:,.0f}", f"{line.usd:,.2f}", escape(line.source))
    console = stdout()
    console.print(table)
    for note in bill.notes:
        print_line(note)


def stream_table(answer: RunAnswer) -> Table | None:
    """How late the data of every stream are, and what became of them; None if there is no stream."""
    figures = {name: answer.figures(SOURCE, name) or {} for name in answer.parts(SOURCE)}
    streams = {name: found for name, found in figures.items() if found["data"]["batches"]}
    if not streams:
        return None
    columns = (">P50", ">P95", ">P99", ">most", ">older than its bound")
    title = "How late the data are: age of the newest that a reader sees, over time"
    table = new_table(title, SOURCE, *columns, "batches")
    for name, found in streams.items():
        ages, data, stale = found["freshness_ms"], found["data"], found["stale_share"]
        told = [f"{data['visible']:,} of {data['batches']:,} visible"]
        told += [f"{data[fate]:,} {words}" for fate, words in _FATES.items() if data[fate]]
        table.add_row(
            escape(name),
            *(NOTHING if ages[p] is None else duration_text(ages[p]) for p in ("p50", "p95", "p99", "max")),
            NOTHING if stale is None else f"{share_digits(stale)} % of the time",
            ", ".join(told),
        )
    return table


def _success(answer: RunAnswer, scope: str, name: str) -> str:
    field = field_at("success_rate")
    assert field is not None
    estimate = answer.estimate(scope, name, "success_rate")
    if estimate.value is None:
        return NOTHING
    return f"{share_digits(estimate.value)} % {interval_text(field, estimate)}"
