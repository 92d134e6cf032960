"""Which tables, partitions and data files a txn touches, and how many of each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, PlainValidator, Tag

from endive.config.values import (
    Described,
    Flag,
    Number,
    OneOf,
    Share,
    Table,
    Whole,
    ZipfExponent,
    key,
    refusal,
    unknown_name,
)

if TYPE_CHECKING:
    from endive.config.sections.catalog import CatalogConfig

TABLES_PER_TXN_MAX = 256
WEIGHTS_MAX = 1_000


class ExponentialCount(Table):
    """Rounded exponential, clipped."""

    distribution: Literal["exponential"] = "exponential"
    mean: Annotated[float, Number(0, 1_000_000, is_low_allowed=False)] = key(3.0, "Mean.")
    min: Annotated[int, Whole(0, 1_000_000)] = key(1, "Fewest.")
    max: Annotated[int, Whole(1, 1_000_000)] = key(10, "Most.")


class FixedCount(Table):
    """The same number every time."""

    distribution: Literal["fixed"] = "fixed"
    value: Annotated[int, Whole(0, 1_000_000)] = Field(description="The number.")


class UniformCount(Table):
    """Equally likely whole numbers."""

    distribution: Literal["uniform"] = "uniform"
    min: Annotated[int, Whole(0, 1_000_000)] = key(1, "Fewest.")
    max: Annotated[int, Whole(1, 1_000_000)] = key(10, "Most.")


class ShareOfFiles(Table):
    """A share of the table's data files, at least one; only for `touched_files`, where `"5%"` says the same."""

    distribution: Literal["share"] = "share"
    share: Share = Field(description="The share, above 0 and at most 1.")


COUNTS = ("exponential", "fixed", "uniform")


def _count_tag(value: Any) -> str:
    if isinstance(value, dict):
        return f"<{value.get('distribution', 'exponential')}>"
    return f"<{getattr(value, 'distribution', None)}>"


def _refuse_unknown_count(value: Any) -> Any:
    if isinstance(value, Table):
        return value
    if not isinstance(value, dict):
        raise refusal('must be a table such as {distribution = "exponential", mean = 3, min = 1, max = 10}.')
    if value.get("distribution", "exponential") not in COUNTS:
        raise refusal(unknown_name(value["distribution"], COUNTS), key="distribution")
    low, high = value.get("min", 1), value.get("max", 10)
    if isinstance(low, int) and isinstance(high, int) and low > high:
        raise refusal(f"must be at least min = {low}.", key="max")
    return value


def _spell_out_touched(value: Any) -> Any:
    """A number and a percentage as the tables they stand for."""
    if isinstance(value, int) and not isinstance(value, bool):
        return {"distribution": "fixed", "value": value}
    if isinstance(value, str):
        percentage = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", value)
        if percentage:
            return {"distribution": "share", "share": float(percentage[1]) / 100.0}
    if not isinstance(value, (dict, Table)):
        raise refusal("must be a whole number, a share such as '5%', or a count table.")
    if isinstance(value, dict) and value.get("distribution") == "share":
        return value
    return _refuse_unknown_count(value)


TouchedFiles = Annotated[
    Annotated[ExponentialCount, Tag("<exponential>")]
    | Annotated[FixedCount, Tag("<fixed>")]
    | Annotated[UniformCount, Tag("<uniform>")]
    | Annotated[ShareOfFiles, Tag("<share>")],
    Discriminator(_count_tag),
    BeforeValidator(_spell_out_touched),
    Described("a whole number, a share such as '5%', or a count table"),
]

CountTable = Annotated[
    Annotated[ExponentialCount, Tag("<exponential>")]
    | Annotated[FixedCount, Tag("<fixed>")]
    | Annotated[UniformCount, Tag("<uniform>")],
    Discriminator(_count_tag),
    BeforeValidator(_refuse_unknown_count),
    Described("a count table"),
]


def _check_tables(value: Any) -> tuple[int | str, ...]:
    tables = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if not tables or not all(isinstance(table, str) or (type(table) is int and table >= 0) for table in tables):
        raise refusal("must be a table's number from 0, its name, or a list of them that is not empty.")
    if len(set(tables)) < len(tables):
        raise refusal("must name each table once.")
    return tables


TableList = Annotated[
    tuple[int | str, ...], PlainValidator(_check_tables), Described("a table's number or name, or a list of them")
]


class TableChoice(Table):
    """Which tables a txn reads, and how many of them it writes."""

    count: Annotated[int, Whole(1, TABLES_PER_TXN_MAX)] = key(1, "Tables per txn.")
    count_zipf: ZipfExponent | None = key(
        None,
        "Exponent of a truncated Zipf distribution of the tables per txn, instead of count. `ntable.zipf` is an alias.",
    )
    count_distribution: CountTable | None = key(
        None, "Distribution of the tables per txn, instead of count; at least one, at most all there are."
    )
    selection: Annotated[Literal["uniform", "zipf"], OneOf()] = key(
        "uniform", "How tables are picked; zipf makes the first ones hot."
    )
    alpha: ZipfExponent = key(1.5, "Exponent.")
    write_fraction: Share = key(1.0, "Share of the tables read that is written, at least one.")
    only: TableList | None = key(
        None,
        "The tables of this source, by number from 0 or by a name of `catalog.table_names`: one of them, "
        "or a list; it never touches the others.",
        "all",
    )
    one_each: Flag = key(
        False,
        "Whether every client or job of the source has a table of its own: the first has the first of "
        "`only`, or of all. Needs arrivals of kind 'closed' or 'jobs'.",
    )


def _weights(value: Any) -> Any:
    is_list = isinstance(value, (list, tuple)) and 0 < len(value) <= WEIGHTS_MAX
    numbers = [each for each in value if type(each) in (int, float) and 0.0 <= each <= 1e9] if is_list else []
    if not any(numbers) or len(numbers) < len(value):
        raise refusal(
            f"must be a list of 1 to {WEIGHTS_MAX} numbers from 0 to 1e9, such as [3, 1, 0]; not all of them 0."
        )
    return tuple(float(each) for each in numbers)


PartitionWeights = Annotated[
    tuple[float, ...], BeforeValidator(_weights), Described("a list of numbers, one for each partition")
]


class PartitionChoice(Table):
    """Which partitions of each table a txn touches, and how many of them it writes."""

    count: Annotated[int, Whole(1)] = key(1, "Partitions per table.")
    count_distribution: CountTable | None = key(
        None, "Distribution of the partitions per table, instead of count; at least one, at most all it has."
    )
    selection: Annotated[Literal["uniform", "zipf"], OneOf()] = key(
        "uniform", "How partitions are picked; zipf makes the first ones hot."
    )
    alpha: ZipfExponent = key(1.5, "Exponent.")
    weights: PartitionWeights | None = key(
        None,
        "How often each partition is picked, the first one first, instead of selection; one that is not in "
        "the list is never picked. `endive observe` finds them in a table's manifests.",
    )
    write_fraction: Share = key(1.0, "Share of them that is written, at least one.")


def own_tables(choice: TableChoice, catalog: CatalogConfig) -> tuple[int, ...]:
    """Numbers of the tables a source may touch, as it lists them."""
    if choice.only is None:
        return tuple(range(catalog.num_tables))
    names = catalog.table_names or ()
    return tuple(names.index(table) if isinstance(table, str) else table for table in choice.only)


def unknown_tables(choice: TableChoice, catalog: CatalogConfig) -> tuple[int | str, ...]:
    """What ``tables.only`` lists and the catalog does not have."""
    names = catalog.table_names or ()
    return tuple(
        table
        for table in choice.only or ()
        if (table not in names if isinstance(table, str) else table >= catalog.num_tables)
    )
