"""``endive measure store`` and ``endive measure catalog``: how fast the user's own are.

Both say what they will ask for, ask whether they may, and leave nothing behind but the profile.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

from endive.cli.console import EndiveGroup, print_line, stdout
from endive.cli.observe import parse_properties
from endive.cli.progress import counted_progress
from endive.cli.tables import new_table
from endive.config import read_toml
from endive.config.toml_text import toml_text
from endive.errors import ConfigError, OutputError

if TYPE_CHECKING:
    from endive.observation.measurement.catalog_probe import CatalogMeasured
    from endive.observation.measurement.catalog_profile import Compared
    from endive.observation.measurement.probe_plan import ProbePlan
    from endive.observation.measurement.store_probe import Measured

app = typer.Typer(cls=EndiveGroup, help="Measure your own object store or catalog.", no_args_is_help=False)

Out = Annotated[Path, typer.Option(metavar="FILE", help="Profile to write (.toml).")]
Properties = Annotated[
    list[str] | None,
    typer.Option("--property", metavar="KEY=VALUE", help="A property for the client; never written down."),
]
Yes = Annotated[bool, typer.Option("--yes", help="Go on without asking.")]


@app.command("store")
def store(
    url: Annotated[str, typer.Argument(metavar="URL", help="s3://bucket/prefix, gs://..., az://..., memory:///")],
    out: Out = Path("store.toml"),
    properties: Properties = None,
    requests_max: Annotated[int, typer.Option("--max-requests", min=1, help="Most requests to send.")] = 3000,
    seconds_max: Annotated[float, typer.Option("--max-seconds", min=1.0, help="Most seconds to take.")] = 600.0,
    usd_max: Annotated[
        float, typer.Option("--max-usd", min=0.0, help="Most US dollars to spend, by list price.")
    ] = 0.10,
    with_swaps: Annotated[bool, typer.Option("--swaps/--no-swaps", help="Measure conditional puts.")] = True,
    yes: Yes = False,
) -> None:
    """Measure GET, PUT, HEAD, DELETE and compare-and-swap of an object store, and write a profile of it."""
    from endive.observation.measurement.probe_plan import make_plan
    from endive.observation.measurement.store_check import check_store, measured_table
    from endive.observation.measurement.store_probe import open_store, probe
    from endive.observation.measurement.store_profile import profile_document, profile_text
    from endive.observation.secrets import public_address
    from endive.results.writer import write_atomically

    _refuse_place(out)
    scheme = url.partition("://")[0]
    plan = make_plan(scheme, requests_max=requests_max, usd_max=usd_max, with_swaps=with_swaps)
    stores = open_store(url, parse_properties(properties or []))
    place = public_address(url)
    _ask(_plan_text(place, plan, seconds_max), yes)
    with counted_progress("measuring") as progress:
        measured = probe(stores, plan, seconds_max=seconds_max, progress=progress)
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    title = f"{place}, measured {date}"
    document = profile_document(measured, name=out.stem, title=title, date=date, provider=plan.provider)
    document["measured"] = measured_table(measured)
    comments = [f"Measured by endive measure store on {date}: {measured.requests} requests to {place}."]
    comments += [f"failed: {count} with {name}" for name, count in measured.failures.items()]
    comments += [
        f"swaps by {clients} clients: {step.per_s:.2f} succeeded per second, {100.0 * step.refused_share:.0f} % refused"
        for clients, step in measured.swaps.items()
    ]
    write_atomically(out, profile_text(document, comments).encode())
    _print_store(measured, out)
    _print_compared(check_store(document, str(out)))


def _plan_text(place: str, plan: ProbePlan, seconds_max: float) -> str:
    cost = "at a price that is not known" if plan.usd is None else f"for about {plan.usd:.4f} USD by list price"
    kinds = ", ".join(f"{count:,} {name.upper()}" for name, count in plan.requests.items())
    return (
        f"{place}: up to {plan.total:,} requests ({kinds}) below one new prefix, about {plan.seconds:,.0f} s (at most "
        f"{seconds_max:,.0f}), {cost}; everything is removed afterwards."
    )


def _ask(text: str, yes: bool) -> None:
    typer.echo(text, err=True)
    if yes:
        return
    if not sys.stdin.isatty():
        raise ConfigError("Nobody is there to be asked. Give --yes if that may be done.")
    if not typer.confirm("Go on?", err=True):
        raise typer.Exit(0)


def _refuse_place(out: Path) -> None:
    if out.suffix != ".toml":
        raise OutputError(f"Cannot write {out}: a profile ends in .toml.")
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise OutputError(f"Cannot write {out}: its folder does not exist, or it is one.")


def _print_store(measured: Measured, out: Path) -> None:
    from endive.observation.fitting.findings import quantiles

    console = stdout()
    table = new_table("Requests, in ms", "request", ">size", ">count", ">P50", ">P95", ">P99")
    for (operation, size), values in measured.latencies_ms.items():
        in_quantiles = quantiles(values) or {}
        row = [f"{in_quantiles[key]:.1f}" for key in ("p50", "p95", "p99")]
        table.add_row(operation.upper(), f"{size // 1024} KiB", str(len(values)), *row)
    console.print(table)
    if measured.swaps:
        columns = (">clients", ">succeeded", ">refused %", ">succeeded/s", ">P50 ms", ">refused P50 ms")
        swaps = new_table("Swaps of one object: a HEAD, then a PUT on condition", *columns)
        for clients, step in measured.swaps.items():
            swaps.add_row(
                str(clients),
                str(len(step.success_ms)),
                f"{100.0 * step.refused_share:.0f}" if step.puts else "-",
                f"{step.per_s:.2f}" if step.seconds else "-",
                _median(step.success_ms),
                _median(step.refused_ms),
            )
        console.print(swaps)
    for name, count in measured.failures.items():
        console.print(f"{count} requests failed with {name}", markup=False)
    print_line(f'written to {out}; use it: storage.provider = "./{out.name}"')


def _median(values: list[float]) -> str:
    return f"{median(values):.1f}" if values else "-"


@app.command("catalog")
def catalog(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A catalog of PyIceberg's own configuration.")],
    out: Out = Path("catalog.toml"),
    properties: Properties = None,
    namespace: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="An existing namespace for the scratch table; else one is made and dropped."),
    ] = None,
    seconds_max: Annotated[float, typer.Option("--max-seconds", min=1.0, help="Most seconds to take.")] = 300.0,
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="SCHEME://HOST", help="A host that the catalog's server may send the client to."),
    ] = None,
    yes: Yes = False,
) -> None:
    """Measure loading and committing a scratch table of a catalog, and write what the model needs of it."""
    from endive.observation.measurement.catalog_probe import REST, planned_requests, probe_catalog
    from endive.observation.measurement.catalog_profile import catalog_document, check_profile
    from endive.observation.tables.allowed_places import parse_places
    from endive.observation.tables.catalogs import open_catalog
    from endive.results.writer import write_atomically

    _refuse_place(out)
    opened = open_catalog(name, parse_properties(properties or []), allowed=parse_places(allow or ()))
    where = f"namespace '{namespace}'" if namespace else "a namespace of its own"
    requests = planned_requests(opened.kind)
    _ask(
        f"catalog '{name}': a scratch table in {where}, about {requests} loads and commits, at most "
        f"{seconds_max:,.0f} s; the table is dropped afterwards.",
        yes,
    )
    with counted_progress("measuring") as progress:
        measured = probe_catalog(opened, namespace, seconds_max=seconds_max, progress=progress)
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    document = catalog_document(measured, kind=opened.kind)
    told = _catalog_lines(measured, is_rest=opened.kind == REST)
    lines = [f"# Measured by endive measure catalog on {date}: catalog '{name}' ({opened.kind})."]
    lines += [f"# {line}" for line in told]
    write_atomically(out, ("\n".join(lines) + "\n\n" + toml_text(document)).encode())
    for line in told:
        typer.echo(line)
    _print_compared(check_profile(document, str(out)))
    typer.echo(f"written to {out}; use it: endive replay DIR --catalog-profile {out}")


@app.callback(invoke_without_command=True)
def measure(
    context: typer.Context,
    checked: Annotated[
        Path | None,
        typer.Option("--check", metavar="FILE", help="Say what a measured profile gives for what was measured."),
    ] = None,
) -> None:
    """Measure your own object store or catalog."""
    from endive.observation.measurement.catalog_profile import check_profile
    from endive.observation.measurement.store_check import check_store

    if checked is not None:
        document = read_toml(checked)
        _print_compared((check_store if "latency" in document else check_profile)(document, str(checked)))
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


def _print_compared(rows: Sequence[Compared]) -> None:
    """Measured beside what the profile gives."""
    title = "What was measured, and what the profile gives for it; requests: medians in ms"
    table = new_table(title, "request", ">measured", ">profile", ">off")
    for row in rows:
        table.add_row(row.what, f"{row.measured_ms:.1f}", f"{row.profile_ms:.1f}", f"{row.misfit_percent:+.0f} %")
    stdout().print(table)


def _catalog_lines(measured: CatalogMeasured, *, is_rest: bool) -> list[str]:
    from endive.observation.fitting.findings import quantiles

    load = quantiles(measured.load_ms) or {}
    file = quantiles(measured.metadata_read_ms) or {}
    lines = [
        f"load a table: P50 {load['p50']:.1f}, P95 {load['p95']:.1f} ms ({len(measured.load_ms)} times)",
        f"of that, the metadata file: P50 {file['p50']:.1f}, P95 {file['p95']:.1f} ms",
    ]
    if measured.long_answers is not None:
        whole, parsed = measured.long_answers.ms_per_mib, measured.long_answers.parse_ms_per_mib
        lines.append(
            f"a MiB of snapshots in an answer: {whole:.1f} ms, {parsed:.1f} of them PyIceberg's own parsing "
            "(answer_ms_per_mib has both)"
        )
    elif is_rest:
        lines.append("a long list of snapshots: refused by the server, or left out of its answer; not measured")
    for clients, made in measured.commit_ms.items():
        refused = measured.refused_ms[clients]
        took = quantiles(made)
        share = 100.0 * len(refused) / max(1, len(made) + len(refused))
        text = "none committed" if took is None else f"P50 {took['p50']:.1f}, P95 {took['p95']:.1f} ms"
        lines.append(f"commit by {clients} clients: {text}; {share:.0f} % refused")
    return lines
