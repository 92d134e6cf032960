"""The reference of all keys, read off the models: what ``endive config schema`` prints.

Every word about a key comes from its declaration, so the reference cannot disagree with what is checked.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from inspect import getdoc

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from endive.config.effects import describe, keys_of_format
from endive.config.keys import SECTIONS, allowed_text, extra_text, key_of, tables_of
from endive.config.reading.former_names import INTER_ARRIVAL, former_spellings
from endive.config.sections.arrivals import ARRIVALS
from endive.config.sections.choices import COUNTS
from endive.config.sections.commit import CHOICES, PRESETS
from endive.config.sections.distribution import FAMILIES
from endive.config.sections.retries import BACKOFFS
from endive.config.sections.source import ShortRuntime, SourceConfig, SourceKeys
from endive.config.sections.storage import ObjectsConfig, ShortLognormal, ShortNormal, ShortSizeBased
from endive.config.toml_text import value_text
from endive.config.values import Table, name_of
from endive.vocabulary import KINDS_OF

OF_SOURCE = "source.<name>."
KEY_COLUMNS = ("key", "allowed", "default", "meaning")


@dataclass(frozen=True, slots=True)
class ReferenceSection:
    """One heading of the reference: what it is about, and a table."""

    title: str
    about: str
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...] = field(default=KEY_COLUMNS)


def reference() -> tuple[ReferenceSection, ...]:
    """Every key there is, section by section, then the tables that several keys share."""
    return (
        *(ReferenceSection(f"[{name}]", _about(table), tuple(_rows(name, table))) for name, table in SECTIONS.items()),
        _sources(),
        _arrivals(),
        _distributions(),
        _latencies(),
        _counts(),
        _protocols(),
        _backoff(),
        _formats(),
        _spellings(),
    )


def reference_csv() -> str:
    """Every key with everything that is said of it, as rows."""
    keys = [row for section in reference() if section.columns == KEY_COLUMNS for row in section.rows]
    text = io.StringIO()
    plain = ([cell.replace("`", "").replace("**", "") for cell in row] for row in keys)
    csv.writer(text, lineterminator="\n").writerows([KEY_COLUMNS, *plain])
    return text.getvalue()


def _about(table: type[Table]) -> str:
    return " ".join((getdoc(table) or "").split()).replace("``", "`")


def _rows(prefix: str, table: type[Table]) -> Iterator[tuple[str, str, str, str]]:
    if table is ObjectsConfig:
        yield from _object_rows(prefix)
        return
    for name, declared in table.ordered_fields().items():
        key = f"{prefix}.{key_of(name, declared)}"
        inner = tables_of(declared)
        if len(inner) == 1 and not inner[0].tags and allowed_text(declared) == "a table":
            yield from _rows(key, inner[0].table)
        elif name not in ("distribution", "kind") or declared.description:  # a tag of variants needs no words
            yield _row(key, declared)


def _object_rows(prefix: str) -> Iterator[tuple[str, str, str, str]]:
    """One row for each request, with the objects that it goes to."""
    objects: dict[str, list[str]] = {}
    fields: dict[str, FieldInfo] = {}
    for name, holder in ObjectsConfig.model_fields.items():
        for operation, declared in tables_of(holder)[0].table.model_fields.items():
            objects.setdefault(operation, []).append(name)
            fields[operation] = declared
    for operation, names in objects.items():
        key, allowed, default, meaning = _row(f"{prefix}.<object>.{operation}", fields[operation])
        yield key, allowed, default, f"{meaning.partition(' Only with')[0]} Objects: {', '.join(names)}."


def _row(key: str, declared: FieldInfo) -> tuple[str, str, str, str]:
    allowed = allowed_text(declared).removeprefix("one of: ")
    extra = declared.json_schema_extra if isinstance(declared.json_schema_extra, dict) else {}
    words = describe(extra.get("only", ()))  # type: ignore[arg-type]
    when = f" Only with {words}." if words else ""
    return f"`{key}`", allowed, _default(declared), f"{declared.description or ''}{when}"


def _default(declared: FieldInfo) -> str:
    said = extra_text(declared, "default_text")
    if said is not None:
        return said
    if declared.is_required():
        return "required"
    value = declared.get_default()
    if value is None or value is PydanticUndefined:
        return "none"
    if isinstance(value, Table):
        to_table = getattr(value, "to_table", value.model_dump)
        return f"`{value_text(to_table())}`"
    return value_text(value)


def _sources() -> ReferenceSection:
    return ReferenceSection(
        "[[source]]",
        "One named stream of txns; there may be several, and they run at once. Without any, there is one "
        "named `default`. `[transaction]` may give any key of a source but `name`, `arrivals`, `start_ms` and "
        "`stop_ms`: it holds for every source that does not give its own, a table as a whole. `--set` reaches a source "
        'by its name or its number: `source.writers.retry`, `source.0.retry`. `recipe = "flink_sink"` fills in what '
        "such a writer does, and takes parameters of its own: `endive recipes` lists them. Without a name it is "
        "called as its recipe.",
        tuple(_rows(OF_SOURCE.rstrip("."), SourceConfig)),
    )


def _formats() -> ReferenceSection:
    return ReferenceSection(
        "Table formats",
        "What only one `table.format` reads; it has no effect on a table of another format. A table "
        "stands for all its keys. Every key that is not listed is read by all formats.",
        tuple((f"`{name}`", ", ".join(f"`{key}`" for key in keys_of_format(name))) for name in KINDS_OF),
        ("format", "keys of its own"),
    )


def _spellings() -> ReferenceSection:
    rows: dict[str, list[str]] = {}
    for former, present in former_spellings(SourceKeys.model_fields):
        if former.split(".")[1] not in SourceKeys.model_fields:
            rows.setdefault(former, []).append(f"`{present.replace('*', '<name>')}`")
    return ReferenceSection(
        "Other spellings",
        "Older keys, and those of the original documents, are accepted and mean the present ones. What "
        "`[storage.objects]` gives itself wins over a `T_` key; `T_PUT` wins over `T_MANIFEST_LIST`, and every other "
        "`T_` key over `T_PUT`.",
        tuple((f"`{former.replace('*', '<name>')}`", ", ".join(present)) for former, present in rows.items()),
        ("spelling", "present key"),
    )


def _variants(chooser: str, tables: Sequence[type[Table]]) -> tuple[tuple[str, ...], ...]:
    rows: list[tuple[str, ...]] = []
    for table in tables:
        rows.append((f'`{chooser} = "{name_of(table, chooser)}"`', "", "", f"**{_about(table)}**"))
        rows += [row for row in _rows("", table) if "min_latency_ms" not in row[0]]
    return tuple((key.replace("`.", "`"), *rest) for key, *rest in rows)


def _arrivals() -> ReferenceSection:
    return ReferenceSection(
        "Arrivals tables",
        'When a source submits: `arrivals = { kind = "closed", clients = 50, think_ms = 0.0 }`. '
        "`exponential` is another name for `poisson`. The one source there is when none is named may have them as "
        f"`transaction.{INTER_ARRIVAL}`, which takes `distribution` `exponential` (`scale`, the mean gap), `fixed`, "
        "`uniform` and `lognormal` with the keys of the kind of that name.",
        _variants("kind", ARRIVALS),
    )


def _distributions() -> ReferenceSection:
    return ReferenceSection(
        "Distribution tables",
        'For example `{ distribution = "lognormal", median_ms = 27.0, sigma = 0.62 }`. Every family also '
        "takes `min_latency_ms`, a floor applied after sampling, which its mean and quantiles include.",
        _variants("distribution", FAMILIES),
    )


def _latencies() -> ReferenceSection:
    forms: list[tuple[str, ...]] = []
    for table in (ShortNormal, ShortLognormal, ShortSizeBased, ShortRuntime):
        forms.append((f"**{_about(table)}**", "", "", ""))
        forms += [(key.replace("`.", "`"), *rest) for key, *rest in _rows("", table)]
    return ReferenceSection(
        "Latency tables and other short forms",
        "The keys of `[storage.objects]` take a distribution table or one of the first three forms; "
        "`runtime` of a source takes a distribution table, the last one, or a time as text.",
        tuple(forms),
    )


def _counts() -> ReferenceSection:
    return ReferenceSection(
        "Count tables",
        "For `transaction.conflicting_manifests`; `exponential` if no distribution is named.",
        _variants("distribution", COUNTS),
    )


def _protocols() -> ReferenceSection:
    rows = tuple((f"`commit.{key}`", *(PRESETS[name][key] for name in PRESETS)) for key in CHOICES)
    return ReferenceSection(
        "Protocols",
        "What each `commit.protocol` chooses. A key of `[commit]` replaces one choice.",
        rows,
        ("choice", *PRESETS),
    )


def _backoff() -> ReferenceSection:
    rows = tuple(
        (f"`{policy}`", *map(value_text, figures), ", ".join(keys) or "none")
        for policy, (*figures, keys) in BACKOFFS.items()
        if policy != "none"
    )
    return ReferenceSection(
        "Backoff policies",
        "What each `retry_backoff.policy` does unless told otherwise, and which figures it lets be changed.",
        rows,
        ("policy", "base_ms", "multiplier", "max_ms", "jitter", "may be changed"),
    )
