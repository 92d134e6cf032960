"""``python -m endive.first_names``: the names of the first documents as a table, for the page that lists them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from endive import first_names

# What does not go as the document writes it, and why.
DIFFERENCES: Final = {
    "IntentionRecord": "the log's offset is the catalog's to know: specification 656 reads an `expected_offset` "
    "that the record of 422 lacks",
    "Workload": "one of your own is a `WorkloadConfig` and classes of transactions; `generate` yields transactions "
    "only, each with its `submit_time`: the loop of specification 1395 would run its timeouts as transactions",
    "WorkloadConfig": "by keyword: its fields without default follow those with one, which Python refuses",
}


def rows() -> Iterator[tuple[str, str, str]]:
    """Name, what it is, what is not as written."""
    for name in first_names.__all__:
        value = getattr(first_names, name)
        is_adapter = value.__module__.startswith("endive.first_names")
        yield (
            name,
            "a constructor" if is_adapter else f"`{value.__module__}.{value.__name__}`",
            DIFFERENCES.get(name, ""),
        )


if __name__ == "__main__":
    print("| first documents | here | not as written |\n|---|---|---|")
    for row in rows():
        print(f"| `{row[0]}` | {row[1]} | {row[2]} |")
