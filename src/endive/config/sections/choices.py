"""Which tables, partitions and data files a txn touches, and how many of each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, model_validator

from endive.config.values import (
    OFF,
    Described,
    Flag,
    Forms,
    Number,
    Share,
    Table,
    Whole,
    ZipfExponent,
    key,
    refusal,
    rising,
    variants,
)

if TYPE_CHECKING:
    from endive.config.sections.catalog import CatalogConfig

TABLES_PER_TXN_MAX = 256
WEIGHTS_MAX = 1_000
# Partitions by age: a stream writes the newest, a job over finished data the one before.
PARTITION_WORDS = {"newest": [1.0], "previous": [0.0, 1.0]}


class ExponentialCount(Table):
    """Rounded exponential, clipped."""

    distribution: Literal["exponential"] = "exponential"
    mean: Annotated[float, Number(0, 1_000_000, is_low_allowed=False)] = key(3.0, "Mean.")
    min: Annotated[int, Whole(0, 1_000_000)] = key(1, "Fewest.")
    max: Annotated[int, Whole(1, 1_000_000)] = key(10, "Most.")

    _is_ordered = rising("min", "max")


class FixedCount(Table):
    """The same number every time."""

    distribution: Literal["fixed"] = "fixed"
    value: Annotated[int, Whole(0, 1_000_000)] = Field(description="The number.")


class UniformCount(Table):
    """Equally likely whole numbers."""

    distribution: Literal["uniform"] = "uniform"
    min: Annotated[int, Whole(0, 1_000_000)] = key(1, "Fewest.")
    max: Annotated[int, Whole(1, 1_000_000)] = key(10, "Most.")

    _is_ordered = rising("min", "max")


class ShareOfFiles(Table):
    """A share of the table's data files, at least one; only for `touched_files`, where `"5%"` says the same."""

    distribution: Literal["share"] = "share"
    share: Share = Field(description="The share, above 0 and at most 1.")


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
    return value


COUNTS: tuple[type[Table], ...] = (ExponentialCount, FixedCount, UniformCount)
_EXAMPLE = '{distribution = "exponential", mean = 3, min = 1, max = 10}'
_COUNT_FORMS = variants("distribution", COUNTS, _EXAMPLE, default="exponential")
CountTable = Annotated[ExponentialCount | FixedCount | UniformCount, Forms("a count table", _COUNT_FORMS)]
_TOUCHED_FORMS: Any = Annotated[
    variants("distribution", (*COUNTS, ShareOfFiles), _EXAMPLE, default="exponential"),
    BeforeValidator(_spell_out_touched),
]
TouchedFiles = Annotated[
    ExponentialCount | FixedCount | UniformCount | ShareOfFiles,
    Forms("a whole number, a share such as '5%', or a count table", _TOUCHED_FORMS),
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

    count: Annotated[int, Whole(1, TABLES_PER_TXN_MAX)] = key(
        1,
        "Tables per txn.",
        None,
        {"tables.one_each": (False,)},
        {"tables.count_zipf": OFF},
        {"tables.count_distribution": OFF},
    )
    count_zipf: ZipfExponent | None = key(
        None,
        "Exponent of a truncated Zipf distribution of the tables per txn, instead of count. `ntable.zipf` is an alias.",
        None,
        {"tables.one_each": (False,)},
    )
    count_distribution: CountTable | None = key(
        None,
        "Distribution of the tables per txn, instead of count; at least one, at most all there are.",
        None,
        {"tables.one_each": (False,)},
    )
    selection: Literal["uniform", "zipf"] = key(
        "uniform", "How tables are picked; zipf makes the first ones hot.", None, {"tables.one_each": (False,)}
    )
    alpha: ZipfExponent = key(1.5, "Exponent.", None, {"tables.one_each": (False,)}, {"tables.selection": ("zipf",)})
    write_fraction: Share = key(
        1.0, "Share of the tables read that is written, at least one.", None, {"tables.one_each": (False,)}
    )
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
        implied=False,
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

    count: Annotated[int, Whole(1)] = key(1, "Partitions per table.", None, {"partitions.count_distribution": OFF})
    count_distribution: CountTable | None = key(
        None, "Distribution of the partitions per table, instead of count; at least one, at most all it has."
    )
    selection: Literal["uniform", "zipf"] = key(
        "uniform", "How partitions are picked; zipf makes the first ones hot.", None, {"partitions.weights": OFF}
    )
    alpha: ZipfExponent = key(1.5, "Exponent.", None, {"partitions.selection": ("zipf",)})
    weights: PartitionWeights | None = key(
        None,
        "How often each partition is picked, the first one first, instead of selection; one that is not in "
        "the list is never picked. `endive observe` finds them in a table's manifests.",
    )
    write_fraction: Share = key(1.0, "Share of them that is written, at least one.")

    @model_validator(mode="before")
    @classmethod
    def _expand_word(cls, value: Any) -> Any:
        """Return the weights that a word stands for: ``partitions = "newest"``."""
        if isinstance(value, str):
            if value not in PARTITION_WORDS:
                raise refusal(f"must be a table, or one of: {', '.join(PARTITION_WORDS)}.")
            return {"count": 1, "weights": PARTITION_WORDS[value]}
        return value


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
