"""Sources that can be in real conflict while nothing says how often they meet others.

How conflicts are told is in ``endive.config.sections``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def overlap_sources(plain: Mapping[str, Any]) -> tuple[str, ...]:
    """The sources of which nothing says how often they meet others; none if no conflict is possible."""
    detector = plain["conflict"]["detector"]
    sources = plain["source"]
    if detector == "partition_overlap" or not any(_can_conflict(source, plain) for source in sources):
        return ()
    if detector == "files":
        names = [source["name"] for source in sources if "touched_files" not in source]
    else:
        names = [source["name"] for source in sources if _can_conflict(source, plain)]
    return tuple(name for name in names if not _has_probability(sources, name))


def overlap_unsaid(plain: Mapping[str, Any]) -> str | None:
    """One sentence that names the sources; None if everything is said, or no conflict is possible."""
    names = overlap_sources(plain)
    if not names:
        return None
    is_by_files = plain["conflict"]["detector"] == "files"
    missing = "touched_files" if is_by_files else "table.data_files and touched_files"
    listed = ", ".join(names)
    return (
        f"How many data files {listed} touch{'es' if len(names) == 1 else ''} is not said, so real conflicts with "
        f"{'it' if len(names) == 1 else 'them'} are left out and success rates are upper bounds. Give {missing}, or "
        "real_conflict_probability (0 if they never meet)."
    )


def _has_probability(sources: list[Mapping[str, Any]], name: str) -> bool:
    return any(source["name"] == name and "real_conflict_probability" in source for source in sources)


def _can_conflict(source: Mapping[str, Any], plain: Mapping[str, Any]) -> bool:
    """Whether others can make one of its operations fail for good."""
    weights = source["operation_types"]
    if "commit" not in plain:  # Delta: what is read and removed decides, files or not
        return False
    if plain["commit"]["real_conflict"] == "merge":
        return True
    is_checked = source.get("overwrite") != "replace_partitions" and source.get("checks") != "none"
    is_validated = bool(weights.get("validated_overwrite")) and is_checked
    is_replayed = source["arrivals"]["kind"] == "trace"
    return is_validated or is_replayed or bool(weights.get("rewrite_files"))
