"""Tables that a source keeps to: ``tables.only`` as it is written, and the numbers it stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import PlainValidator

from endive.config.values import Described, refusal

if TYPE_CHECKING:
    from endive.config.catalog import CatalogConfig
    from endive.config.transaction import TableChoice


def _check_tables(value: Any) -> tuple[int | str, ...]:
    tables = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if not tables or not all(isinstance(table, str) or (type(table) is int and table >= 0) for table in tables):
        raise refusal("must be a table's number from 0, its name, or a list of them that is not empty.")
    if len(set(tables)) < len(tables):
        raise refusal("must name each table once.")
    return tables


TableList = Annotated[
    tuple[int | str, ...],
    PlainValidator(_check_tables),
    Described("a table's number or name, or a list of them"),
]


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
