"""Random configurations, valid by construction: every catalog, scope, protocol, kind and policy, in one mapping.

A configuration simulates a few seconds in which txns meet often, so that one example costs a fraction of a second.
Times are milliseconds, as in the TOML.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from tests.properties import section_strategies as sections
from tests.properties.section_strategies import KINDS, PROTOCOLS, Mapping, distributions, maybe, ms

TRACE = str(Path(__file__).parent / "arrivals.csv")
ARRIVALS = ("poisson", "exponential", "fixed", "uniform", "lognormal", "closed", "closed", "periodic", "jobs", "trace")


@st.composite
def source_keys(draw: Any, catalog: Mapping, commit: Mapping, detector: str, mode: str) -> Mapping:
    """What a source, or all of them, say about their txns."""
    resolved = PROTOCOLS[commit["protocol"]] | commit
    is_merging = resolved["real_conflict"] == "merge"
    kinds = KINDS[:4] if catalog.get("scope") == "partition" or mode == "append" else KINDS
    most = draw(st.sampled_from((0, 3)))  # 0: a source of one kind only, for which engines may take shorter ways
    weights = {kind: float(draw(st.integers(0, most))) for kind in kinds}
    weights[draw(st.sampled_from(kinds))] += 1.0
    keys: Mapping = {"operation_types": weights}
    if "expire_snapshots" in weights:
        keys["retain_last"] = draw(st.sampled_from((1, 2, 5, 40)))
        maybe(keys, draw, "expire_older_than_ms", ms(50.0, 2_000.0))
    overwrite = draw(st.sampled_from(("row_delta", "overwrite_files", "replace_partitions")))
    keys["overwrite"] = overwrite
    is_merged_unseen = is_merging and resolved["history"] in ("none", "every_kind")
    if overwrite != "replace_partitions" and not is_merged_unseen:
        maybe(keys, draw, "isolation", st.sampled_from(("serializable", "snapshot")))
    keys["referenced_files"] = draw(st.booleans()) if overwrite == "row_delta" else True
    if detector == "files":
        drawn = {"distribution": "uniform", "min": 1, "max": 8}
        keys["touched_files"] = draw(st.sampled_from((1, 3, "10%", "100%", drawn)))
    maybe(keys, draw, "rewritten_manifests", st.integers(0, 6))
    runtimes = ({"distribution": "fixed", "ms": 0.0}, {"mean": 300.0, "sigma": 1.0, "min": 50.0})
    keys["runtime"] = draw(st.one_of(st.sampled_from(runtimes), distributions(high=400.0)))
    maybe(keys, draw, "retry", st.integers(0, 6))
    keys.setdefault("retry", 4)
    maybe(keys, draw, "total_timeout_ms", st.sampled_from((0.0, 0.5, 200.0, 2_000.0)))
    maybe(keys, draw, "retry_backoff", sections.backoffs())
    if detector != "partition_overlap":
        maybe(keys, draw, "real_conflict_probability", st.sampled_from((0.0, 0.2, 1.0)))
    if not is_merging:
        maybe(keys, draw, "application_retries", st.integers(0, 2))
    maybe(keys, draw, "tables", table_choices(catalog["num_tables"]))
    if "partitions" in catalog:
        are_alike = "per_table" not in catalog["partitions"]
        maybe(keys, draw, "partitions", partition_choices(most_partitions(catalog["partitions"]), are_alike))
    return keys


def _add_reading(
    draw: Any, keys: Mapping, version: int, detector: str, is_merging: bool, has_partitions: bool, can_transact: bool
) -> None:
    """What a source has read, checks and writes; ``keys`` are those of the whole source."""
    if can_transact:
        maybe(keys, draw, "commit_path", st.sampled_from(("table", "transaction", "pyiceberg")))
    if draw(st.booleans()) or not keys["operation_types"]["validated_overwrite"]:
        return
    maybe(keys, draw, "starting_sequence_number", st.booleans())
    overwrite = keys["overwrite"]
    maybe(keys, draw, "adds_rows", st.booleans())
    if overwrite == "replace_partitions":
        _add_checked_partitions(draw, keys, detector, is_merging, has_partitions)
        return
    if keys.get("adds_rows", True):
        maybe(keys, draw, "added_rows", st.sampled_from(("touched", "apart")))
    choices = ("all", "added_rows", "none") if overwrite == "row_delta" else ("all", "none")
    keys["checks"] = draw(st.sampled_from(choices))
    if overwrite == "row_delta" and keys["checks"] == "none":
        by_position = "vector" if version == 3 else "position"
        maybe(keys, draw, "deletes", st.sampled_from((by_position, "equality", f"equality_and_{by_position}")))
    is_held = keys["checks"] != "none" and detector != "partition_overlap" and not is_merging
    if is_held and "real_conflict_probability" not in keys:
        reads = ("table", "files", "columns", *(["partitions"] * 2 if has_partitions else []))
        maybe(keys, draw, "read", st.sampled_from(reads))


def _add_checked_partitions(draw: Any, keys: Mapping, detector: str, is_merging: bool, has_partitions: bool) -> None:
    """An INSERT OVERWRITE whose writer gives an isolation level; a static one names its partitions."""
    if draw(st.booleans()) or is_merging or "real_conflict_probability" in keys:
        return
    keys["checks"] = "partitions"
    maybe(keys, draw, "isolation", st.sampled_from(("serializable", "snapshot")))
    if has_partitions and detector != "partition_overlap":
        maybe(keys, draw, "read", st.just("partitions"))


def most_partitions(partitions: Mapping) -> int:
    """Of the table that has most of them."""
    return int(max(partitions.get("per_table", [partitions.get("num_partitions", 1)])))


def _add_aftermath(draw: Any, source: Mapping, transaction: Mapping) -> None:
    """What follows a failure, as the arrivals of the source allow it."""
    if source["arrivals"]["kind"] == "trace":
        return
    kinds = [{"kind": "rerun", "times": 2, "pause_ms": 40.0}, {"kind": "rerun", "pause_ms": 0.0}]
    if source["arrivals"]["kind"] in ("closed", "jobs"):
        kinds += [{"kind": "restart", "delay_ms": 70.0}, {"kind": "restart", "delay_ms": 9.0, "unknown": "again"}]
        kinds += [{"kind": "carried"}, {"kind": "carried", "unknown": "again"}]
    if not (transaction | source).get("application_retries") and "partial_progress" not in source:
        maybe(source, draw, "after_failure", st.sampled_from(kinds))
    is_rerun = source.get("after_failure", {}).get("kind") == "rerun"
    if not is_rerun and not (transaction | source).get("application_retries"):
        maybe(source, draw, "commit_queue", st.sampled_from(("mine", "ours")))


def count_tables() -> st.SearchStrategy[Mapping]:
    """A number of tables or partitions that is drawn."""
    exponential = {"distribution": "exponential", "mean": 2.0, "min": 1, "max": 9}
    uniform = {"distribution": "uniform", "min": 1, "max": 3}
    return st.sampled_from((uniform, exponential, {"distribution": "fixed", "value": 2}))


@st.composite
def table_choices(draw: Any, num_tables: int) -> Mapping:
    """Which tables, and how many of them."""
    choice: Mapping = {}
    how = draw(st.sampled_from(("count", "count_zipf", "count_distribution")))
    numbers = {"count": st.integers(1, num_tables), "count_zipf": st.sampled_from((0.5, 1.5))}
    choice[how] = draw(numbers.get(how, count_tables()))
    _add_selection(draw, choice)
    if draw(st.integers(0, 2)) == 0:
        tables = st.integers(0, num_tables - 1)
        choice["only"] = draw(st.lists(tables, min_size=choice.get("count", 1), unique=True))
    return choice


@st.composite
def partition_choices(draw: Any, num_partitions: int, are_alike: bool) -> Mapping:
    """Which partitions, and how many of them."""
    choice: Mapping = {"count": draw(st.integers(1, num_partitions))}
    if draw(st.integers(0, 3)) == 0:
        choice = {"count_distribution": draw(count_tables())}
    if "count" in choice and are_alike and draw(st.integers(0, 3)) == 0:
        weights = draw(st.lists(st.sampled_from((0.0, 1.0, 3.5)), max_size=num_partitions - choice["count"]))
        choice["weights"] = draw(st.permutations([*weights, *[1.0] * choice["count"]]))
        maybe(choice, draw, "write_fraction", st.sampled_from((0.3, 0.5, 1.0)))
        return choice
    _add_selection(draw, choice)
    return choice


def _add_selection(draw: Any, choice: Mapping) -> None:
    choice["selection"] = draw(st.sampled_from(("uniform", "zipf")))
    if choice["selection"] == "zipf":
        maybe(choice, draw, "alpha", st.sampled_from((0.5, 1.5, 3.0)))
    maybe(choice, draw, "write_fraction", st.sampled_from((0.3, 0.5, 1.0)))


@st.composite
def arrivals(draw: Any) -> Mapping:
    """When a source submits: about a hundred txns at most."""
    kind = draw(st.sampled_from(ARRIVALS))
    gap = draw(ms(30.0, 400.0))
    think = draw(st.one_of(st.just(gap), distributions(low=20.0, high=300.0)))
    return {
        "poisson": {"kind": "poisson", "per_s": 1_000.0 / gap},
        "exponential": {"kind": "exponential", "mean_ms": gap},
        "fixed": {"kind": "fixed", "ms": gap},
        "uniform": {"kind": "uniform", "low_ms": 0.0, "high_ms": 2 * gap},
        "lognormal": {"kind": "lognormal", "mean_ms": gap, "sigma": 1.0},
        "closed": {"kind": "closed", "clients": draw(st.integers(1, 5)), "think_ms": think},
        "periodic": {"kind": "periodic", "period_ms": gap, "offset_ms": gap / 3, "jitter_ms": draw(ms(0.0, gap - 1.0))},
        "jobs": {
            "kind": "jobs",
            "jobs": draw(st.integers(1, 5)),
            "period_ms": 4 * gap,
            "phase": draw(st.sampled_from(("random", "spread", "together"))),
            "jitter_ms": draw(ms(0.0, gap)),
        },
        "trace": {"kind": "trace", "path": TRACE, "one_at_a_time": draw(st.booleans())},
    }[kind]


@st.composite
def configs(draw: Any, can_keep_and_fail: bool = True) -> Mapping:
    """A whole configuration, as ``endive.simulate`` takes it, perhaps with failures besides refusals.

    ``can_keep_and_fail``: also those whose clients keep their tables and whose requests fail.
    """
    catalog = draw(sections.catalogs())
    commit = draw(sections.commits())
    is_served = catalog["type"] == "service"
    is_read_by_client = not catalog.get("table_metadata_inlined", not is_served)
    if is_read_by_client and not (is_served and catalog["service"]["flavour"] == "rest"):
        maybe(commit, draw, "metadata_read", st.sampled_from(("as_needed", "each_attempt")))
    detector = draw(st.sampled_from(("probabilistic", "files")))
    if "partitions" in catalog:
        detector = draw(st.sampled_from(("probabilistic", "partition_overlap", "files")))
    if detector == "files" and "partitions" in catalog:  # files are spread evenly over partitions
        catalog["partitions"] = {"enabled": True, "num_partitions": most_partitions(catalog["partitions"])}
    mode = draw(st.sampled_from(("rewrite", "rewrite", "append")))
    transaction = draw(source_keys(catalog, commit, detector, mode))
    transaction["manifest_list_mode"] = mode
    if mode == "append":
        maybe(transaction, draw, "manifest_list_seal_threshold_bytes", st.sampled_from((0, 50, 220)))
        maybe(transaction, draw, "manifest_list_entry_bytes", st.sampled_from((1, 50)))
    if (PROTOCOLS[commit["protocol"]] | commit)["real_conflict"] == "merge":
        maybe(transaction, draw, "conflicting_manifests", conflicting())
    names = ("first", "second", "third")[: draw(st.integers(1, 3))]
    sources = []
    for name in names:
        own = draw(source_keys(catalog, commit, detector, mode)) if draw(st.booleans()) else {}
        sources.append({"name": name, "arrivals": draw(arrivals()), **own})
        if sources[-1]["arrivals"]["kind"] in ("closed", "jobs") and "append" not in (catalog["type"], mode):
            maybe(sources[-1], draw, "keeps_table", st.booleans())
        _add_partial_progress(draw, sources[-1])
        _add_aftermath(draw, sources[-1], transaction)
        maybe(sources[-1], draw, "start_ms", ms(0.0, 800.0))
        if draw(st.integers(0, 3)) == 0:
            sources[-1]["stop_ms"] = draw(ms(900.0, 2_000.0))
    table = draw(sections.tables(detector))
    is_merging = (PROTOCOLS[commit["protocol"]] | commit)["real_conflict"] == "merge"
    _add_rewrites_of_deletes(draw, transaction, sources, table.get("format_version", 2), detector)
    for source in sources:
        whole = {**transaction, **source}
        given = set(whole)
        is_java = commit["protocol"] == "iceberg" and not {"base", "io"} & set(commit) and mode == "rewrite"
        version, is_partitioned = table.get("format_version", 2), "partitions" in catalog
        _add_reading(draw, whole, version, detector, is_merging, is_partitioned, is_java)
        source.update({key: value for key, value in whole.items() if key not in given})
    if any("rewritten_files" in source for source in sources):
        for source in sources:
            whole = {**transaction, **source}
            if whole["overwrite"] == "row_delta" and whole.get("checks") != "none" and whole["referenced_files"]:
                maybe(source, draw, "delete_granularity", st.sampled_from(("file", "partition")))
    has_failures = catalog["type"] != "append" and draw(st.booleans())
    drop_unread(transaction, sources)
    if has_failures and not can_keep_and_fail:
        for source in sources:
            source.pop("keeps_table", None)
    return {
        "simulation": {"duration_ms": draw(ms(3_000.0, 9_000.0)), "seed": draw(st.integers(0, 1_000))},
        "storage": draw(sections.storages(catalog, mode)),
        "catalog": catalog,
        "table": table,
        "commit": commit,
        "transaction": transaction,
        "conflict": {"detector": detector},
        "source": sources,
        **({"failures": draw(sections.failures())} if has_failures else {}),
    }


def _add_partial_progress(draw: Any, source: Mapping) -> None:
    """Make a compaction of some sources, whose jobs commit several times."""
    if source["arrivals"]["kind"] in ("closed", "jobs", "trace") or draw(st.integers(0, 3)) > 0:
        return
    commits = draw(st.integers(1, 6))
    source["operation_types"] = {"validated_overwrite": 0.0, "expire_snapshots": 0.0, "rewrite_files": 1.0}
    source["partial_progress"] = {"commits": commits, "threads": draw(st.integers(1, commits))}


def _add_rewrites_of_deletes(
    draw: Any, transaction: Mapping, sources: list[Mapping], version: int, detector: str
) -> None:
    """Make a rewrite of position deletes of a source, perhaps."""
    source = draw(st.sampled_from(sources))
    if version == 3 or detector != "files" or "real_conflict_probability" in transaction | source:
        return
    if draw(st.booleans()):
        source["operation_types"] = {"validated_overwrite": 0.0, "expire_snapshots": 0.0, "rewrite_files": 1.0}
        source["rewritten_files"] = "position_deletes"


def drop_unread(transaction: Mapping, sources: list[Mapping]) -> None:
    """Take back what no source inherits from ``[transaction]``: a key that nothing reads is refused."""
    for key in list(transaction):
        heirs = [source for source in sources if key not in source]
        if key == "isolation":
            replacing = [heir for heir in heirs if heir.get("overwrite") == "replace_partitions"]
            heirs = [heir for heir in heirs if heir not in replacing or heir.get("checks") == "partitions"]
        if not heirs and not key.startswith(("manifest_list", "conflicting")):
            del transaction[key]


def conflicting() -> st.SearchStrategy[Mapping]:
    """How many manifests a real conflict merges."""
    exponential = {"distribution": "exponential", "mean": 2.0, "min": 1, "max": 8}
    uniform = {"distribution": "uniform", "min": 0, "max": 6}
    return st.sampled_from(({"distribution": "fixed", "value": 3}, uniform, exponential))
