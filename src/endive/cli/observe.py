"""``endive observe``: from a real table to a folder with its trace, its configuration and a page."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.markup import escape

from endive.cli.console import print_aside, print_json, print_line, stderr, stdout
from endive.cli.options import AsJson
from endive.cli.tables import new_table
from endive.errors import ConfigError, ObservationError

if TYPE_CHECKING:
    from endive.observation import TableHistory

T = TypeVar("T")
U = TypeVar("U")
UNSEEN = (
    "A history cannot show commits that failed: they leave nothing in the table. Take them from a log of your writers "
    "(--reports FILE; docs/guides/your-own-table.md says which logs are read)."
)


def observe(
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE",
            help="A table or namespace of --catalog, a table of --spark, a metadata.json (path or URL), the folder "
            "of a Delta table, or a log.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write; new, empty or an earlier one.")] = Path(
        "observed"
    ),
    catalog: Annotated[
        str | None, typer.Option(metavar="NAME", help="A catalog of PyIceberg's own configuration.")
    ] = None,
    properties: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="KEY=VALUE", help="A property for PyIceberg, on top of its configuration."),
    ] = None,
    is_spark: Annotated[
        bool, typer.Option("--spark", help="Read the metadata tables through Spark, whose catalog has the table.")
    ] = False,
    reports: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Commit reports (JSON lines, LoggingMetricsReporter), a log as CSV, or Spark's event log.",
        ),
    ] = None,
    writer_key: Annotated[
        str | None, typer.Option(metavar="KEY", help="The key of a snapshot's summary that names its writer.")
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="SCHEME://HOST", help="Read files of the table there too, as in s3://bucket; repeatable."),
    ] = None,
    seconds_max: Annotated[
        float, typer.Option("--timeout", min=1.0, max=3600.0, help="Seconds for one answer of a catalog or a store.")
    ] = 10.0,
    as_json: AsJson = False,
) -> None:
    """Read a real table's past, and write its trace, a configuration fitted to it, and a page of what was seen.

    Reading never changes a table. Credentials are PyIceberg's own and are written nowhere. A table's files are read
    where its metadata lies; what it names elsewhere is read with --allow only.
    """
    from endive.observation.folder import refuse_foreign_files, write_folder
    from endive.observation.observe import observe as observe_table
    from endive.observation.observe import with_reports
    from endive.observation.tables.allowed_places import parse_places

    refuse_foreign_files(out)
    logging.getLogger("pyiceberg").setLevel(logging.ERROR)  # what matters is told in notes
    given = parse_properties(properties or [])
    limits = {"allowed": parse_places(allow or ()), "seconds_max": seconds_max}
    histories = _histories(table, catalog, given, limits, is_spark=is_spark, writer_key=writer_key)
    page = _page()
    observed = _possible(histories, lambda each: observe_table(with_reports(each, reports or []), page))
    folders = write_folder(out, observed)
    seen = [{**each.findings, "folder": str(folder)} for each, folder in zip(observed, folders, strict=True)]
    if as_json:
        print_json({"tables": seen})
        return
    for each in seen:
        _print(each)


def parse_properties(given: list[str]) -> dict[str, str]:
    """``KEY=VALUE`` pairs; a value is never quoted in a message."""
    properties: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--property '{key}' is not KEY=VALUE, as in s3.region=eu-west-1.")
        properties[key.strip()] = value
    return properties


def _histories(
    table: str | None,
    catalog: str | None,
    properties: dict[str, str],
    limits: dict[str, Any],
    *,
    is_spark: bool,
    writer_key: str | None,
) -> list[TableHistory]:
    from endive.observation.observe import is_log, read_any_log
    from endive.observation.tables import catalogs
    from endive.observation.tables.delta_log import delta_folder, read_delta_log

    if is_spark:
        from endive.pipeline.spark.table_history import read_spark_table

        if table is None or catalog is not None:
            raise ConfigError("--spark needs the name of a table as Spark knows it, and no --catalog.")
        return [read_spark_table(table, writer_key=writer_key)]
    if catalog is not None:
        opened = catalogs.open_catalog(catalog, properties, **limits)
        names = catalogs.table_names(opened, table, _leave_out)
        return _possible(names, lambda name: catalogs.read_table(opened, name, writer_key=writer_key))
    if table is None:
        raise ConfigError(
            "Nothing to observe. Give a metadata.json, a folder with a _delta_log, a log, or --catalog NAME."
        )
    if "://" not in table and is_log(Path(table)):
        return read_any_log(Path(table))
    if delta_folder(table) is not None:
        return [read_delta_log(table, writer_key=writer_key)]
    return [catalogs.read_metadata_file(table, properties, writer_key=writer_key, **limits)]


def _possible(tables: Sequence[T], act: Callable[[T], U]) -> list[U]:
    """Return every table that can be read, or observed; of several, one that cannot is told and left out."""
    results, refused = [], []
    for each in tables:
        try:
            results.append(act(each))
        except ObservationError as error:
            if len(tables) == 1:
                raise
            refused.append(str(error))
    if not results:
        raise ObservationError(f"none of {len(tables)} tables can be observed. {refused[0]}")
    for line in refused:
        _leave_out(line)
    return results


def _leave_out(line: str) -> None:
    print_aside(f"left out: {line}", "yellow")


def _page() -> Any:
    """Return what draws the page; None without the libraries for charts."""
    try:
        from endive.report.observed import observed_page
    except ImportError:
        stderr().print("no page: charts need the extra, pip install 'endive[report]'", style="yellow")
        return None
    return observed_page


def _print(seen: dict[str, Any]) -> None:
    console = stdout()
    kinds = ", ".join(f"{count:,} {name}" for name, count in seen["operations"].items())
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in seen["reasons"].items())
    failed = f" {seen['failed']:,} failed: {reasons}." if seen["failed"] else ""
    console.print(
        f"{seen['table']}: {seen['commits']:,} commits from {seen['first']} to {seen['last']}, "
        f"{seen['commits_per_hour']:,.1f} per hour ({kinds}).{failed}",
        markup=False,
        soft_wrap=True,
    )
    figures = (">gap P50 s", ">P95 s", ">took P50 ms", ">P95 ms", ">attempts > 1")
    table = new_table("Sources", "source", ">commits", ">model", "operations", "arrivals", *figures)
    for source in seen["sources"]:
        table.add_row(*(escape(cell) for cell in _cells(source, seen["rates"][source["name"]])))
    console.print(table)
    for line in seen["assumed"]:
        print_line(f"assumed: {line}")
    for rate in seen["rates"].values():
        if not rate["holds"]:
            print_line(f"rate is off: {rate['text']}", style="bold yellow")
    if not seen["has_outcomes"]:
        print_line(UNSEEN)
    for line in seen["notes"]:
        print_aside(f"note: {line}", "yellow")
    print_line(f"written to {seen['folder']}; next: endive replay {seen['folder']}")


def _cells(source: dict[str, Any], rate: dict[str, Any]) -> tuple[str, ...]:
    gaps, took, attempts = source["gaps_ms"], source["durations_ms"], source["attempts"] or {}
    known = sum(attempts.values())
    more = known - attempts.get("1", 0)
    return (
        source["name"],
        f"{source['commits'] - source['failed']:,}" + (f" + {source['failed']:,} failed" if source["failed"] else ""),
        f"{rate['simulated']:,.0f}",
        ", ".join(source["operations"]),
        source["pattern"],
        "-" if gaps is None else f"{gaps['p50'] / 1000.0:,.2f}",
        "-" if gaps is None else f"{gaps['p95'] / 1000.0:,.2f}",
        "-" if took is None else f"{took['p50']:,.0f}",
        "-" if took is None else f"{took['p95']:,.0f}",
        "-" if not known else f"{100.0 * more / known:.1f} %",
    )
