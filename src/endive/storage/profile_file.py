"""Profiles as files: where they are found, and everything that can be wrong with one.

What a figure means is in ``endive.storage.profile``.

Layout of a file; every table that holds a figure says its ``source``, and how well it is ``known``: measured,
published or assumed (assumed, if it does not say)::

    name, title, description, vintage          text
    capabilities = ["read", "write", ...]      read is always among them
    [latency.<operation>]                      a distribution table
    [latency.cas.success], [latency.cas.failure]   the same for append; failure may be left out
    [objects.<object>.<operation>]             as above, for one kind of object
    [floor]             min_latency_ms
    [legs]              <operation> = share of the latency before the server evaluates (0.5 if absent)
    [contention.<operation>]   window_ms, penalty = {a distribution table}
    [throttling.<operation>]   window_ms, delay = {a distribution table}
    [crowding.<operation>]     window_ms, and [[crowding.<operation>.among]] rivals, penalty = {a distribution table}
    [write_limit]       writes_per_s_max       successful conditional writes to one object
    [head_before_read]  objects = ["manifest_list"]
    [prices.<operation>]       usd_per_1000, date (the day the list was read)
    [byte_prices]       usd_per_gib_kept (for a month), usd_per_gib_written, usd_per_gib_read, date
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from endive.config.capabilities import BUILT_IN, is_profile_path
from endive.config.reading.document import document_in
from endive.distributions import FixedLatency, LatencyDistribution, from_table
from endive.errors import ConfigError, ProfileError
from endive.storage.contention import CROWD, CROWD_TABLES_MAX
from endive.storage.profile import (
    BytePrices,
    Crowding,
    CrowdTable,
    ExtraTime,
    Figure,
    Note,
    ObjectKey,
    OutcomeKey,
    Price,
    Profile,
)
from endive.storage.profile_table import ProfileTable, nearest
from endive.storage.requests import CAPABILITIES, CONDITIONAL_OPERATIONS, COSTS_AS, ORDERED_OPERATIONS
from endive.vocabulary import ASSUMED, KNOWN, OBJECTS, OPERATIONS, READ

MEASURED = "measured"  # the default figures
ORIGINAL = "original"  # the figures of the documents Endive began with
HYPOTHETICAL = "hypothetical"  # no such store exists, so there is one vintage only
VINTAGES = (MEASURED, ORIGINAL)
NAMES = tuple(BUILT_IN)

_FOLDER = Path(__file__).parent / "profiles"
_SUCCESS = "success"
_FAILURE = "failure"
_NO_PENALTY = "is missing. Give the distribution of a contended answer's extra time"
_NO_DELAY = "is missing. Give the distribution of a throttled request's wait"


def list_profiles(vintage: str = MEASURED) -> tuple[str, ...]:
    """Names of the built-in profiles of a vintage, the hypothetical ones included."""
    if vintage not in VINTAGES:
        raise ProfileError(f"vintage = {vintage!r} is unknown. Choose one of: {', '.join(VINTAGES)}.")
    return tuple(name for name in NAMES if _built_in_path(name, vintage) is not None)


def names_supporting(op: int) -> tuple[str, ...]:
    """Built-in providers that have the operation."""
    return tuple(name for name in NAMES if load_profile(name).supports(op))


def load_profile(name_or_path: str | Path, vintage: str = MEASURED) -> Profile:
    """A built-in profile by its name, or a user's own by the path of its TOML file.

    A file has one vintage, the one it states; ``vintage`` chooses among the built-in ones.
    """
    if isinstance(name_or_path, Path) or is_profile_path(name_or_path):
        return _read(Path(name_or_path))
    available = list_profiles(vintage)
    if name_or_path in available:
        return _load_built_in(name_or_path, vintage)
    if name_or_path in NAMES:
        reason = f"provider {name_or_path!r} has no figures of vintage {vintage!r}"
        raise ProfileError(f"{reason}. Those that have: {', '.join(available)}; or use vintage {MEASURED!r}.")
    raise ProfileError(
        f"provider {name_or_path!r} is unknown{nearest(name_or_path, NAMES)}. Choose one of: "
        f"{', '.join(available)}; or give the path of a profile file, ending in .toml."
    )


def parse_profile(data: Mapping[str, Any], where: str, default_name: str) -> Profile:
    """A profile from the contents of its file; ``ProfileError`` lists every problem, one line each."""
    table = ProfileTable(data, where, [])
    name = table.text("name", default=default_name)
    title = table.text("title", default=name)
    description = table.text("description", default="")
    vintage = table.text("vintage", default="user")
    capabilities = frozenset(table.codes("capabilities", OPERATIONS, CAPABILITIES))
    notes: dict[str, Note] = {}
    figures = _figures(table.table("latency"), capabilities)
    profile = Profile(
        name=name,
        title=title,
        description=description,
        vintage=vintage,
        capabilities=capabilities,
        figures=figures,
        object_figures=_object_figures(table.table("objects"), capabilities),
        min_latency_ms=_noted_number(table, "floor", "min_latency_ms", notes),
        leg_shares=_leg_shares(table.table("legs"), capabilities, notes),
        contention=_extra_times(table.table("contention"), capabilities, "penalty", _NO_PENALTY),
        throttling=_extra_times(table.table("throttling"), capabilities, "delay", _NO_DELAY),
        crowding=_crowding(table.table("crowding"), capabilities),
        writes_per_s_max=_noted_number(table, "write_limit", "writes_per_s_max", notes),
        head_before_read=_head_before_read(table.table("head_before_read"), notes),
        prices=_prices(table.table("prices"), capabilities),
        byte_prices=_byte_prices(table.table("byte_prices")),
        notes=notes,
    )
    if READ not in capabilities:
        table.problem("capabilities", "lacks 'read', which every provider has. Add it")
    for op in sorted(capabilities):
        is_borrowed = COSTS_AS.get(op) in capabilities
        if (op, True) not in figures and not is_borrowed and not table.has(f"latency.{OPERATIONS[op]}"):
            table.problem(f"latency.{OPERATIONS[op]}", "is missing. Add it, or drop it from capabilities")
    if profile.writes_per_s_max > 0.0 and not capabilities.intersection(ORDERED_OPERATIONS):
        table.problem("write_limit", "limits conditional writes, and capabilities name none. Remove it")
    table.table("measured").rest()  # what endive measure --check holds the profile against; the model does not read it
    table.finish()
    if table.problems:
        raise ProfileError("\n".join(table.problems))
    return profile


# ---- finding files ---------------------------------------------------------------------------------


def _built_in_path(name: str, vintage: str) -> Path | None:
    path = _FOLDER / f"{name}.toml"
    if vintage == MEASURED:
        return path
    in_vintage = _FOLDER / vintage / f"{name}.toml"
    if in_vintage.is_file():
        return in_vintage
    return path if _load_built_in(name, MEASURED).vintage == HYPOTHETICAL else None


@lru_cache(maxsize=32)
def _load_built_in(name: str, vintage: str) -> Profile:
    path = _built_in_path(name, vintage)
    assert path is not None, "asked only for names that list_profiles gives"
    return _read(path)


def _read(path: Path) -> Profile:
    data = document_in(path)
    if isinstance(data, str):
        raise ProfileError(f"profile file {str(path)!r} {data} Built-in names are: {', '.join(NAMES)}.")
    return parse_profile(data, str(path.name), path.stem)


# ---- the tables of a file --------------------------------------------------------------------------


def _figures(table: ProfileTable, capabilities: frozenset[int]) -> dict[OutcomeKey, Figure]:
    figures: dict[OutcomeKey, Figure] = {}
    for op, inner in table.by_name(OPERATIONS, range(len(OPERATIONS))):
        _check_claimed(inner, op, capabilities)
        for success, outcome in _outcomes(inner, op):
            figure = _figure(outcome)
            if figure is not None:
                figures[op, success] = figure
    return figures


def _object_figures(table: ProfileTable, capabilities: frozenset[int]) -> dict[ObjectKey, Figure]:
    return {
        (object, op, success): figure
        for object, inner in table.by_name(OBJECTS, range(len(OBJECTS)))
        for (op, success), figure in _figures(inner, capabilities).items()
    }


def _outcomes(table: ProfileTable, op: int) -> list[tuple[bool, ProfileTable]]:
    """Success and failure apart, if the operation can fail and the author tells them apart."""
    if op in CONDITIONAL_OPERATIONS and (table.has(_SUCCESS) or table.has(_FAILURE)):
        outcomes = [(True, table.table(_SUCCESS))]
        if not table.has(_SUCCESS):
            table.problem(_SUCCESS, "is missing. Give the latency of success as well as that of failure")
        if table.has(_FAILURE):
            outcomes.append((False, table.table(_FAILURE)))
        table.finish()
        return outcomes
    return [(True, table)]


def _figure(table: ProfileTable) -> Figure | None:
    note = _note(table)
    spec = table.rest()
    distribution = _distribution(spec, table)
    if distribution is None:
        return None
    return Figure(distribution=distribution, text=_as_text(spec), known=note.known, source=note.source)


def _note(table: ProfileTable) -> Note:
    """How well the figures of a table are known, and where they come from."""
    return Note(known=table.word("known", KNOWN, default=ASSUMED), source=table.text("source"))


def _distribution(spec: Mapping[str, Any], table: ProfileTable) -> LatencyDistribution | None:
    try:
        return from_table(spec, table.where)
    except (ConfigError, ValueError) as error:
        table.problems.extend(str(error).splitlines())
        return None


def _as_text(spec: Mapping[str, Any]) -> str:
    """A distribution table on one line, as a reader of the file would say it."""
    if spec.get("distribution") == "mixture":
        parts = [_as_text({key: part[key] for key in part if key != "weight"}) for part in spec["components"]]
        weights = [part["weight"] for part in spec["components"]]
        return "mixture of " + "; ".join(f"{w:g}: {part}" for w, part in zip(weights, parts, strict=True))
    rest = ", ".join(f"{key} = {value}" for key, value in spec.items() if key != "distribution")
    return f"{spec['distribution']}, {rest}"


def _noted_number(table: ProfileTable, section: str, key: str, notes: dict[str, Note]) -> float:
    inner = table.table(section)
    if not inner.is_given:
        return 0.0
    value = inner.number(key, above=0.0)
    notes[section] = _note(inner)
    inner.finish()
    return value


def _leg_shares(table: ProfileTable, capabilities: frozenset[int], notes: dict[str, Note]) -> dict[int, float]:
    if not table.is_given:
        return {}
    notes["legs"] = _note(table)
    table.expect(*(OPERATIONS[op] for op in sorted(capabilities)))
    shares: dict[int, float] = {}
    for op in sorted(capabilities):
        if table.has(OPERATIONS[op]):
            shares[op] = table.number(OPERATIONS[op], least=0.0, most=1.0)
    table.finish()
    return shares


def _extra_times(table: ProfileTable, capabilities: frozenset[int], key: str, missing: str) -> dict[int, ExtraTime]:
    """By operation: a window, and what a request inside it takes longer."""
    times: dict[int, ExtraTime] = {}
    for op, inner in table.by_name(OPERATIONS, ORDERED_OPERATIONS):
        _check_claimed(inner, op, capabilities)
        window_ms, note = inner.number("window_ms", above=0.0), _note(inner)
        extra, text = _extra(inner, key, missing)
        inner.finish()
        if extra is not None:
            text = f"{text}; window_ms = {window_ms:g}"
            times[op] = ExtraTime(window_ms=window_ms, extra=extra, text=text, known=note.known, source=note.source)
    return times


def _extra(table: ProfileTable, key: str, missing: str) -> tuple[LatencyDistribution | None, str]:
    """A distribution that must be there, and its table as text."""
    inner = table.table(key)
    if not inner.is_given:
        table.problem(key, missing)
        return None, ""
    spec = inner.rest()
    distribution = _distribution(spec, inner)
    return distribution, "" if distribution is None else _as_text(spec)


def _crowding(table: ProfileTable, capabilities: frozenset[int]) -> dict[int, Crowding]:
    crowding: dict[int, Crowding] = {}
    for op, inner in table.by_name(OPERATIONS, ORDERED_OPERATIONS):
        _check_claimed(inner, op, capabilities)
        window_ms, note = inner.number("window_ms", above=0.0), _note(inner)
        tables = [_crowd_table(one) for one in inner.tables("among")]
        rivals = [one.rivals for one in tables]
        if not 1 <= len(tables) <= CROWD_TABLES_MAX or rivals != sorted(set(rivals)):
            inner.problem("among", f"gives {rivals} rivals. Give one to {CROWD_TABLES_MAX} tables, their rivals rising")
        inner.finish()
        crowding[op] = Crowding(window_ms=window_ms, tables=tuple(tables), known=note.known, source=note.source)
    return crowding


def _crowd_table(table: ProfileTable) -> CrowdTable:
    rivals = table.number("rivals", least=1.0, most=CROWD - 1.0)
    if rivals != int(rivals):
        table.problem("rivals", f"= {rivals:g} is not a whole number. Give one from 1 to {CROWD - 1}")
    penalty, text = _extra(table, "penalty", "is missing. Give the distribution of the answer's extra time")
    table.finish()
    return CrowdTable(rivals=int(rivals), penalty=penalty or FixedLatency(0.0), text=text)


def _head_before_read(table: ProfileTable, notes: dict[str, Note]) -> frozenset[int]:
    if not table.is_given:
        return frozenset()
    objects = frozenset(table.codes("objects", OBJECTS, range(len(OBJECTS))))
    notes["head_before_read"] = _note(table)
    table.finish()
    return objects


def _prices(table: ProfileTable, capabilities: frozenset[int]) -> dict[int, Price]:
    prices: dict[int, Price] = {}
    for op, inner in table.by_name(OPERATIONS, range(len(OPERATIONS))):
        _check_claimed(inner, op, capabilities)
        prices[op] = Price(
            usd_per_1000=inner.number("usd_per_1000", least=0.0), date=inner.text("date"), source=inner.text("source")
        )
        inner.finish()
    return prices


def _byte_prices(table: ProfileTable) -> BytePrices | None:
    if not table.is_given:
        return None
    kept, written, read = (table.number(f"usd_per_gib_{what}", least=0.0) for what in ("kept", "written", "read"))
    prices = BytePrices(
        usd_per_gib_kept=kept,
        usd_per_gib_written=written,
        usd_per_gib_read=read,
        date=table.text("date"),
        source=table.text("source"),
    )
    table.finish()
    return prices


def _check_claimed(table: ProfileTable, op: int, capabilities: frozenset[int]) -> None:
    """A figure of an operation the provider does not claim would be read by nothing."""
    if op in CAPABILITIES and op not in capabilities:
        name = OPERATIONS[op]
        problem = f"is given, but capabilities lack {name!r}. Add it there, or remove the table."
        table.problems.append(f"{table.where} {problem}")
