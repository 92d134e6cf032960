"""The log of a Delta table: the commits in its ``_delta_log``, and what they say of the table.

Every JSON file is read with limits; of a checkpoint only its name and the hint to it (``_last_checkpoint``) are.
Commits that were cleaned up are gone, and the table's settings with them: they are taken from what the commits that are
left and the names of checkpoints tell.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from endive.config.printable import printable, printable_line
from endive.errors import ObservationError
from endive.intake import is_count, parse_json, read_json, read_lines, refused_as
from endive.observation.history import (
    APPEND,
    DELETE,
    OVERWRITE,
    REPLACE,
    UNKNOWN,
    Commit,
    TableHistory,
    TableShape,
    in_order,
    refuse_too_many,
)
from endive.observation.tables.snapshots import TIMESTAMP_MS_MAX

FOLDER: Final = "_delta_log"
HINT: Final = "_last_checkpoint"
DELTA: Final = "delta"
CLIENT: Final = "client"  # beside the table's properties: who made most commits
COMMIT_BYTES_MAX: Final = 64 * 2**20
LOG_BYTES_MAX: Final = 1024 * 2**20
ACTIONS_MAX: Final = 2_000_000  # of all commits: the path of every file is kept
COUNT_MAX: Final = 10**15
TEXT_CHARACTERS_MAX: Final = 200
Partition = tuple[str, ...]
PROPERTIES: Final = (
    "delta.checkpointInterval",
    "delta.enableDeletionVectors",
    "delta.isolationLevel",
    "delta.logRetentionDuration",
)
INTERVAL, ISOLATION = PROPERTIES[0], PROPERTIES[2]
ENGINES: Final = {"delta-rs": "delta-rs", "apache-spark": "spark", "databricks-runtime": "spark", "flink": "flink"}
STREAMING: Final = "STREAMING UPDATE"
# Where a commit names its writer, the first that is there; a key with a dot leads into an object.
WRITER_KEYS: Final = ("job.jobId", "notebook.notebookId", "clusterId", "userName")
RUNTIMES: Final = ("executionTimeMs", "execution_time_ms")  # Delta Spark's, delta-rs's
READING: Final = ("merge", "append_after_read")  # kinds that fail by what they have read
KINDS: Final = {APPEND: "blind_append", OVERWRITE: "merge", DELETE: "merge", REPLACE: "optimize"}
_COLUMN: Final = re.compile(r"\b(?!(?:and|or|not|in|is|null|true|false|between|like)\b)[a-z_]\w*", re.IGNORECASE)
_COMMIT: Final = re.compile(r"([0-9]{20})\.json")
_CHECKPOINT: Final = re.compile(r"([0-9]{20})\.checkpoint\..*")


def delta_folder(place: str) -> Path | None:
    """The log's folder if a path leads to a Delta table, or to its log."""
    path = Path(place.removeprefix("file://"))
    for each in (path, path / FOLDER):
        if each.name == FOLDER and each.is_dir():
            return each
    return None


@dataclass(slots=True)
class _Tally:
    """What is known of the table after the commits read so far."""

    configuration: Mapping[str, Any] = field(default_factory=dict)
    is_described: bool = False  # a commit had the table's metadata
    columns: frozenset[str] = frozenset()  # that the table is partitioned by
    levels: Counter[str] = field(default_factory=Counter)  # isolation levels of commits that changed data
    files: dict[str, Partition] = field(default_factory=dict)
    partitions: dict[Partition, Partition] = field(default_factory=dict)  # each once, however many files are in it
    unknown_files: int | None = 0  # files of a checkpoint that no commit read here has added
    engines: Counter[str] = field(default_factory=Counter)
    silent: Counter[str] = field(default_factory=Counter)  # commits without files, by operation
    undated: int = 0
    bytes_read: int = 0
    actions: int = 0

    @property
    def total_files(self) -> int | None:
        """Files of the table, if those before the first commit were counted."""
        return None if self.unknown_files is None else len(self.files) + self.unknown_files


@dataclass(slots=True)
class _Changes:
    """What one commit did to the table's files, and what it says of itself."""

    info: Mapping[str, Any] = field(default_factory=dict)
    application: str = ""
    added: dict[str, Partition] = field(default_factory=dict)
    removed: dict[str, Partition] = field(default_factory=dict)
    added_bytes: int = 0
    is_of_data: bool = False


def read_delta_log(place: str, *, writer_key: str | None = None) -> TableHistory:
    """The history of a table, from what is left of its log."""
    folder = delta_folder(place)
    if folder is None:
        raise ObservationError(f"'{place}' has no {FOLDER}. Give the folder of a Delta table.")
    name = printable_line(folder.resolve().parent.name)
    versions = _versions(folder)
    if not versions:
        raise ObservationError(f"'{folder}' has no commit (such as {0:020d}.json). Is the log still there?")
    tally = _Tally()
    first = min(versions)
    hint = _hint(folder)
    counted = max(first, hint.get("version", -1))  # behind this version the number of files is known
    if first > 0:
        tally.unknown_files = hint.get("numOfAddFiles") if counted == first else None
    commits = []
    for version in sorted(versions):
        commit = _commit(versions[version], version, tally, writer_key)
        if commit is not None:
            commits.append(commit)
        if version == counted > first > 0 and "numOfAddFiles" in hint:
            tally.unknown_files = max(0, hint["numOfAddFiles"] - len(tally.files))
    newest = max(versions)
    return TableHistory(
        name=name,
        commits=in_order(commits),
        shape=_shape(tally, newest, _interval(folder)),
        expired=first,
        catalog_kind=DELTA,
        location="file",
        notes=tuple(_notes(name, tally, versions, first)),
    )


def as_delta(commits: Iterable[Commit], history: TableHistory) -> tuple[Commit, ...]:
    """Commits that a log of the writers tells of, with what the table's own log says of their kind and their filter."""
    reads: dict[str, Counter[str]] = {}
    for commit in history.commits:
        reads.setdefault(commit.operation, Counter())[commit.read] += 1
    usual = {operation: counted.most_common(1)[0][0] for operation, counted in reads.items()}
    return tuple(
        replace(
            each,
            kind=KINDS[each.operation],
            overwrite="",
            engine=history.shape.settings[CLIENT],
            read=each.read or usual.get(each.operation, ""),
        )
        for each in commits
    )


def _versions(folder: Path) -> dict[int, Path]:
    versions = {}
    for path in folder.iterdir():
        match = _COMMIT.fullmatch(path.name)
        if match is not None:
            versions[int(match[1])] = path
        refuse_too_many(len(versions), f"'{folder}'")
    return versions


def _hint(folder: Path) -> dict[str, int]:
    """The last checkpoint's version and files; nothing where nothing tells."""
    path = folder / HINT
    if not path.exists():
        return {}
    with refused_as(ObservationError):
        hint = read_json(path, bytes_max=COMMIT_BYTES_MAX, noun=f"a {HINT}")
    names = {"version": "version", "numOfAddFiles": "numOfAddFiles", "num_of_add_files": "numOfAddFiles"}
    given = hint if isinstance(hint, dict) else {}
    return {plain: given[name] for name, plain in names.items() if is_count(given.get(name), COUNT_MAX)}


def _interval(folder: Path) -> int | None:
    """Commits between checkpoints, by the names of those that are there."""
    checkpoints = sorted({int(match[1]) for path in folder.iterdir() if (match := _CHECKPOINT.fullmatch(path.name))})
    gaps = Counter(later - sooner for sooner, later in itertools.pairwise(checkpoints))
    return gaps.most_common(1)[0][0] if gaps else None


def _actions(path: Path, tally: _Tally) -> Iterator[tuple[str, dict[str, Any]]]:
    """The actions of one commit: each line an object with one member."""
    with refused_as(ObservationError):
        lines = read_lines(path, bytes_max=COMMIT_BYTES_MAX, line_bytes_max=COMMIT_BYTES_MAX, noun="a commit")
        for number, line in enumerate(lines, start=1):
            tally.bytes_read += len(line) + 1
            tally.actions += 1
            if tally.bytes_read > LOG_BYTES_MAX or tally.actions > ACTIONS_MAX:
                limits = f"{LOG_BYTES_MAX:,} bytes or {ACTIONS_MAX:,} actions"
                raise ObservationError(f"'{path.parent}' has more than {limits}; so many are not read.")
            if not line.strip():
                continue
            action = parse_json(line, name=f"'{path}', line {number},", bytes_max=COMMIT_BYTES_MAX)
            if not isinstance(action, dict):
                raise ObservationError(f"'{path}', line {number}, is no action of Delta's: it is not an object.")
            for kind, body in action.items():
                if isinstance(body, dict):
                    yield kind, body


def _changes(path: Path, tally: _Tally) -> _Changes:
    changes = _Changes()
    for kind, body in _actions(path, tally):
        if kind == "commitInfo":
            changes.info = body
        elif kind == "metaData":
            columns, configuration = body.get("partitionColumns"), body.get("configuration")
            named = columns if isinstance(columns, list) else ()
            tally.columns = frozenset(str(each).lower() for each in named)
            tally.configuration = configuration if isinstance(configuration, dict) else {}
            tally.is_described = True
        elif kind == "txn":
            changes.application = _text(body.get("appId"))
        elif kind in ("add", "remove"):
            if not isinstance(body.get("path"), str):
                raise ObservationError(f"'{path}' has a file without a path.")
            partition = _partition(body)
            if not tally.is_described and partition not in tally.partitions:
                tally.columns |= {each.partition("=")[0].lower() for each in partition}
            files = changes.added if kind == "add" else changes.removed
            files[body["path"]] = tally.partitions.setdefault(partition, partition)
            changes.added_bytes += (_number(body.get("size")) or 0) if kind == "add" else 0
            changes.is_of_data |= bool(body.get("dataChange", True))
    return changes


def _commit(path: Path, version: int, tally: _Tally, writer_key: str | None) -> Commit | None:
    """What one commit did; None of one that changed no file."""
    changes = _changes(path, tally)
    info, added, removed = changes.info, changes.added, changes.removed
    for removed_path in removed:
        if tally.files.pop(removed_path, None) is None and tally.unknown_files:
            tally.unknown_files -= 1
    tally.files |= added
    operation = _text(info.get("operation")) or UNKNOWN
    if not added and not removed:
        tally.silent[operation] += 1
        return None
    engine = _engine(info, operation)
    tally.engines[engine] += 1
    metrics = info.get("operationMetrics")
    metrics = metrics if isinstance(metrics, dict) else {}
    retries = _number(metrics.get("num_retries"))
    runtime_ms = next((ms for key in RUNTIMES if (ms := _number(metrics.get(key))) is not None), None)
    word = _operation(changes)
    if changes.is_of_data:
        tally.levels[_text(info.get("isolationLevel"))] += 1
    kind = _kind(word, info)
    return Commit(
        time_us=1000 * _time_ms(path, info, tally),
        operation=word,
        kind=kind,
        writer=_writer(info, engine, changes.application, writer_key),
        engine=engine,
        snapshot_id=version,
        parent_id=version - 1 if version else None,
        sequence_number=version,
        added_files=len(added),
        removed_files=len(removed),
        total_files=tally.total_files,
        added_bytes=changes.added_bytes,
        changed_partitions=len({*added.values(), *removed.values()}),
        runtime_ms=None if runtime_ms is None else float(runtime_ms),
        read=_read(info, engine, tally) if kind in READING else "",
        attempts=None if retries is None else retries + 1,
    )


def _operation(changes: _Changes) -> str:
    """By its files: those of a compaction change no data."""
    if not changes.is_of_data:
        return REPLACE
    if not changes.removed:
        return APPEND
    return OVERWRITE if changes.added else DELETE


def _kind(operation: str, info: Mapping[str, Any]) -> str:
    """Endive's kind; delta-rs does not say whether an append was blind, and names what it had read if it was not."""
    has_read = operation == APPEND and not info.get("isBlindAppend", "readVersion" not in info)
    return "append_after_read" if has_read else KINDS[operation]


def _read(info: Mapping[str, Any], engine: str, tally: _Tally) -> str:
    """What a statement has read, by its predicate: partitions, or files if it also speaks of other columns.

    Without a partition column Delta Spark has read the table; delta-rs goes by the files' statistics.
    """
    parameters = info.get("operationParameters")
    predicate = _text(parameters.get("predicate")) if isinstance(parameters, dict) else ""
    named = {word.lower() for word in _COLUMN.findall(predicate)}
    if not named:
        return "table"
    if not named & tally.columns:
        return "files" if engine == "delta-rs" else "table"
    return "files" if named - tally.columns else "partitions"


def _time_ms(path: Path, info: Mapping[str, Any], tally: _Tally) -> int:
    """When it was made: in-commit timestamps are in order, the others are a client's clock."""
    for key in ("inCommitTimestamp", "timestamp"):
        value = _number(info.get(key))
        if value is not None and value <= TIMESTAMP_MS_MAX:
            return value
    tally.undated += 1
    return int(1000 * path.stat().st_mtime)


def _engine(info: Mapping[str, Any], operation: str) -> str:
    client = _text(info.get("engineInfo")).lower()
    engine = next((name for begin, name in ENGINES.items() if client.startswith(begin)), "")
    if engine == "spark" and operation == STREAMING:
        return "spark-streaming"
    return engine or client.partition("/")[0] or UNKNOWN


def _writer(info: Mapping[str, Any], engine: str, application: str, writer_key: str | None) -> str:
    """The job that committed: a stream by its query, others by what their platform writes down."""
    if writer_key is not None:
        return _text(_inside(info, writer_key)) or UNKNOWN
    named = application or next((name for key in WRITER_KEYS if (name := _text(_inside(info, key)))), "")
    return f"{engine}-{named}" if named else engine


def _inside(info: Mapping[str, Any], key: str) -> Any:
    value: Any = info
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _text(value: Any) -> str:
    is_plain = isinstance(value, (str, int)) and not isinstance(value, bool)
    return printable(str(value))[:TEXT_CHARACTERS_MAX].strip() if is_plain else ""


def _number(value: Any) -> int | None:
    """A count, which Delta Spark writes as a text."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < len(str(COUNT_MAX)):
        return int(value)
    return value if is_count(value, COUNT_MAX) else None


def _partition(file: Mapping[str, Any]) -> Partition:
    values = file.get("partitionValues")
    return tuple(f"{key}={value}" for key, value in sorted(values.items())) if isinstance(values, dict) else ()


def _shape(tally: _Tally, newest: int, interval: int | None) -> TableShape:
    """Of a table whose metadata was cleaned up: the settings that the log shows, the partitions that it names."""
    fields, given = len(tally.columns), tally.configuration
    places = tally.files.values() if tally.is_described else tally.partitions
    partitions = len(set(places)) if fields and tally.files else None
    if not tally.is_described:
        level = next((name for name, _ in tally.levels.most_common(1)), "")
        given = {ISOLATION: level} | ({INTERVAL: interval} if interval else {})
    return TableShape(
        snapshots=newest + 1,
        data_files=tally.total_files,
        partition_fields=fields,
        partitions=partitions,
        properties=(
            *((key, _text(given[key])) for key in PROPERTIES if _text(given.get(key))),
            *((CLIENT, engine) for engine, _ in tally.engines.most_common(1)),
        ),
    )


def _notes(name: str, tally: _Tally, versions: Mapping[int, Path], first: int) -> Iterator[str]:
    if first > 0:
        yield (
            f"{name}: the log begins with version {first:,}; what came before it was cleaned up "
            "(delta.logRetentionDuration). Settings are taken from what is left."
        )
    missing = max(versions) - first + 1 - len(versions)
    if missing:
        yield f"{name}: {missing:,} versions between the first and the last have no file; they are not counted."
    if tally.silent:
        silent = ", ".join(f"{count:,} {operation}" for operation, count in tally.silent.most_common(5))
        yield f"{name}: {sum(tally.silent.values()):,} commits changed no file ({silent}) and are left out."
    if tally.undated:
        yield f"{name}: {tally.undated:,} commits have no commitInfo with a time; the time of their file is taken."
