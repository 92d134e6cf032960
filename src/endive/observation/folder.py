"""The folder that ``endive observe`` writes and ``endive replay`` reads: one per table.

``endive.toml`` (the configuration), ``trace.csv`` (every commit), ``observation.json`` (what was seen) and
``page.html``. It appears as a whole or not at all.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from endive.config import SimulationConfig, apply_overrides, parse_config, parse_overrides, read_toml
from endive.config.printable import printable
from endive.config.reading.load import OBSERVED_FILE
from endive.config.toml_text import toml_text
from endive.config.values import DURATION_MS_MAX
from endive.errors import OutputError
from endive.intake import is_count, read_json, refused_as
from endive.observation.fitting.arrivals import begins_us
from endive.observation.fitting.findings import iso
from endive.observation.fitting.sources import FittedSource
from endive.observation.history import OPERATIONS
from endive.observation.logs.statement_log import FAILED
from endive.results.writer import output_errors
from endive.workload.trace import epoch_us
from endive.workload.trace_file import is_empty, read_columns

CONFIG_FILE: Final = OBSERVED_FILE
TRACE_FILE: Final = "trace.csv"
FINDINGS_FILE: Final = "observation.json"
PAGE_FILE: Final = "page.html"
MEMORY_FILE: Final = "replay.json"  # what ``endive.observation.folder_memory`` keeps
FIRST_FILE: Final = "observed.toml"
STORE_FILE: Final = "store.toml"
FILES: Final = (CONFIG_FILE, TRACE_FILE, PAGE_FILE, FINDINGS_FILE, MEMORY_FILE, FIRST_FILE, STORE_FILE)
FORMAT: Final = 2  # 1 had no runtimes and no reasons; it is read as it is
TRACE_COLUMNS: Final = (
    "timestamp",
    "operation",
    "source",
    "writer",
    "snapshot_id",
    "duration_ms",
    "attempts",
    "outcome",
    "runtime_ms",
    "reason",
)
FINDINGS_BYTES_MAX: Final = 64 * 2**20
COUNT_MAX: Final = 10**9
ATTEMPTS_MAX: Final = 1_000_000
_SINCE_2: Final = ("runtime_ms", "reason")
_REPLAYED: Final = ("timestamp", "operation", "source", "duration_ms", "attempts", "outcome", *_SINCE_2)
_TIME: Final = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
_NUMBERS: Final = {  # column -> how a number in it is written, and the largest
    "duration_ms": (_TIME, DURATION_MS_MAX),
    "attempts": (re.compile(r"\d{1,15}"), ATTEMPTS_MAX),
    "runtime_ms": (_TIME, DURATION_MS_MAX),
}
_AGAIN: Final = "Observe the table again: endive observe."
_NOT_A_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTable:
    """One table's part of the folder, ready to be written."""

    name: str
    config: Mapping[str, Any]
    comments: Sequence[str]
    trace: str
    findings: Mapping[str, Any]
    page: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRow:
    """One commit of an observed table, or one that failed, as its trace has it; what is not known is None."""

    begin_us: int  # since 1970
    operation: str
    source: str
    duration_ms: float | None
    runtime_ms: float | None  # the part of the duration that was work before the commit
    attempts: int | None
    is_committed: bool
    reason: str

    @property
    def begin_ms(self) -> float:
        """When it began, since 1970."""
        return self.begin_us / 1000.0

    @property
    def end_us(self) -> int:
        """When it ended; of one without a duration, when it began."""
        return self.begin_us + round(1000.0 * (self.duration_ms or 0.0))


def trace_text(sources: Sequence[FittedSource]) -> str:
    """Every commit, by the time it began, as CSV."""
    rows = []
    for source in sources:
        begins = begins_us(source.commits)
        rows += [(begin_us, source.name, commit) for begin_us, commit in zip(begins, source.commits, strict=True)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(TRACE_COLUMNS)
    for begin_us, name, commit in sorted(rows, key=lambda row: (row[0], row[1])):
        writer.writerow(
            (
                iso(begin_us),
                commit.operation,
                name,
                commit.writer,
                "" if commit.snapshot_id is None else commit.snapshot_id,
                "" if commit.duration_ms is None else round(commit.duration_ms, 3),
                "" if commit.attempts is None else commit.attempts,
                "committed" if commit.is_committed else "failed",
                "" if commit.worked_ms is None else round(commit.worked_ms, 3),
                commit.reason,
            )
        )
    return text.getvalue()


def write_folder(path: Path, tables: Sequence[ObservedTable]) -> list[Path]:
    """Write everything into a hidden folder beside, then let it appear; the folder of each table."""
    refuse_foreign_files(path)
    partial = path.parent / f".{path.name}.partial-{os.getpid()}-{secrets.token_hex(4)}"
    places = [Path()] if len(tables) == 1 else [Path(_NOT_A_NAME.sub("_", table.name)) for table in tables]
    with output_errors(path):
        try:
            for place, table in zip(places, tables, strict=True):
                _write_table(partial / place, table)
            if path.exists():
                shutil.rmtree(path)
            os.replace(partial, path)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return [path / place for place in places]


def _write_table(folder: Path, table: ObservedTable) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    comments = "".join(f"# {line}\n" for line in table.comments)
    (folder / CONFIG_FILE).write_text(f"{comments}\n{toml_text(table.config)}", encoding="utf-8")
    (folder / TRACE_FILE).write_text(table.trace, encoding="utf-8")
    if table.page is not None:
        (folder / PAGE_FILE).write_text(table.page, encoding="utf-8")
    text = json.dumps({"format": FORMAT, **table.findings}, indent=2, allow_nan=False)
    (folder / FINDINGS_FILE).write_text(text + "\n", encoding="utf-8")


def refuse_foreign_files(path: Path) -> None:
    """A place may be new, empty, or hold an earlier observation; anything else stays untouched."""
    if not path.exists():
        return
    if not path.is_dir():
        raise OutputError(f"Cannot write {path}: it is a file; name a folder.")
    foreign = [each.name for each in path.iterdir() if each.name not in FILES and not is_observed(each)]
    if foreign:
        raise OutputError(
            f"Cannot write {path}: it holds files that are not of an observation ({sorted(foreign)[0]}). "
            "Choose an empty or a new folder."
        )


# ---- reading it again --------------------------------------------------------------------------------


def is_observed(path: Path) -> bool:
    """Whether ``endive observe`` wrote this folder."""
    return (path / FINDINGS_FILE).is_file() and (path / CONFIG_FILE).is_file()


def observed_folders(path: Path) -> list[Path]:
    """The folder of a table, or those of all tables in it."""
    if is_observed(path):
        return [path]
    inner = sorted(each for each in path.iterdir() if is_observed(each)) if path.is_dir() else []
    if not inner:
        raise OutputError(
            f"'{path}' is not a folder that endive observe wrote. Write one: endive observe TABLE --out {path}"
        )
    return inner


def read_findings(folder: Path) -> dict[str, Any]:
    """What was seen, as it was written."""
    path = folder / FINDINGS_FILE
    with refused_as(OutputError):
        document = read_json(path, bytes_max=FINDINGS_BYTES_MAX, noun="an observation")
    for key, is_right in _FINDINGS.items():
        if not isinstance(document, dict) or not is_right(document.get(key)):
            raise OutputError(f"'{path}' is damaged: {key} is missing or makes no sense. {_AGAIN}")
    return {**document, "table": printable(document["table"])}


def read_trace(folder: Path) -> list[TraceRow]:
    """The trace of an observed table; OutputError if it makes no sense, or does not belong to the configuration."""
    path = folder / TRACE_FILE
    columns = read_columns(path)
    for name in _SINCE_2:
        columns.setdefault(name, [""] * len(next(iter(columns.values()), [])))
    missing = [name for name in _REPLAYED if name not in columns]
    if missing or not columns[_REPLAYED[0]]:
        raise OutputError(f"'{path}' is damaged: it has no {missing[0] if missing else 'rows'}. {_AGAIN}")
    document = read_toml(folder / CONFIG_FILE)
    parse_config(document, source=str(folder / CONFIG_FILE))  # before any of it is taken apart
    sources = document.get("source") or []
    names = {source.get("name") for source in sources}
    if not sources or None in names:
        raise OutputError(f"'{folder / CONFIG_FILE}' is damaged: it has no [[source]] with a name. {_AGAIN}")
    rows = []
    for number, cells in enumerate(zip(*(columns[name] for name in _REPLAYED), strict=True), start=1):
        row = dict(zip(_REPLAYED, cells, strict=True))
        wrong = _wrong_cell(row, names)
        if wrong:
            raise OutputError(f"'{path}', row {number} is damaged: {wrong} makes no sense. {_AGAIN}")
        duration, runtime, attempts = (row[name].strip() for name in ("duration_ms", "runtime_ms", "attempts"))
        rows.append(
            TraceRow(
                begin_us=epoch_us(Path(TRACE_FILE), number, "timestamp", row["timestamp"]),
                operation=row["operation"],
                source=row["source"],
                duration_ms=float(duration) if duration else None,
                runtime_ms=float(runtime) if runtime else None,
                attempts=int(attempts) if attempts else None,
                is_committed=row["outcome"] not in FAILED,
                reason="" if is_empty(row["reason"]) else row["reason"],
            )
        )
    return rows


def _wrong_cell(row: Mapping[str, str], sources: set[Any]) -> str | None:
    """The column of a row that cannot be what was written."""
    if row["operation"] not in OPERATIONS:
        return "operation"
    if row["source"] not in sources:
        return "source"
    for name, (form, largest) in _NUMBERS.items():
        text = row[name].strip()
        if text and not (form.fullmatch(text) and float(text) <= largest):
            return name
    return None


def load_observed(folder: Path, overrides: Sequence[str] = ()) -> SimulationConfig:
    """The configuration of an observed table, with ``key=value`` on top: what limit, advise and run start from."""
    path = folder / CONFIG_FILE
    return parse_config(apply_overrides(read_toml(path), parse_overrides(overrides)), source=str(path))


_FINDINGS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "table": lambda value: isinstance(value, str),
    "duration_ms": lambda value: type(value) in (int, float) and 0 <= value <= DURATION_MS_MAX,
    "commits": lambda value: is_count(value, COUNT_MAX),
    "manifests_first": lambda value: value is None or is_count(value, COUNT_MAX),
    "durations_from": lambda value: value is None or isinstance(value, str),
}
