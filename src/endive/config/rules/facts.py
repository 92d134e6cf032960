"""What a rule between keys looks at: a configuration, what was written, and facts that it names beside keys.

A key without a section is one of the source in question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from endive.config.capabilities import HAVE_NO_VINTAGES, is_profile_path
from endive.config.keys import SECTIONS, SOURCE
from endive.config.problems import Path, show, value_at
from endive.config.sections.arrivals import Closed, Jobs, Trace
from endive.config.sections.choices import FixedCount, ShareOfFiles, unknown_tables
from endive.config.sections.retries import BACKOFFS
from endive.config.sections.stream import stream_problem
from endive.vocabulary import KINDS, RELEASES

if TYPE_CHECKING:
    from endive.config.sections.source import SourceConfig
    from endive.config.simulation_config import SimulationConfig

APPENDS: Final = ("fast_append", "merge_append")
ADDS_ALONE: Final = (*APPENDS, "blind_append")
CAN_FAIL: Final = (
    "rewrite_files",
    "rewrite_manifests",
    "validated_overwrite",
    "append_after_read",
    "merge",
    "optimize",
)


@dataclass(frozen=True, slots=True)
class Scene:
    """A resolved configuration, one of its sources, and what was written."""

    config: SimulationConfig
    source: SourceConfig | None = None
    document: Mapping[str, Any] = field(default_factory=dict)
    index: int = 0  # of the source

    def path(self, key: str) -> Path:
        parts = tuple(key.split("."))
        return parts if parts[0] in SECTIONS else (SOURCE, self.index, *parts)

    def place(self, key: str) -> str:
        """The same as one text."""
        return ".".join(map(str, self.path(key)))

    def written(self, key: str) -> Any:
        """What the document holds at a key, or None."""
        return value_at(self.document, self.path(key))

    def value(self, key: str) -> Any:
        is_of_section, get = _getter(key)
        return get(self.config if is_of_section else self.source)

    def is_given(self, key: str) -> bool:
        """Whether a key was written, rather than filled in."""
        holder, _, leaf = key.rpartition(".")
        table: Any = self.value(holder) if holder else self.source
        return leaf in table.model_fields_set

    def can_do(self, kind: str) -> bool:
        """Whether the source may submit this kind: by its weights, or because a trace may name it."""
        assert self.source is not None
        return isinstance(self.source.arrivals, Trace) or getattr(self.source.operation_types, kind) > 0.0


@cache
def _getter(key: str) -> tuple[bool, Callable[[Any], Any]]:
    return key.partition(".")[0] in SECTIONS, attrgetter(key)


class Fact(NamedTuple):
    """What it is of a scene, and the keys it follows from."""

    about: str
    of: Callable[[Scene], Any]
    words: str = ""  # on the schema page; none where other rows about the key say enough


def _clients(scene: Scene) -> int:
    arrivals = scene.value("arrivals")
    if isinstance(arrivals, Trace):
        return int(arrivals.one_at_a_time)
    return arrivals.clients if isinstance(arrivals, Closed) else arrivals.jobs if isinstance(arrivals, Jobs) else 0


def _kinds_but(*own: str) -> Callable[[Scene], str]:
    """The kinds a source has weights for, apart from some, as a list in words."""
    return lambda scene: ", ".join(
        kind for kind in KINDS if kind not in own and getattr(scene.value("operation_types"), kind)
    )


def _most_touched(scene: Scene) -> int:
    counts = scene.value("touched_files")
    if isinstance(counts, ShareOfFiles):
        return 0
    return counts.value if isinstance(counts, FixedCount) else counts.max


def _is_backoff_contrary(scene: Scene) -> bool:
    table = scene.written("retry_backoff")
    written = table if isinstance(table, Mapping) else {}
    return {"enabled", "policy"} <= written.keys() and written["enabled"] is (written["policy"] == "none")


def _is_multi_table(scene: Scene) -> bool:
    choices = [source.tables for source in scene.config.sources]
    many = any(each.count > 1 or each.count_zipf or each.count_distribution for each in choices)
    return scene.config.catalog.num_tables > 1 and many


def _fewest_partitions(scene: Scene) -> int:
    return int(min(scene.value("catalog.partitions.per_table") or [scene.value("catalog.partitions.num_partitions")]))


def _is_queue_mixed(scene: Scene) -> bool:
    """Whether another source of the same queue gathers at another interval, or into another table."""
    own = scene.source
    assert own is not None
    mates = [each for each in scene.config.sources if each.commit_queue == own.commit_queue]
    return any((each.gather_every_ms, each.tables.only) != (own.gather_every_ms, own.tables.only) for each in mates)


def _length(key: str) -> Fact:
    return Fact(key, lambda scene: len(scene.value(key) or ()))


def _has_vintages(scene: Scene) -> bool:
    provider = scene.config.storage.provider
    return not (provider in HAVE_NO_VINTAGES or is_profile_path(provider))


def _is_metadata_read_by_client(scene: Scene) -> bool:
    catalog = scene.config.catalog
    is_rest = catalog.type == "service" and catalog.service.flavour == "rest"
    return not catalog.table_metadata_inlined and not is_rest


def _is_lock_in_dynamodb(scene: Scene) -> bool:
    lock = scene.config.catalog.service.lock
    return lock is None or lock.kind == "dynamodb"


def _is_conflict_named(scene: Scene) -> bool:
    """Whether the weight of a kind that can fail for good is written, be it 0."""
    return any(scene.is_given(f"operation_types.{kind}") for kind in CAN_FAIL)


FACTS: Final = {
    "always": Fact("", lambda _: True),
    "newest_release": Fact("", lambda _: RELEASES[-1]),
    # of the configuration
    "is_iceberg": Fact("table.format", lambda scene: scene.config.table.format == "iceberg"),
    "is_delta": Fact("table.format", lambda scene: scene.config.table.format == "delta"),
    "has_vintages": Fact("storage.provider", _has_vintages, "a `storage.provider` that has several sets of figures"),
    "is_metadata_read_by_client": Fact(
        "catalog.table_metadata_inlined catalog.type catalog.service.flavour",
        _is_metadata_read_by_client,
        '`catalog.table_metadata_inlined = false`, except with `catalog.service.flavour = "rest"`',
    ),
    "is_lock_in_dynamodb": Fact(
        "catalog.service.lock.kind", _is_lock_in_dynamodb, '`catalog.service.lock.kind = "dynamodb"`'
    ),
    "are_deletes_rewritten": Fact(
        "",
        lambda scene: any(each.rewritten_files == "position_deletes" for each in scene.config.sources),
        'a source with `rewritten_files = "position_deletes"`',
    ),
    "is_multi_table": Fact("catalog.num_tables", _is_multi_table),
    "last_table": Fact("catalog.num_tables", lambda scene: scene.config.catalog.num_tables - 1),
    "n_table_names": _length("catalog.table_names"),
    "n_per_table": _length("catalog.partitions.per_table"),
    "n_partition_counts": Fact(
        "catalog.partitions.per_table", lambda scene: len(set(scene.value("catalog.partitions.per_table") or ()))
    ),
    "fewest_partitions": Fact("catalog.partitions.num_partitions catalog.partitions.per_table", _fewest_partitions),
    # of a source
    "is_conflict_named": Fact("operation_types", _is_conflict_named),
    "has_pause": Fact("retry_backoff.policy", lambda scene: scene.value("retry_backoff.policy") != "none"),
    "clients": Fact("arrivals", _clients),
    "is_trace_there": Fact("arrivals", lambda scene: FilePath(scene.value("arrivals.path")).is_file()),
    "kept": Fact(
        "catalog.num_tables catalog.partitions",
        lambda scene: scene.config.catalog.num_tables * (1 + scene.config.catalog.partitions.num_partitions),
    ),
    "not_appends": Fact("operation_types", _kinds_but(*APPENDS)),
    "not_added": Fact("operation_types", _kinds_but(*ADDS_ALONE)),
    "not_rewrites": Fact("operation_types", _kinds_but("rewrite_files")),
    "most_touched": Fact("touched_files", _most_touched),
    "unknown": Fact(
        "tables.only catalog.num_tables catalog.table_names",
        lambda scene: ", ".join(map(show, unknown_tables(scene.value("tables"), scene.config.catalog))),
    ),
    "n_only": _length("tables.only"),
    "n_own": Fact(
        "tables catalog.num_tables",
        lambda scene: len(scene.value("tables.only") or range(scene.config.catalog.num_tables)),
    ),
    "n_weights": _length("partitions.weights"),
    "n_weighed": Fact(
        "partitions.weights", lambda scene: sum(each > 0 for each in scene.value("partitions.weights") or ())
    ),
    "is_queue_mixed": Fact("gather_every_ms commit_queue tables", _is_queue_mixed),
    "no_stream": Fact("arrivals operation_types adds_rows", lambda scene: stream_problem(scene.source) or ""),
    "is_backoff_contrary": Fact("retry_backoff", _is_backoff_contrary),
    "takes_longest_pause": Fact(
        "retry_backoff", lambda scene: "max_ms" in BACKOFFS[scene.value("retry_backoff.policy")].keys
    ),
    "policy": Fact("retry_backoff", lambda scene: show(scene.written("retry_backoff.policy"))),
}
