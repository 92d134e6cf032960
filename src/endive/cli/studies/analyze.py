"""``endive analyze``: turn the dataset of a sweep into tables.

The tables are made in ``endive.pipeline.analysis``; every figure that is shown stands in one of the files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from endive.cli import options
from endive.cli.console import print_json, print_line, stdout
from endive.cli.progress import shown_step
from endive.cli.tables import deviation, ms, new_table, print_warnings, rate, share
from endive.errors import ConfigError
from endive.objectives import CANNOT_TELL, duration_text

if TYPE_CHECKING:
    from endive.pipeline.analysis.run_analysis import Analysis

_LATE: Final = "freshness_p95_ms"
_ROWS_MAX: Final = 40  # of a table on a terminal
_ANY_WIDTH: Final = 10_000

Row = Mapping[str, Any]


class Format(StrEnum):
    """How the answer is printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def analyze(
    folder: options.SweptFolder,
    master: options.Master = None,
    load: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Axis along which the sustained load is sought, instead of the one found."),
    ] = None,
    slo: options.Slo = None,
    conf: options.Conf = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format", help="What to print: table, what fits the terminal; csv, one table in full; json, all."
        ),
    ] = Format.TABLE,
    table: Annotated[str, typer.Option(metavar="NAME", help="The table that --format csv prints.")] = "configurations",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of tables: the same as --format json.")
    ] = False,
    plan: Annotated[
        bool, typer.Option("--explain", help="Print Spark's physical plan of the analysis, and analyse nothing.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure every run, operation type and source of a sweep, compare seeds, and judge them by the objective.

    Writes DIR/analysis: each table as Parquet, CSV and Markdown, and index.json. An earlier analysis is replaced.
    """
    from endive.pipeline.analysis.run_analysis import SETTINGS, TITLES, explain
    from endive.pipeline.analysis.run_analysis import analyze as run_analysis
    from endive.pipeline.dataset.files import place_of
    from endive.pipeline.spark.session import parse_conf, session_on_demand

    if table not in TITLES:
        raise ConfigError(f"--table {table} is no table of an analysis. Choose one of: {', '.join(TITLES)}.")
    settings = {**SETTINGS, **parse_conf(conf or [])}
    if plan:
        with session_on_demand("endive analyze", master=master, conf=settings) as session:
            typer.echo(explain(place_of(folder), session))
        return
    with session_on_demand("endive analyze", master=master, conf=settings) as session, shown_step(quiet) as tell:
        analysis = run_analysis(place_of(folder), session, load=load, slo=slo, tell=tell)
    if as_json or form is Format.JSON:
        print_json(analysis_dict(analysis))
    elif form is Format.CSV:
        typer.echo(_csv(analysis, table), nl=False)
    else:
        _print(analysis)


def analysis_dict(found: Analysis) -> dict[str, Any]:
    """The index, and the three tables that answer most questions."""
    tables = ("configurations", "sustained", "warnings")
    return {"folder": str(found.folder), **found.index, **{name: found.tables[name].to_pylist() for name in tables}}


def _csv(found: Analysis, table: str) -> str:
    from endive.tables.table_files import to_csv

    if table not in found.tables:
        raise ConfigError(f"--table {table}: this analysis has none, because no txns were kept. Sweep with --detail.")
    return to_csv(found.tables[table]).decode()


def _print(found: Analysis) -> None:
    from endive.results import MODEL_VERSION

    console = stdout()
    for part in make_tables(found, console):
        console.print(part)
    print_warnings(console, warning_lines(found.tables["warnings"].to_pylist()))
    if (theirs := found.index["model_version"]) != MODEL_VERSION:
        console.print(f"Results of model version {theirs}; this is {MODEL_VERSION}.", markup=False)
    print_line(f"{len(found.tables)} tables in {found.folder}")


# ---- on a terminal: two tables per study that fit its width -------------------------------------------


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its heading, its cells, and how soon it gives way; 0 never does."""

    heading: str
    cells: Sequence[str]
    gives_way: int = 0
    is_text: bool = False


def make_tables(found: Analysis, console: Console) -> Iterator[Table]:
    """The tables for a terminal: configurations and sustained loads, study by study."""
    for study, facts in found.index["studies"].items():
        rows = _of_study(found, "configurations", study)
        title = f"{facts['title'] or study}: means over seeds, 95 % intervals; latency in ms"
        yield _fit_columns(console, title, _configurations(facts, rows), "configurations", len(_whole(rows)))
        sustained = _whole(_of_study(found, "sustained", study))
        axis = facts["load_axis"]
        along = f"along {axis}" if axis else "each configuration by itself"
        yield _fit_columns(
            console, f"Load in txns/s that meets {facts['objective']}, {along}", _sustained_columns(facts, sustained)
        )


def warning_lines(rows: Iterable[Row]) -> list[str]:
    """One line per study and kind of warning, the first of its kind."""
    kinds: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        kinds.setdefault((row["study"], row["warning"]), []).append(row)
    return [
        f"{place(alike[0])}{alike[0]['text']}" + (f" ({len(alike) - 1:,} more like it)" if len(alike) > 1 else "")
        for alike in kinds.values()
    ]


def place(row: Row) -> str:
    """Where a warning belongs, as the beginning of its line."""
    parts = [f"{name} {row[name]}" for name in ("point", "seed") if row[name] is not None]
    return f"{', '.join([row['study'], *parts])}: "


# ---- columns ---------------------------------------------------------------------------------------------


def _configurations(facts: Row, rows: list[Row]) -> list[Column]:
    """Axes, the verdict, success by source, commits, latencies: what gives way last comes first."""
    whole = _whole(rows)[:_ROWS_MAX]
    return [
        *_axis_columns(facts["axes"], facts["axes"], whole),
        *_success_columns(facts, rows, whole),
        *_late_columns(facts, whole),
        Column("commits/s", [_spread(row, "committed_per_s", rate) for row in whole], 3),
        Column("P50", [_spread(row, "commit_latency_p50_ms", ms) for row in whole], 6),
        Column("P95", [_spread(row, "commit_latency_p95_ms", ms) for row in whole], 4),
        Column("P99", [_spread(row, "commit_latency_p99_ms", ms) for row in whole], 7),
        Column("offered/s", [rate(row["offered_per_s"]) for row in whole], 5),
        Column("seeds", [str(row["seeds"]) for row in whole], 8),
        Column("objective", [_verdict(row) for row in whole], 0, is_text=True),
    ]


def _success_columns(facts: Row, rows: list[Row], whole: list[Row]) -> list[Column]:
    """Of each source where there are several: an average over them hides the one that fails."""
    sources = facts["sources"]
    if len(sources) < 2:
        return [Column("success", [_spread(row, "success_rate", share) for row in whole], 1)]
    by_source = {(row["point"], row["name"]): row for row in rows if row["scope"] == "source"}
    return [
        Column(
            f"{source} success",
            [
                _spread(by_source[row["point"], source], "success_rate", share)
                if (row["point"], source) in by_source
                else "-"
                for row in whole
            ],
            1,
        )
        for source in sources
    ]


def _late_columns(facts: Row, whole: list[Row]) -> Iterator[Column]:
    """How late data are, where there are streams; it stays if that is what is asked for."""
    if any(row.get(_LATE) is not None for row in whole):
        gives_way = 1 if "freshness" in facts["objective"] else 5
        yield Column("data late P95", [_spread(row, _LATE, _duration) for row in whole], gives_way)


def _duration(ms_or_none: float | None) -> str:
    return "-" if ms_or_none is None else duration_text(ms_or_none)


def _sustained_columns(facts: Row, rows: list[Row]) -> list[Column]:
    rows = rows[:_ROWS_MAX]
    most = [f"{rate(row['committed_in_window_max_per_s'])} at {share(row['success_rate_at_max'])}" for row in rows]
    return [
        *_axis_columns(facts["series"], facts["axes"], rows),
        Column("points", [str(row["points"]) for row in rows], 3),
        Column("sustained", [rate(row["sustained_offered_per_s"]) for row in rows]),
        Column("missed from", [rate(row["missed_offered_per_s"]) for row in rows]),
        Column("most commits/s, success there", most, 1),
        Column("misses", [row["misses"] or "" for row in rows], 2, is_text=True),
    ]


def _axis_columns(keys: Sequence[str], axes: Sequence[str], rows: Sequence[Row]) -> Iterator[Column]:
    for key in keys:
        yield Column(short(key, axes), [_value(row[key]) for row in rows], is_text=True)


def _verdict(row: Row) -> str:
    doubt = " ?" if row["verdict"] == CANNOT_TELL and row["seeds"] > 1 else ""
    return {True: "met", False: "missed", None: "cannot tell"}[row["meets_objective"]] + doubt


# ---- layout ----------------------------------------------------------------------------------------------


def _fit_columns(
    console: Console, title: str, columns: Sequence[Column], table_name: str = "sustained", rows: int = 0
) -> Table:
    """The table with as many columns as the terminal is wide enough for, and what became of the others."""
    kept, dropped = list(columns), []
    while True:
        table = _table(title, kept)
        soonest = max(kept, key=lambda column: column.gives_way)
        needed = Measurement.get(console, console.options.update(max_width=_ANY_WIDTH), table).maximum
        if needed <= console.width or not soonest.gives_way:
            break
        kept.remove(soonest)
        dropped.append(soonest.heading)
    notes = []
    if dropped:
        notes.append(f"Not shown at this width: {', '.join(dropped)}.")
    if rows > _ROWS_MAX:
        notes.append(f"{rows - _ROWS_MAX:,} more rows.")
    if notes:
        table.caption = f"{' '.join(notes)} All of it: --format csv --table {table_name}"
        table.caption_justify = "left"
    return table


def _table(title: str, columns: Sequence[Column]) -> Table:
    table = new_table(title)
    is_tight = not any(column.gives_way for column in columns)
    for column in columns:
        overflow: Any = "fold" if is_tight else "ellipsis"
        justify: Any = "left" if column.is_text else "right"
        table.add_column(_heading(column.heading), justify=justify, no_wrap=not is_tight, overflow=overflow)
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*(escape(cell) for cell in cells))
    return table


def _heading(text: str) -> str:
    """Words of a long heading under each other, whole."""
    return escape("\n".join(text.split(" ")) if len(text) > 12 else text)


def _of_study(found: Analysis, table: str, study: str) -> list[Row]:
    return [row for row in found.tables[table].to_pylist() if row["study"] == study]


def _whole(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row["scope"] == "all"]


def _spread(row: Row, figure: str, text: Callable[[float | None], str]) -> str:
    """A mean and its interval, which may be cut off on one side."""
    mean, low, high = (row[name] for name in (figure, f"{figure}_ci95_low", f"{figure}_ci95_high"))
    if mean is None or low is None:
        return text(mean)
    return f"{text(mean)} {deviation((low, high), mean, text)}"


def short(axis: str, axes: Sequence[str]) -> str:
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
