"""The page of all keys, for people: what ``endive config schema --markdown`` prints.

The reference says everything of every key. The page has a line for each key that people change, and the names of the
others; the CSV beside it has the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from endive.config.key_reference import KEY_COLUMNS, ReferenceSection, reference

WORDS_MAX: Final = 11  # of a meaning; a longer one loses its brackets and what follows a semicolon or a colon
_OPENING: Final = """# Configuration

A file is TOML. Every key has a default, so an empty file is a configuration. Times are milliseconds, or a text such as
`"90s"`, `"5min"`, `"1h30min"`; sizes are bytes. A key that is not known is an error; one that has no effect because a
switch is off is accepted with a note. `--set catalog.scope=table` replaces a key on the command line.

Below are the keys that people change; the others are only named. What is allowed, what a key means in full and when
it has an effect is in [configuration.csv](configuration.csv), and `endive config schema KEY` prints it. This page is
written by `endive config schema --markdown`.
"""
# Keys that share a beginning and a meaning, in one line.
_GROUPS: Final = {
    "storage.objects.<object>.": ("request", "Latency of one kind of request"),
    "source.<name>.operation_types.": ("kind", "Weights of what its txns do"),
}
# What the page says of a key whose own words do not begin with what it is.
PHRASES: Final = {
    "simulation.output_path": "A file for the run's rows, below `--out`",
    "slo.objective": "What must hold ([objectives](objectives.md))",
    "storage.provider": "s3, s3x, azure, azurex, gcp, instant, fifo, constant, or a profile (.toml)",
    "storage.vintage": "Which figures of a built-in provider",
    "catalog.profile": "A catalog service by name",
    "catalog.type": "How a commit is decided, see [catalogs](../model/catalogs.md)",
    "catalog.service.rolls_back_compactions": "Whether the server takes compactions back for a commit (Polaris)",
    "catalog.service.batch_ms": "Interval at which the server commits all that has arrived at once (hypothetical)",
    "catalog.service.flavour": "Who writes metadata.json: the client, or the server",
    "catalog.service.lock.kind": "Whose lock is taken for a commit",
    "commit.release": "Release of Java Iceberg",
    "commit.base": "What the first attempt builds on",
    "table.format": "Whose tables",
    "delta.client": "Whose commits",
    "transaction.manifest_list_mode": "How manifest lists grow (append: ML+)",
    "conflict.detector": "What decides whether a conflict is real",
    "failures.absent_commit": "What follows if a check does not find the commit",
    "source.<name>.after_failure.kind": "What becomes of a txn that failed",
    "source.<name>.checks": "Which checks the engine asks for",
    "source.<name>.commit_path": "How the engine commits",
    "source.<name>.commit_queue": "Name of a queue in which txns wait for their turn to commit",
    "source.<name>.gather_every_ms": "All that wait in commit_queue are committed at once, this often",
    "source.<name>.keeps_table": "Whether a client keeps its table from one commit to the next",
    "source.<name>.read": "What an overwrite has read",
    "source.<name>.real_conflict_probability": "Chance that a conflict is real",
    "source.<name>.retry_backoff.policy": "How the pauses grow, [below](#backoff-policies)",
    "source.<name>.partitions.selection": "How partitions are picked",
    "source.<name>.tables.selection": "How tables are picked",
    "source.<name>.tables.only": "Its tables, by number from 0 or by name",
    "source.<name>.touched_files": "Data files one operation touches: a number, '5%', or a count table",
}
# Keys the page only names: figures that were measured, and what only a special case needs.
NAMED_ONLY: Final = frozenset(
    [
        *("storage.min_latency_ms", "storage.T_LOG_ENTRY_READ"),
        *("catalog.append_preset", "catalog.compaction_threshold_bytes", "catalog.compaction_max_entries"),
        *("catalog.log_entry_bytes", "catalog.physical_attempts_max", "catalog.refusal_returns_snapshot"),
        *("catalog.object_base_bytes", "catalog.object_bytes_per_table", "catalog.partitions.per_table"),
        *("catalog.service.refusal", "catalog.service.lock.wait_ms", "catalog.service.lock.multiplier"),
        *("catalog.service.lock.wait_max_ms", "catalog.service.lock.lease_ms", "catalog.service.lock.timeout_ms"),
        "catalog.service.lock.latency",
        *("table.metadata_base_bytes", "table.metadata_bytes_per_snapshot", "table.manifest_list_base_bytes"),
        *("table.manifest_list_bytes_per_manifest", "table.manifest_bytes"),
        *("commit.io", "commit.history", "commit.repair", "commit.own_manifest"),
        *("commit.metadata", "commit.metadata_read", "commit.history_io"),
        *("commit.manifests_per_concurrent_commit", "commit.real_conflict", "commit.after_success", "commit.head"),
        *("delta.log_replay_ms", "delta.commit_bytes", "delta.checkpoint_base_bytes"),
        "delta.checkpoint_bytes_per_commit",
        *("transaction.manifest_list_seal_threshold_bytes", "transaction.manifest_list_entry_bytes"),
        *("failures.lost_check_rate", "failures.status_checks", "failures.status_check_wait_ms"),
        *("failures.status_check_wait_max_ms", "failures.throttle_tries", "failures.throttle_wait_ms"),
        "failures.throttle_wait_max_ms",
        *("source.<name>.tables.count_zipf", "source.<name>.tables.count_distribution", "source.<name>.tables.alpha"),
        *("source.<name>.tables.write_fraction", "source.<name>.partitions.count_distribution"),
        *("source.<name>.partitions.alpha", "source.<name>.partitions.write_fraction"),
        *("source.<name>.retry_backoff.base_ms", "source.<name>.retry_backoff.multiplier"),
        *("source.<name>.retry_backoff.max_ms", "source.<name>.retry_backoff.jitter"),
        *("source.<name>.after_failure.delay_ms", "source.<name>.after_failure.times"),
        *("source.<name>.after_failure.pause_ms", "source.<name>.after_failure.unknown"),
        *("source.<name>.rewritten_manifests", "source.<name>.delete_granularity", "source.<name>.rewritten_files"),
        "source.<name>.starting_sequence_number",
        *("source.<name>.referenced_files", "source.<name>.added_rows"),
    ]
)
QUOTE: Final = '"'
_NAMES: Final = re.compile(r"[\w.]+(?:, [\w.]+)+")  # of what may be chosen, as ``allowed`` lists them
_BY_PROTOCOL: Final = re.compile(r"^by protocol \(.*\)$")
_ONLY_WITH: Final = re.compile(r" Only with .*$")
_SENTENCE: Final = re.compile(r"(?<=[^.]\.) (?=[A-Z`#0-9])")
_ASIDES: Final = (re.compile(r" \([^)]*\)"), re.compile(r"; .*$"), re.compile(r"(?<=\w\w\w): .*$"))


def reference_markdown() -> str:
    lines = [_OPENING]
    for section in reference():
        lines += [f"## {section.title}", "", section.about, "", *_table(section), ""]
    return "\n".join(lines)


def _table(section: ReferenceSection) -> Iterator[str]:
    if section.columns != KEY_COLUMNS:
        yield from _markdown(section.columns, section.rows)
    elif section.rows[0][0].startswith("**"):  # short forms: the text names their keys
        yield from (f"- {row[0].strip('*')}" for row in section.rows if row[0].startswith("**"))
    elif section.rows[0][3].startswith("**"):
        yield from _markdown(("one of", "its keys (default)", "meaning"), _variants(section.rows))
    else:
        rows = [row for row in section.rows if row[0].strip("`") not in NAMED_ONLY]
        yield from _markdown(("key", "default", "meaning"), _keys(rows))
        named = [row[0] for row in section.rows if row[0].strip("`") in NAMED_ONLY]
        if named:
            yield from ("", f"Also: {', '.join(named)}.")


def _keys(rows: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """A line for each key, and one for each group."""
    lines: dict[str, tuple[str, ...]] = {}
    for cell, allowed, default, meaning in rows:
        key = cell.strip("`")
        prefix = next((each for each in _GROUPS if key.startswith(each)), "")
        if not prefix:
            short = _BY_PROTOCOL.sub("by [protocol](#protocols)", default.strip(QUOTE))
            lines[key] = (cell, short, _phrase(key, allowed, meaning))
        elif prefix in lines:
            lines[prefix] = (*lines[prefix][:2], f"{lines[prefix][2]}, {key.removeprefix(prefix)}")
        else:
            part, phrase = _GROUPS[prefix]
            lines[prefix] = (f"`{prefix}<{part}>`", "", f"{phrase}: {key.removeprefix(prefix)}")
    yield from lines.values()


def _phrase(key: str, allowed: str, meaning: str) -> str:
    """What a key means, in a few words, and what may be chosen."""
    phrase = PHRASES.get(key) or _brief(meaning)
    return f"{phrase}: {allowed}" if _NAMES.fullmatch(allowed) else phrase


def _brief(meaning: str) -> str:
    phrase = _SENTENCE.split(_ONLY_WITH.sub("", meaning), maxsplit=1)[0]
    for aside in _ASIDES:
        if len(phrase.split()) > WORDS_MAX:
            phrase = aside.sub("", phrase)
    return phrase.rstrip(".")


def _variants(rows: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, str, str]]:
    """A line for each variant, with its keys."""
    variant, keys = ("", ""), list[str]()
    for cell, _, default, meaning in rows:
        if meaning.startswith("**"):
            if keys:
                yield variant[0], ", ".join(keys), variant[1]
            variant, keys = (cell, _SENTENCE.split(meaning.strip("*"), maxsplit=1)[0].rstrip(".")), []
        else:
            keys.append(cell if default in ("required", "none") else f"{cell} ({default.strip(QUOTE)})")
    yield variant[0], ", ".join(keys), variant[1]


def _markdown(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = tuple(columns)
    for row in (names, ["---"] * len(names), *rows):
        escaped = (cell.replace("|", "\\|") for cell in row)
        yield f"| {' | '.join(escaped)} |"
