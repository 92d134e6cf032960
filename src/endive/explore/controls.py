"""The controls of a configuration: which keys come first, what each may hold, and every other key by search.

What a key means and may hold is read off the schema (``endive.config.key_reference``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from endive.answers.variation import Base
from endive.config.capabilities import BUILT_IN
from endive.config.key_reference import KEY_COLUMNS, reference
from endive.config.sections.catalog import DELTA_LOGS
from endive.config.toml_text import key_text

SLIDER: Final = "slider"
CHOICE: Final = "choice"
TEXT: Final = "text"
SPAN: Final = 40.0  # how far a slider reaches to both sides of what it starts with, as a factor
ANY_SOURCE: Final = "source.<name>."


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One key that can be moved; a slider goes from ``low`` to ``high`` by factors if ``is_log``."""

    key: str
    label: str
    group: str
    form: str
    value: Any
    meaning: str = ""
    allowed: str = ""
    unit: str = ""
    low: float = 0.0
    high: float = 0.0
    is_log: bool = False
    is_whole: bool = False
    choices: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def all_keys() -> tuple[tuple[str, str, str, str], ...]:
    """Return every key of the schema: key, allowed values, default, meaning."""
    sections = [each for each in reference() if each.columns == KEY_COLUMNS and each.title.startswith("[")]
    keys = [[cell.replace("`", "") for cell in row] for section in sections for row in section.rows]
    return tuple((row[0], row[1], row[2], row[3]) for row in keys)


def _said(key: str) -> tuple[str, str]:
    """Return what a key may hold and what it means; when it has an effect is left out: what is on the page has one."""
    parts = key.split(".")
    declared = ANY_SOURCE + ".".join(parts[2:]) if parts[0] == "source" else key
    for name, allowed, _, meaning in all_keys():
        if name == declared:
            return allowed, meaning.partition(" Only with ")[0]
    head = key.rpartition(".")[0]
    return ("", _said(head)[1]) if head else ("", "")  # a part of a table is explained by the table


def controls_of(base: Base) -> list[Control]:
    """Return the handful that matters for a configuration, the ones of its sources first."""
    plain = base.config.to_dict()
    sources = [control for source in plain["source"] for control in _of_source(source)]
    return [*sources, *_of_catalog(plain, base.document), *_of_run(plain)]


# --- sources ------------------------------------------------------------------------------------------


def _of_source(source: Mapping[str, Any]) -> Iterator[Control]:
    prefix, group = f"source.{key_text(source['name'])}", str(source["name"])
    yield from _arrivals(source["arrivals"], f"{prefix}.arrivals", group)
    yield from _mean_of(source["runtime"], f"{prefix}.runtime", group, "Work before the commit")
    yield _slider(f"{prefix}.retry", "Retries", group, source["retry"], low=0, high=max(20, 2 * source["retry"]))
    yield _choice(f"{prefix}.retry_backoff.policy", "Backoff", group, source["retry_backoff"]["policy"])
    if "isolation" in source:
        yield _choice(f"{prefix}.isolation", "Isolation", group, source["isolation"])
    if "application_retries" in source:
        given = source["application_retries"]
        yield _slider(f"{prefix}.application_retries", "Restarts after a conflict", group, given, low=0, high=20)
    if "real_conflict_probability" in source:
        value = source["real_conflict_probability"]
        yield _slider(f"{prefix}.real_conflict_probability", "Real conflicts", group, value, low=0.0, high=1.0)


# Of each kind of arrivals: the key, its label and unit; a key without a unit is a whole number.
_ARRIVALS: Final = {
    "closed": (("clients", "Writers", ""),),
    "poisson": (("per_s", "Txns per second", "/s"),),
    "jobs": (("jobs", "Jobs", ""), ("period_ms", "One commit every", "ms")),
    "periodic": (("period_ms", "One every", "ms"),),
    "fixed": (("ms", "One every", "ms"),),
    "lognormal": (("mean_ms", "One every (mean)", "ms"),),
}


def _arrivals(arrivals: Mapping[str, Any], key: str, group: str) -> Iterator[Control]:
    for name, label, unit in _ARRIVALS.get(arrivals["kind"], ()):
        value = 1000.0 / arrivals["mean_ms"] if name == "per_s" else arrivals[name]
        yield _by_factors(f"{key}.{name}", label, group, value, unit=unit, is_whole=not unit)
    if arrivals["kind"] == "closed":
        yield from _mean_of(arrivals["think_ms"], f"{key}.think_ms", group, "Pause between txns")


def _mean_of(table: Any, key: str, group: str, label: str) -> Iterator[Control]:
    """Yield a slider for the number that decides a distribution, if it has one."""
    if not isinstance(table, Mapping):
        return
    name = next((name for name in ("mean_ms", "median_ms", "ms", "base_latency_ms") if name in table), None)
    if name is not None and table[name] > 0:
        yield _by_factors(f"{key}.{name}", label, group, table[name], unit="ms")


# --- catalog, store and run ---------------------------------------------------------------------------


def _of_catalog(plain: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[Control]:
    group = "Store and catalog"
    catalog, written = plain["catalog"], document.get("catalog", {})
    is_delta = plain["table"].get("format") == "delta"
    yield _choice("storage.provider", "Store", group, plain["storage"]["provider"], tuple(BUILT_IN))
    yield _choice("catalog.type", "Catalog", group, catalog["type"], _commit_points(is_delta=is_delta))
    if "profile" in written and not is_delta:
        yield _choice("catalog.profile", "Service", group, written["profile"])
    elif isinstance(written.get("latency"), Mapping):
        yield from _mean_of(catalog["latency"], "catalog.latency", group, "Catalog latency")
    elif "latency_ms" in catalog and catalog["latency_ms"] > 0:
        yield _by_factors("catalog.latency_ms", "Catalog latency", group, catalog["latency_ms"], unit="ms")
    if not is_delta:
        yield _choice("catalog.scope", "Conflicts within", group, catalog["scope"])
    yield _slider("catalog.num_tables", "Tables", group, catalog["num_tables"], low=1, high=1_000, is_log=True)
    partitions = catalog["partitions"]
    if partitions["enabled"]:
        key = "catalog.partitions.num_partitions"
        yield _slider(key, "Partitions", group, partitions["num_partitions"], low=1, high=10_000, is_log=True)
    yield _choice("table.format", "Table format", group, plain["table"].get("format", "iceberg"))
    if "commit" in plain:
        yield _choice("commit.protocol", "Commit protocol", group, plain["commit"]["protocol"])
    else:
        yield _choice("delta.client", "Client", group, plain["delta"]["client"])


def _commit_points(*, is_delta: bool) -> tuple[str, ...]:
    """Return where tables of the format commit; the others would be refused."""
    listed = (each.strip() for each in _said("catalog.type")[0].split(","))
    return tuple(each for each in listed if each == "service" or (each in DELTA_LOGS) == is_delta)


def _of_run(plain: Mapping[str, Any]) -> Iterator[Control]:
    group = "Simulation"
    yield _control("slo.objective", "Objective", group, plain.get("slo", {}).get("objective", ""), form=TEXT)
    yield _by_factors("simulation.duration_ms", "Simulated time", group, plain["simulation"]["duration_ms"], unit="ms")


# --- leaves -------------------------------------------------------------------------------------------


def _control(key: str, label: str, group: str, value: Any, **more: Any) -> Control:
    allowed, meaning = _said(key)
    return Control(key=key, label=label, group=group, value=value, allowed=allowed, meaning=meaning, **more)


def _slider(key: str, label: str, group: str, value: float, *, is_whole: bool | None = None, **scale: Any) -> Control:
    is_whole = isinstance(value, int) if is_whole is None else is_whole
    return _control(key, label, group, value, form=SLIDER, is_whole=is_whole, **scale)


def _by_factors(key: str, label: str, group: str, value: float, *, unit: str = "", is_whole: bool = False) -> Control:
    """Return a slider that reaches as far to both sides, by factors."""
    low, high = value / SPAN, value * SPAN
    ends = (max(1.0, round(low)), max(10.0, round(high))) if is_whole else (float(f"{low:.2g}"), float(f"{high:.2g}"))
    scale: dict[str, Any] = {"low": ends[0], "high": ends[1], "is_log": True, "unit": unit}
    return _slider(key, label, group, value, is_whole=is_whole, **scale)


def _choice(key: str, label: str, group: str, value: Any, choices: tuple[str, ...] = ()) -> Control:
    listed = choices or tuple(part.strip() for part in _said(key)[0].split(","))
    choices = listed if value in listed else (str(value), *listed)
    return _control(key, label, group, value, form=CHOICE, choices=choices)
