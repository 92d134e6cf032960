"""``endive analyze``: turn the dataset of a sweep into tables.

This file defines what is shown of them on a terminal. The tables are made in ``endive.pipeline.analysis``; every
figure shown stands in one of the files.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from endive.pipeline.analysis.run_analysis import Analysis

_ROWS_MAX: Final = 40  # of a table on a terminal


def analyze(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that 'endive sweep --out' has filled.")],
    master: Annotated[
        str | None,
        typer.Option(help="local[N], spark://host:7077, sc://host:15002, k8s://.. or yarn; else all cores here."),
    ] = None,
    bins: Annotated[int | None, typer.Option(help="Bins of simulated time per run, instead of 60.")] = None,
    load: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Axis along which the sustained load is sought, instead of the one found."),
    ] = None,
    conf: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A setting of Spark; repeatable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Measure every run, operation type and source of a sweep, compare seeds, and find the load that is sustained.

    Writes DIR/analysis: each table as Parquet, CSV and Markdown, and index.json. An earlier analysis is replaced.
    """
    from endive.pipeline.analysis.run_analysis import SETTINGS
    from endive.pipeline.analysis.run_analysis import analyze as run_analysis
    from endive.pipeline.spark.session import parse_conf

    settings = {**SETTINGS, **parse_conf(conf or [])}
    with _session_maker(master, settings) as session, status() as tell:
        found = run_analysis(folder, session, bins=bins, load=load, tell=tell)
    if as_json:
        typer.echo(json.dumps(analysis_dict(found), allow_nan=False))
    else:
        _print(found)


def analysis_dict(found: Analysis) -> dict[str, Any]:
    """The index, and the three tables that answer most questions."""
    tables = ("configurations", "saturation", "warnings")
    return {
        "folder": str(found.folder),
        **found.index,
        **{name: found.tables[name].to_pylist() for name in tables},
    }


@contextlib.contextmanager
def _session_maker(master: str | None, settings: dict[str, str]) -> Iterator[Callable[[], Any]]:
    """A session that is made when it is asked for, and stopped at the end if it was."""
    from endive.pipeline.spark.session import make_session

    with contextlib.ExitStack() as stack:

        def make() -> Any:
            session = make_session("endive analyze", master=master, conf=settings)
            stack.callback(session.stop)
            return session

        yield make


@contextlib.contextmanager
def status() -> Iterator[Callable[[str], None]]:
    """The step that is being done, on a terminal and nowhere else."""
    from endive.cli.console import stderr

    console = stderr()
    if not console.is_terminal:
        yield lambda step: None
        return
    with console.status("") as status:
        yield lambda step: status.update(step)


# ---- what is shown -----------------------------------------------------------------------------------


def _print(found: Analysis) -> None:
    from rich.text import Text

    from endive.cli.console import stdout

    console = stdout()
    for part in shown(found):
        console.print(part)
    for line in warning_lines(found.tables["warnings"].to_pylist()):
        console.print(Text.assemble(("warning: ", "bold yellow"), line))
    console.print(f"{len(found.tables)} tables in {found.folder}", markup=False, soft_wrap=True)


def shown(found: Analysis) -> Iterator[RenderableType]:
    """The tables for a terminal: configurations and saturation of whole runs, study by study."""
    for study, facts in found.index["studies"].items():
        rows = _whole(found, "configurations", study)
        yield _configurations(facts["title"] or study, facts, rows)
        yield _saturation(facts, _whole(found, "saturation", study))


def _whole(found: Analysis, table: str, study: str) -> list[dict[str, Any]]:
    return [row for row in found.tables[table].to_pylist() if row["study"] == study and row["scope"] == "all"]


def _configurations(title: str, facts: Mapping[str, Any], rows: list[dict[str, Any]]) -> RenderableType:
    from rich.markup import escape

    from endive.cli.tables import ms, new_table, rate, share

    table = new_table(f"{title}: means over seeds with 95 % intervals; commit latency in ms")
    for axis in facts["axes"]:
        table.add_column(escape(_short(axis, facts["axes"])), overflow="fold")
    for column in ("seeds", "offered/s", "commits/s", "success", "P50", "P95", "P99"):
        table.add_column(column, justify="right")
    table.add_column("")
    for row in rows[:_ROWS_MAX]:
        table.add_row(
            *(escape(_value(row[axis])) for axis in facts["axes"]),
            str(row["seeds"]),
            rate(row["offered_per_s"]),
            _spread(row, "committed_per_s", rate),
            _spread(row, "success_rate", share),
            *(_spread(row, f"commit_latency_{percentile}_ms", ms) for percentile in ("p50", "p95", "p99")),
            "[yellow]saturated[/yellow]" if row["saturated"] else "",
        )
    if len(rows) > _ROWS_MAX:
        table.caption = f"and {len(rows) - _ROWS_MAX:,} more in configurations.md"
        table.caption_justify = "left"
    return table


def _saturation(facts: Mapping[str, Any], rows: list[dict[str, Any]]) -> RenderableType:
    from rich.markup import escape

    from endive.cli.tables import new_table, rate

    axis = facts["load_axis"]
    along = f"along {axis}" if axis else "each configuration by itself"
    table = new_table(f"Sustained load in txns/s, {along}")
    for name in facts["series"]:
        table.add_column(escape(_short(name, facts["axes"])), overflow="fold")
    for column in ("points", "sustained", "saturated from", "most commits/s"):
        table.add_column(column, justify="right")
    table.add_column("saturated by")
    for row in rows[:_ROWS_MAX]:
        table.add_row(
            *(escape(_value(row[name])) for name in facts["series"]),
            str(row["points"]),
            rate(row["sustained_offered_per_s"]),
            rate(row["saturated_offered_per_s"]),
            rate(row["committed_in_window_max_per_s"]),
            row["saturation_sign"] or "",
        )
    if len(rows) > _ROWS_MAX:
        table.caption = f"and {len(rows) - _ROWS_MAX:,} more in saturation.md"
        table.caption_justify = "left"
    return table


def warning_lines(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """One line per study and kind of warning, the first of its kind; the tables above say what is saturated."""
    kinds: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["warning"] != "saturated":
            kinds.setdefault((row["study"], row["warning"]), []).append(row)
    return [
        f"{place(alike[0])}{alike[0]['text']}" + (f" ({len(alike) - 1:,} more like it)" if len(alike) > 1 else "")
        for alike in kinds.values()
    ]


def place(row: Mapping[str, Any]) -> str:
    """Where a warning belongs, as the beginning of its line."""
    parts = [f"{name} {row[name]}" for name in ("point", "seed") if row[name] is not None]
    return f"{', '.join([row['study'], *parts])}: "


def _spread(row: Mapping[str, Any], figure: str, text: Callable[[float | None], str]) -> str:
    """A mean and half the width of its interval, which may be cut off on one side."""
    mean, low, high = (row[name] for name in (figure, f"{figure}_ci95_low", f"{figure}_ci95_high"))
    if mean is None or low is None:
        return text(mean)
    return f"{text(mean)} ±{text(max(mean - low, high - mean))}"


def _short(axis: str, axes: list[str]) -> str:
    """The end of a dotted key, as long as it takes to tell it from the others."""
    parts = axis.split(".")
    for count in range(1, len(parts)):
        end = ".".join(parts[-count:])
        if sum(other == end or other.endswith(f".{end}") for other in axes) == 1:
            return end
    return axis


def _value(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)
