"""One load under each value of a choice: in every table format, on every store, with every kind of catalog.

A table format has one variant per client that commits to it. A value that the configuration refuses stays in the list
with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from endive.answers.answer import Answer, Cell, make_table
from endive.answers.limit import ANY, NONE, Limit, find_limit
from endive.answers.limit_answer import headline_of_limit
from endive.answers.replicate import Replicator
from endive.answers.variation import LOAD, Base, ConfigLike, base_of
from endive.answers.warnings import sort
from endive.config.capabilities import BUILT_IN
from endive.config.catalog_profile import CATALOGS
from endive.config.keys import choices_at
from endive.config.reading.format_switch import DELTA, FORMAT_KEY, ICEBERG
from endive.errors import ConfigError, ObjectiveError

CLIENTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Iceberg": {FORMAT_KEY: ICEBERG},
    "Delta Spark": {FORMAT_KEY: DELTA, "delta.client": "spark"},
    "delta-rs": {FORMAT_KEY: DELTA, "delta.client": "delta_rs"},
}


@dataclass(frozen=True, slots=True)
class Variant:
    """What one value makes of the configuration, or why it makes nothing."""

    name: str
    base: Base | None
    problem: str = ""


def variants_of(config: ConfigLike, key: str, overrides: Mapping[str, Any], listed: str = "") -> tuple[Variant, ...]:
    """Return the configuration under each value of a choice, or under those that are listed.

    Overrides that only another format reads apply to that format alone.
    """
    values = [value.strip() for value in listed.split(",") if value.strip()] or values_of(key)
    named = CLIENTS if key == FORMAT_KEY and not listed else {value: {key: value} for value in values}
    return tuple(_variant(config, name, {**overrides, **values}) for name, values in named.items())


def values_of(key: str) -> tuple[str, ...]:
    """Return the names that a key takes: those of its type, or the built-in profiles."""
    built_in = {
        "storage.provider": tuple(name for name in BUILT_IN if name not in ("constant", "fifo")),
        "catalog.profile": tuple(CATALOGS),
    }
    return tuple(choices_at(key)) or built_in.get(key, ())


def _variant(config: ConfigLike, name: str, values: Mapping[str, Any]) -> Variant:
    try:
        return Variant(name, base_of(config, values))
    except ConfigError as error:
        return Variant(name, None, error.problems[0])


def number_and_choice(keys: list[str]) -> tuple[str, str | None]:
    """Which of the keys that are varied is the number whose limit is asked for, and which the choice it depends on."""
    choices = [key for key in keys if values_of(key)]
    numbers = [key for key in keys if key not in choices]
    if len(numbers) > 1 or len(choices) > 1:
        many = numbers if len(numbers) > 1 else choices
        raise ObjectiveError(
            f"--vary takes one number and one choice, not both of {' and '.join(many[:2])}. Ask twice."
        )
    return (numbers or [LOAD])[0], next(iter(choices), None)


def find_limits(variants: tuple[Variant, ...], key: str, **options: Any) -> tuple[tuple[Variant, Limit | str], ...]:
    """Return the limit of a number in each variant, or a sentence that says why there is none."""
    progress = options.pop("progress", None)
    limits: list[tuple[Variant, Limit | str]] = []
    for variant in variants:
        if variant.base is None:
            limits.append((variant, variant.problem))
            continue
        try:
            limits.append((variant, find_limit(variant.base, key, replicator=Replicator(progress=progress), **options)))
        except ObjectiveError as error:
            limits.append((variant, str(error)))
    return tuple(limits)


def choice_answer(choice: str, key: str, found: tuple[tuple[Variant, Limit | str], ...]) -> Answer:
    """Return the limits of all variants, the largest first, and why some have none."""
    limits = [(variant, limit) for variant, limit in found if not isinstance(limit, str)]
    ranked = sorted(limits, key=lambda each: -each[1].value)
    rows = [
        (
            variant.name,
            Cell(_limit_text(limit), limit.value),
            "" if limit.which in (ANY, NONE) else limit.span,
            "-" if limit.now is None else limit.text_of(limit.now),
        )
        for variant, limit in ranked
    ]
    columns = (choice.rpartition(".")[2], f">{key.rpartition('.')[2]}", "99 % CI", ">now")
    notes = [f"{variant.name}: {limit}" for variant, limit in found if isinstance(limit, str)]
    notes += [
        f"{v.name}: {note}" for v, limit in limits for note in (*limit.notes, *([limit.doubt] if limit.doubt else []))
    ]
    best = ranked[0] if ranked else None
    headline = f"{choice}: no value has a limit of {key}"
    if best is not None:
        headline = f"{best[0].name}: {headline_of_limit(best[1])}; the most of {len(found)} values of {choice}"
    return Answer(
        question="limit",
        headline=headline,
        tables=(make_table(columns, rows),) if rows else (),
        notes=tuple(notes),
        warnings=sort(warned for _, limit in limits for warned in limit.warnings),
        provenance=f"{sum(limit.simulations for _, limit in limits):,} simulations",
    )


def _limit_text(limit: Limit) -> str:
    if limit.which == ANY:
        return f"any up to {limit.text_of(limit.high)}"
    return "none" if limit.which == NONE else limit.text_of(limit.value)
