"""``endive catalogs``: the catalog services that ``catalog.profile`` may name, and how well their latency is known.

The profiles are ``endive.config.catalog_profile``'s.
"""

from __future__ import annotations

from typing import Any

from rich.markup import escape

from endive.cli.console import print_json, stdout
from endive.cli.options import AsJson
from endive.cli.tables import ms, new_table
from endive.config.catalog_profile import CATALOGS, CatalogProfile, catalog_profile


def catalogs(as_json: AsJson = False) -> None:
    """List the catalog services by name, with the latency of a request, how well it is known and who says so."""
    profiles = [catalog_profile(name) for name in CATALOGS]
    if as_json:
        print_json({profile.name: _profile_dict(profile) for profile in profiles})
    else:
        _print_all(profiles)


def _profile_dict(profile: CatalogProfile) -> dict[str, Any]:
    quantiles = zip(("p50_ms", "p95_ms", "p99_ms"), _quantiles_ms(profile), strict=True)
    return {
        **{key: getattr(profile, key) for key in ("name", "title", "description", "flavour")},
        "latency": profile.latency.to_table(),
        **dict(quantiles),
        **{key: getattr(profile, key) for key in ("known", "source", "mechanism", "borrowed_from")},
    }


def _print_all(profiles: list[CatalogProfile]) -> None:
    title = 'Catalog services: latency of one request in ms; catalog.profile = "NAME" takes one'
    columns = ("name", "flavour", ">P50", ">P95", ">P99", "known", "title, mechanism and source")
    table = new_table(title, *columns)
    for profile in profiles:
        text = f"{escape(profile.title)}\n{escape(profile.mechanism)}\n[dim]{escape(profile.source)}[/dim]"
        quantiles = [ms(value) for value in _quantiles_ms(profile)]
        table.add_row(profile.name, profile.flavour, *quantiles, profile.known, text)
    stdout().print(table)


def _quantiles_ms(profile: CatalogProfile) -> tuple[float, float, float]:
    from endive.distributions import from_table

    latency = from_table(profile.latency.to_table(), f"catalog profile {profile.name}")
    return latency.quantile(0.5), latency.quantile(0.95), latency.quantile(0.99)
