"""What decides results and nobody gave: what a statement has read, how many files it touches, in which partitions.

On the plain form of a resolved configuration, which travels with every dataset; each sentence names the key that would
settle it. A run, an analysis and every command that answers show these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

MAINTENANCE: Final = ("expire_snapshots", "rewrite_manifests")  # operations that touch no data files
# Operations that only add files: minded by whoever is told apart by files.
APPENDS: Final = ("fast_append", "merge_append", "blind_append", "append_after_read")


def what_is_unsaid(plain: Mapping[str, Any]) -> tuple[str, ...]:
    sentences = (reading_unsaid(plain), overlap_unsaid(plain), partitions_unsaid(plain))
    return tuple(sentence for sentence in sentences if sentence is not None)


def reading_sources(plain: Mapping[str, Any]) -> tuple[str, ...]:
    """The sources which do not say what they read; none if what was read decides nothing."""
    if plain["conflict"]["detector"] == "partition_overlap" or plain.get("commit", {}).get("real_conflict") != "abort":
        return ()
    return tuple(source["name"] for source in plain["source"] if _has_to_say(source))


def reading_unsaid(plain: Mapping[str, Any]) -> str | None:
    """One sentence that names the sources which do not say what they read; None if all do, or none has to."""
    names = reading_sources(plain)
    if not names:
        return None
    listed, is_one = ", ".join(names), len(names) == 1
    return (
        f"What {listed} read{'s' if is_one else ''} is not said, so files that others add elsewhere are taken not to "
        f"match {'its' if is_one else 'their'} predicate, and success rates are upper bounds. Set read = 'table' (no "
        "predicate on the target, as in MERGE ... ON t.id = s.id: any append since the scan then fails it), "
        "'partitions' or 'files'."
    )


def _has_to_say(source: Mapping[str, Any]) -> bool:
    if "read" in source or "real_conflict_probability" in source or not _validates(source):
        return False
    is_row_delta = source.get("overwrite") == "row_delta" and source.get("checks") != "added_rows"
    return source.get("isolation") == "serializable" or is_row_delta


def _validates(source: Mapping[str, Any]) -> bool:
    """Whether one of its operations may be an overwrite that looks for rivals."""
    can_overwrite = source["operation_types"].get("validated_overwrite") or source["arrivals"]["kind"] == "trace"
    return bool(can_overwrite) and source.get("checks") != "none" and source.get("overwrite") != "replace_partitions"


def overlap_sources(plain: Mapping[str, Any]) -> tuple[str, ...]:
    """The sources of which nothing says how often they meet others; none if no conflict is possible."""
    detector = plain["conflict"]["detector"]
    sources = plain["source"]
    if detector == "partition_overlap" or not any(_can_conflict(source, plain) for source in sources):
        return ()
    if detector != "files":
        return failing_sources(plain)
    are_rows_minded = any(_minds_rows_by_file(source) for source in sources)
    silent = (source for source in sources if "touched_files" not in source)
    return _without_probability(source for source in silent if _touches_files(source, are_rows_minded))


def failing_sources(plain: Mapping[str, Any]) -> tuple[str, ...]:
    """The sources that others can make fail for good, and of which no probability says how often."""
    return _without_probability(source for source in plain["source"] if _can_conflict(source, plain))


def _without_probability(sources: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(source["name"] for source in sources if "real_conflict_probability" not in source)


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


def partition_sources(plain: Mapping[str, Any]) -> tuple[str, ...]:
    """The sources whose txns pick some of the partitions by chance; none if nobody's verdict depends on which."""
    if not partition_readers(plain):
        return ()
    partitions = plain["catalog"].get("partitions", {})
    most = max(partitions.get("per_table", (partitions.get("num_partitions", 1),)))
    return tuple(source["name"] for source in plain["source"] if _picks_by_chance(source, most))


def partitions_unsaid(plain: Mapping[str, Any]) -> str | None:
    """One sentence on partitions that chance picks, beside a statement that has read some."""
    names = partition_sources(plain)
    if len(names) < 2:
        return None
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return (
        f"{listed} pick their partitions by chance, each txn for itself, so they meet as seldom as chance has it, and "
        "success rates are upper bounds. Set partitions.weights of a source (a list, one number for each partition) "
        "if its rows lie in some more than in others."
    )


def partition_readers(plain: Mapping[str, Any]) -> list[str]:
    """The sources whose predicate names partitions, where rows in them decide."""
    if plain["conflict"]["detector"] == "partition_overlap":
        return []
    return [
        source["name"]
        for source in plain["source"]
        if source.get("read") == "partitions" and source.get("isolation") != "snapshot"
    ]


def _picks_by_chance(source: Mapping[str, Any], most: int) -> bool:
    choice = source.get("partitions", {})
    return bool(choice.get("selection") == "uniform" and choice.get("count", most) < most)


def _minds_rows_by_file(source: Mapping[str, Any]) -> bool:
    """Whether files that others add fail it where they meet files it has read."""
    is_serializable = source.get("isolation", "serializable") == "serializable"
    return _validates(source) and is_serializable and source.get("read") not in ("table", "partitions")


def _touches_files(source: Mapping[str, Any], are_rows_minded: bool) -> bool:
    """Whether one of its operations takes or refers to data files, or adds some that are minded."""
    harmless = MAINTENANCE if are_rows_minded else MAINTENANCE + APPENDS
    is_replayed = source["arrivals"]["kind"] == "trace"
    return is_replayed or any(weight and kind not in harmless for kind, weight in source["operation_types"].items())


def _can_conflict(source: Mapping[str, Any], plain: Mapping[str, Any]) -> bool:
    weights = source["operation_types"]
    if "commit" not in plain:
        return _can_meet_in_delta(source, plain)
    if plain["commit"]["real_conflict"] == "merge":
        return True
    return _validates(source) or source["arrivals"]["kind"] == "trace" or bool(weights.get("rewrite_files"))


def _can_meet_in_delta(source: Mapping[str, Any], plain: Mapping[str, Any]) -> bool:
    """Whether files that others remove decide, and not what it has read of the table or its partitions.

    Delta Spark's OPTIMIZE fails if one of its files is gone; delta-rs's if any is.
    """
    removers = [each["name"] for each in plain["source"] if _removes_in_delta(each)]
    is_alone = removers == [source["name"]] and source["arrivals"]["kind"] == "periodic"
    if not _removes_in_delta(source) or is_alone:
        return False
    weights = source["operation_types"]
    if weights.get("optimize") and plain["delta"]["client"] != "delta_rs":
        return True
    return bool(weights.get("merge")) and source.get("read", "files") in ("files", "nothing")


def _removes_in_delta(source: Mapping[str, Any]) -> bool:
    return bool(source["operation_types"].get("merge") or source["operation_types"].get("optimize"))
