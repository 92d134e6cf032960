"""The ``[commit]`` section: a protocol is a preset of named choices, and each choice can be set on its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from endive.config.values import Check, Clause, Number, Table, Whole, key, refusal
from endive.vocabulary import RELEASES

MANIFESTS_PER_COMMIT_MAX = 1_000.0


@dataclass(frozen=True, slots=True)
class RecordedRelease(Check):
    """A release line that the package has recordings of."""

    words = f"a release that was recorded: {', '.join(RELEASES)}"

    def check(self, value: object) -> str:
        """The release; unquoted, as in ``--set commit.release=1.9``, it comes as a number."""
        release = "1.10" if value == 1.1 else str(value)
        if release not in RELEASES:
            raise refusal(
                f"was never recorded, so nobody knows its requests. Choose one of: {', '.join(RELEASES)}; or "
                "record it in a checkout: python -m rigs.record java-pairs --release."
            )
        return release


Protocol = Literal["iceberg", "pyiceberg", "spec", "merge", "v4"]
PROTOCOLS: tuple[str, ...] = get_args(Protocol)
# Choice, and what each protocol takes for it.
_PRESETS = (
    ("base", "refresh", "start", "start", "start", "refresh"),
    ("io", "before_swap", "before_swap", "after_failure", "after_failure", "before_swap"),
    ("repair", "after_refresh", "after_refresh", "after_refresh", "before_refresh", "after_refresh"),
    ("own_manifest", "once", "each_attempt", "none", "none", "none"),
    ("metadata", "each_attempt", "if_current", "per_conflict", "per_false_conflict", "each_attempt"),
    ("history", "fixed_start", "fixed_start_on_retry", "since_last_attempt", "every_kind", "fixed_start"),
    ("history_io", "serial", "serial", "batched", "batched", "serial"),
    ("merging", "bins", "off", "n_behind", "off", "flush"),
    ("real_conflict", "abort", "abort", "abort", "merge", "abort"),
    ("after_success", "reload", "clean_up", "none", "none", "reload"),
    ("head", "profile", "written", "never", "never", "profile"),
)
PRESETS: dict[str, dict[str, str]] = {
    protocol: {choice: values[place] for choice, *values in _PRESETS} for place, protocol in enumerate(PROTOCOLS)
}
CHOICES = tuple(choice for choice, *_ in _PRESETS)


def _choice(name: str, description: str, *clauses: Clause) -> Any:
    by_protocol = ", ".join(f"{protocol}: {choices[name]}" for protocol, choices in PRESETS.items())
    text = f"by protocol ({by_protocol})"
    return key(lambda data: PRESETS[data.get("protocol", "iceberg")][name], description, text, *clauses)


class CommitConfig(Table):
    """How a txn turns its work into a new version."""

    protocol: Protocol = key(
        "iceberg",
        "Preset of the choices below: Java Iceberg as measured, PyIceberg, the refactoring "
        "specification (swap first, repair after), the original experiments (the same, but real "
        "conflicts are merged), or Iceberg v4 as proposed (root manifests).",
    )
    release: Annotated[str, RecordedRelease()] = key(
        RELEASES[-1],
        "Release of Java Iceberg whose requests are meant, where those that were recorded differ. From "
        "1.10 on, what takes data files reads every delete manifest of the table, and a Transaction cleans up in one "
        "request. From 1.11 on, a fast append behind REST asks once more after its success, the check for deletion "
        "vectors is pruned by partition, and an expiry opens no manifests.",
        None,
        {"commit.protocol": ("iceberg",)},
        implied=RELEASES[-1],
    )
    base: Literal["refresh", "start"] = _choice(
        "base", "What the first attempt builds on: the newest version, or the one the txn started from."
    )
    io: Literal["before_swap", "after_failure"] = _choice(
        "io", "When the expensive I/O happens: before the swap on every attempt, or after a failed swap."
    )
    repair: Literal["after_refresh", "before_refresh"] = _choice(
        "repair",
        "Whether a retry reads the newest version and repairs on it, or repairs what the refusal told and reads the "
        "version it swaps on last, without a look at what came between. The first documents do the latter; their swap "
        "answers with the state, so a cas catalog does then too.",
    )
    own_manifest: Literal["once", "each_attempt", "none"] = _choice(
        "own_manifest",
        "When the txn writes the manifest of its own new files; on each attempt, an append does so while it reads the "
        "current list.",
    )
    metadata: Literal["each_attempt", "if_current", "per_conflict", "per_false_conflict"] = _choice(
        "metadata", "When the table metadata object is read and written."
    )
    metadata_read: Literal["as_needed", "each_attempt"] = key(
        "as_needed",
        "Whether an attempt reads the table metadata object only where commit.metadata says so, or every "
        "attempt does, the first included.",
        None,
        {"catalog.table_metadata_inlined": (False,)},
        {"catalog.service.flavour": ("pointer",)},
    )
    history: Literal["fixed_start", "fixed_start_on_retry", "since_last_attempt", "every_kind", "none"] = _choice(
        "history", "Which manifest lists of intermediate snapshots are read to validate."
    )
    history_io: Literal["serial", "batched"] = _choice(
        "history_io",
        "Whether those lists are read one after another or storage.max_parallel at a time.",
        {"commit.history": ("fixed_start", "fixed_start_on_retry", "since_last_attempt", "every_kind")},
    )
    merging: Literal["bins", "off", "n_behind", "flush"] = _choice(
        "merging",
        "Manifest merging: whole bins of enough manifests, never, in proportion to n_behind, or entries of a root "
        "manifest that one leaf takes.",
    )
    min_count_to_merge: Annotated[int, Whole(2, 2**31 - 1)] = key(
        100,
        "Smallest bin of manifests that is merged, or entries at which a root is flushed.",
        None,
        {"commit.merging": ("bins", "flush")},
    )
    manifests_per_concurrent_commit: Annotated[float, Number(0, MANIFESTS_PER_COMMIT_MAX)] = key(
        1.5, "Manifests read and written per snapshot behind.", None, {"commit.merging": ("n_behind",)}
    )
    real_conflict: Literal["abort", "merge"] = _choice(
        "real_conflict", "What a real conflict does: ends the txn, or merges manifests and tries again."
    )
    after_success: Literal["reload", "clean_up", "none"] = _choice(
        "after_success",
        "What follows a commit: the new table state read back and what lost attempts wrote deleted, only the latter, "
        "or nothing.",
    )
    head: Literal["profile", "written", "never"] = _choice(
        "head",
        "HEAD requests: before reads, as the storage profile says; for the length of each manifest written and before "
        "each metadata object is written; or never.",
    )

    @property
    def refusals_return_state(self) -> bool:
        """Whether a refused swap carries the current state, unless the catalog says otherwise."""
        return self.protocol == "spec" or self.repair == "before_refresh"  # the latter is the choice of merge
