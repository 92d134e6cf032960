"""``endive providers``: what the storage providers can do and how long they take, figure by figure.

The figures are those of the profiles, each with its source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from endive.cli.console import print_json, stdout
from endive.cli.options import AsJson
from endive.cli.tables import ms, new_table, number
from endive.vocabulary import ASSUMED, PUBLISHED

if TYPE_CHECKING:
    from endive.storage import Profile

_PUBLISHED_MARK = "*"
_ASSUMED_MARK = "?"


def providers(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A provider, or the path of a profile file; all if left out.")
    ] = None,
    as_json: AsJson = False,
    vintage: Annotated[
        str, typer.Option(metavar="NAME", help="Which set of figures: measured, or original.")
    ] = "measured",
) -> None:
    """List the storage providers, or show every figure of one, how well it is known and where it comes from."""
    from endive.storage import list_profiles, load_profile

    if name is not None:
        profile = load_profile(name, vintage)
        if as_json:
            print_json(profile_dict(profile))
        else:
            _print_one(profile)
        return
    profiles = [load_profile(each, vintage) for each in list_profiles(vintage)]
    if as_json:
        print_json({profile.name: profile_dict(profile) for profile in profiles})
    else:
        _print_all(profiles)


def profile_dict(profile: Profile) -> dict[str, Any]:
    """Return a profile as a JSON object."""
    from endive.storage import OBJECTS, OPERATIONS

    return {
        **{key: getattr(profile, key) for key in ("name", "title", "description", "vintage")},
        "capabilities": [OPERATIONS[op] for op in sorted(profile.capabilities)],
        "figures": [row._asdict() for row in profile.describe()],
        "min_latency_ms": profile.min_latency_ms,
        "leg_shares": {OPERATIONS[op]: part for op, part in sorted(profile.leg_shares.items())},
        "writes_per_s_max": profile.writes_per_s_max,
        "head_before_read": [OBJECTS[obj] for obj in sorted(profile.head_before_read)],
        "prices": {
            OPERATIONS[op]: {"usd_per_1000": price.usd_per_1000, "source": price.source, "date": price.date}
            for op, price in sorted(profile.prices.items())
        },
        "notes": {name: {"known": note.known, "source": note.source} for name, note in profile.notes.items()},
    }


def _print_all(profiles: list[Profile]) -> None:
    from endive.storage import APPEND, CAS, CATALOG, OPERATIONS, READ, TAIL_APPEND, WRITE

    shown = (READ, WRITE, CAS, APPEND, TAIL_APPEND)
    title = "Storage providers: median latency in ms; - where the operation does not exist"
    table = new_table(title, "name", "title", *(f">{OPERATIONS[op]}" for op in shown))
    for profile in profiles:
        medians = [
            _mark(profile.latency(CATALOG, op).quantile(0.5), profile.figure(CATALOG, op).known)
            if profile.supports(op)
            else number(None, 1)
            for op in shown
        ]
        table.add_row(profile.name, profile.title, *medians)
    stdout().print(table)
    stdout().print(f"measured, unless marked: {_PUBLISHED_MARK} published, {_ASSUMED_MARK} assumed", markup=False)


def _mark(median_ms: float, known: str) -> str:
    marks = {PUBLISHED: _PUBLISHED_MARK, ASSUMED: _ASSUMED_MARK}
    return f"{number(median_ms, 1)}{marks.get(known, ' ')}"


def _print_one(profile: Profile) -> None:
    console = stdout()
    title = f"{profile.name}: {profile.title} ({profile.vintage}); latency in ms"
    table = new_table(title, "operation", ">P50", ">P95", ">P99", "known", "distribution and source")
    for row in profile.describe():
        text = f"{escape(row.distribution)}\n[dim]{escape(row.source)}[/dim]"
        quantiles = (ms(row.p50_ms), ms(row.p95_ms), ms(row.p99_ms))
        table.add_row(escape(row.operation), *quantiles, row.known, text)
    if profile.description:
        console.print(profile.description, markup=False)
    console.print(table)
    for line in _other_figures(profile):
        console.print(line, markup=False)


def _other_figures(profile: Profile) -> list[str]:
    """Return the figures of a profile that are no distribution, with their sources."""
    from endive.storage import OBJECTS, OPERATIONS, grouped_prices

    lines = []
    if profile.min_latency_ms:
        lines.append(_with_note(f"floor of every latency: {profile.min_latency_ms:g} ms", profile, "floor"))
    if profile.leg_shares:
        shares = ", ".join(f"{OPERATIONS[op]} {part:g}" for op, part in sorted(profile.leg_shares.items()))
        lines.append(_with_note(f"share before the server evaluates (else 0.5): {shares}", profile, "legs"))
    if profile.writes_per_s_max:
        limit = f"conditional writes to one object: at most {profile.writes_per_s_max:g} per second"
        lines.append(_with_note(limit, profile, "write_limit"))
    if profile.head_before_read:
        objects = ", ".join(OBJECTS[obj] for obj in sorted(profile.head_before_read))
        lines.append(_with_note(f"HEAD before reading: {objects}", profile, "head_before_read"))
    for operations, price in grouped_prices(profile):
        lines.append(f"price of {operations}: {price}")
    if (by_bytes := profile.byte_prices) is not None:
        figures = (by_bytes.usd_per_gib_kept, by_bytes.usd_per_gib_written, by_bytes.usd_per_gib_read)
        told = "{:g} USD kept for a month, {:g} written, {:g} read".format(*figures)
        lines.append(f"price of a GiB: {told} ({by_bytes.source}, {by_bytes.date})")
    return lines


def _with_note(figure: str, profile: Profile, name: str) -> str:
    note = profile.notes.get(name)
    return figure if note is None else f"{figure} ({note.known}: {note.source})"
