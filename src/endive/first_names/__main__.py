"""``python -m endive.first_names``: the names of the first documents as a table, for the page that lists them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from endive import first_names

# What does not go as the document writes it, and why.
DIFFERENCES: Final = {
    "LatencyDistribution": "one of your own has `quantile`, not `sample`: a draw that only a generator knows "
    "would depend on the order of events (specification 8.5)",
    "StorageProvider": "one of your own is a profile file, or `endive.storage.StorageProvider` with one method, `ask`, "
    "which draws by name (specification 8.5)",
    "Catalog": "one of your own is an `endive.catalog.Catalog`: `commit` takes one value, the intention, because an "
    "`expected_seq` can decide for the whole catalog only (internals 162 to 199)",
    "IntentionRecord": "the log's offset is the catalog's to know: specification 656 reads an `expected_offset` "
    "that the record of 422 lacks",
    "Workload": "`generate` yields txns only, each with its `submit_time`: the loop of specification 1395 "
    "would run its timeouts as txns",
    "WorkloadConfig": "by keyword: its fields without default follow those with one, which Python refuses",
    "load_simulation_config": "returns values, not parts, and `Simulation` takes both: parts hold state (specification "
    "552, 1135), so that a second run would go on where the first stopped, against 8.5",
}


def rows() -> Iterator[tuple[str, str, str]]:
    """Name, what it is, what is not as written."""
    for name in first_names.__all__:
        value = getattr(first_names, name)
        is_adapter = value.__module__.startswith("endive.first_names")
        yield name, "adapter" if is_adapter else f"`{value.__module__}.{value.__name__}`", DIFFERENCES.get(name, "")


if __name__ == "__main__":
    print("| first documents | here | not as written |\n|---|---|---|")
    for row in rows():
        print(f"| `{row[0]}` | {row[1]} | {row[2]} |")
