"""Profiles of catalog services: what one request takes, how the service commits, and how well that is known.

A profile fills in ``catalog.latency``, ``catalog.service.flavour`` and ``reads_metadata`` where the configuration has
none; the service that answers is ``endive.catalog.service``.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Final, Literal, get_args

from endive.config.sections.distribution import Fixed, Spec, read_distribution
from endive.vocabulary import ASSUMED, GIVEN, KNOWN

if TYPE_CHECKING:
    from endive.config.sections.catalog import CatalogConfig

CatalogName = Literal["glue", "hive", "jdbc", "lakekeeper", "nessie", "polaris", "s3tables", "unity"]
CATALOGS: Final[tuple[str, ...]] = get_args(CatalogName)
DYNAMODB: Final = "dynamodb"
UNSAID_LATENCY_MS: Final = 1.0  # of a catalog about which the configuration says nothing
REST_ANSWER_MS_PER_MIB: Final = 60.0  # endive measure catalog, Iceberg's own server: 57 to 65, half of it PyIceberg's
UNSAID: Final = "catalog of unsaid latency"
_FOLDER: Final = "catalogs"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPrice:
    """What calls of a catalog service cost by list, beyond those that are free in a month."""

    usd_per_1000: float
    free_per_month: float
    source: str
    date: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogProfile:
    """One catalog service."""

    name: str
    title: str
    description: str
    flavour: Literal["pointer", "rest"]
    latency: Spec  # of one request, read or commit
    known: str
    source: str
    mechanism: str  # what its commits and loads do, and what of it is not simulated
    reads_metadata: str = "never"  # when its server reads metadata.json from the store
    price: CallPrice | None = None
    borrowed_from: str = ""  # the product whose latency stands in for its own


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyNote:
    """Whose latency a configuration's catalog has, how well it is known, and who says so."""

    of: str
    known: str
    source: str


@lru_cache(maxsize=len(CATALOGS) + 1)
def catalog_profile(name: str) -> CatalogProfile:
    text = resources.files("endive.config").joinpath(_FOLDER, f"{name}.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    figure = data.pop("latency")
    known, source = figure.pop("known"), figure.pop("source")
    assert known in KNOWN, f"{name}: known = {known!r}"
    assert data["flavour"] in ("pointer", "rest"), f"{name}: flavour = {data['flavour']!r}"
    price = data.pop("price", None)
    return CatalogProfile(
        name=name,
        latency=read_distribution(figure),
        known=known,
        source=source,
        price=None if price is None else CallPrice(**price),
        **data,
    )


def borrowed_note(catalog: CatalogConfig) -> str | None:
    """A sentence where the latency under a service's name is that of another product; ``catalog`` is resolved."""
    profile = None if catalog.profile is None else catalog_profile(catalog.profile)
    if profile is None or not profile.borrowed_from or catalog.latency != profile.latency:
        return None
    return (
        f"catalog.profile = '{profile.name}' has the latency of {profile.borrowed_from}: nobody has published its own, "
        f"so nothing here tells {profile.title} from another REST catalog. 'endive measure catalog' measures yours."
    )


def latency_note(catalog: CatalogConfig) -> LatencyNote:
    """How well the latency of a catalog that is a server is known; ``catalog`` is resolved."""
    name = DYNAMODB if catalog.type == DYNAMODB else catalog.profile
    profile = None if name is None else catalog_profile(name)
    if profile is not None and catalog.latency == profile.latency:
        return LatencyNote(of=f"catalog {profile.name}", known=profile.known, source=profile.source)
    if profile is None and catalog.latency == Fixed(ms=UNSAID_LATENCY_MS):
        source = "by Endive: 1 ms where the configuration says nothing"
        return LatencyNote(of=UNSAID if catalog.type == "service" else "catalog", known=ASSUMED, source=source)
    return LatencyNote(of="catalog", known=GIVEN, source="by the user, catalog.latency")
