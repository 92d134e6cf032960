"""Which keys are read in which combination. The rules are in ``key_effects.toml``.

The loader refuses a key that is given and has no effect, the plain form leaves such keys out, the schema page says when
a key is read, and ``keys_of_format`` which keys a table format reads. Combinations that cannot be simulated at all are
in ``contradictions``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Final

from endive.config.keys import SECTIONS, SOURCE
from endive.config.problems import Path, Problem, Spelt, join_path, show, value_at
from endive.config.rules.condition import Condition, SceneValues, condition, read_rows
from endive.config.rules.facts import Scene
from endive.config.sections.retries import BACKOFFS, FIGURES
from endive.config.sections.storage import OBJECTS, ObjectLatencies

if TYPE_CHECKING:
    from endive.config.sections.source import SourceConfig
    from endive.config.simulation_config import SimulationConfig

ICEBERG: Final = "iceberg"
DELTA: Final = "delta"
FILE: Final = FilePath(__file__).with_name("key_effects.toml")
ALWAYS: Final = "always"
NEVER: Final = "false"
# The append design prints these figures beside table_metadata_inlined = true.
TOLERATED: Final = (("storage", "T_TABLE_METADATA"),)


@dataclass(frozen=True, slots=True)
class Reading:
    """When some keys are read; ``why`` they are not otherwise, and where that is tolerated."""

    keys: tuple[str, ...]
    when: Condition
    why: str
    unless: Condition
    table_format: str = ""  # whose keys they are, if the row says nothing else

    @property
    def is_always_tolerated(self) -> bool:
        """Whether the keys may be given wherever they have no effect."""
        return self.unless.text == ALWAYS


@dataclass(frozen=True, slots=True)
class Unread:
    """A key that has no effect, and the row that says why. Nothing is said before it is asked for."""

    row: Reading
    values: SceneValues

    @property
    def because(self) -> str:
        return self.values.say(self.row.why)

    @property
    def about(self) -> tuple[str, ...]:
        keys = (*self.row.when.about, "commit.protocol", *self.row.unless.about)
        return tuple(map(self.values.scene.place, keys))

    @property
    def is_tolerated(self) -> bool:
        """Whether the key may be given all the same."""
        return self.values.holds(self.row.unless)


def _row(keys: str, read: str = ALWAYS, why: str = "", unless: str = NEVER, table_format: str = "") -> Reading:
    return Reading(tuple(keys.split()), condition(read.strip()), why.strip(), condition(unless.strip()), table_format)


@cache
def readings() -> tuple[Reading, ...]:
    tables = read_rows(FILE)
    own = (_row(**table) for table in tables["section"])
    return (*_format_rows("keys"), *own, *_request_rows([_row(**table) for table in tables["request"]]))


@cache
def source_readings() -> tuple[Reading, ...]:
    own = (_row(**table) for table in read_rows(FILE)["source"])
    return (*_format_rows("source_keys"), *own, *_backoff_rows())


def _format_rows(keys: str) -> Iterator[Reading]:
    for table in read_rows(FILE)["format"]:
        name = table["name"]
        why = f"it belongs to table.format = '{name}', and table.format is '{{table.format}}'"
        yield _row(table[keys], f"table.format == '{name}'", why, table_format=name)


def _request_rows(rows: list[Reading]) -> Iterator[Reading]:
    """The rows of ``[storage.objects]``; what is said of an operation holds for its refusal too."""
    sent = {key for row in rows for key in row.keys}
    for name in OBJECTS:
        for key in ObjectLatencies.model_fields:
            operation = key.partition("_")[0]
            place = f"storage.objects.{name}.{key}"
            for row in rows:
                if {f"{name}.*", f"{name}.{operation}"} & set(row.keys):
                    yield Reading((place,), row.when, row.why, row.unless)
            if f"{name}.{operation}" not in sent:
                yield _row(place, NEVER, f"no {operation} request goes to a {name} object")


def _backoff_rows() -> Iterator[Reading]:
    """The figures of a pause that its policy lets be changed."""
    for figure in FIGURES:
        policies = [policy for policy, backoff in BACKOFFS.items() if figure in backoff.keys]
        why = "retry_backoff.policy = '{retry_backoff.policy}' does not take it"
        yield _row(f"retry_backoff.{figure}", f"retry_backoff.policy in {policies}", why)


def unread_keys(config: SimulationConfig) -> dict[str, Unread]:
    """Dotted keys of every section that have no effect; those of sources are ``unread_source_keys``'s."""
    return _unread(readings(), SceneValues(Scene(config)))


def unread_source_keys(source: SourceConfig, config: SimulationConfig, index: int = 0) -> dict[str, Unread]:
    """Keys of one resolved source that have no effect, dotted from the source."""
    return _unread(source_readings(), SceneValues(Scene(config, source, index=index)))


def _unread(rows: tuple[Reading, ...], values: SceneValues) -> dict[str, Unread]:
    """The first reason of each key; a table that has none needs no reason for what is in it."""
    unread: dict[str, Unread] = {}
    for row in rows:
        if values.holds(row.when):
            continue
        for key in row.keys:
            if key not in unread and not any(table in unread for table in _tables_of(key)):
                unread[key] = Unread(row, values)
    return unread


@cache
def _tables_of(key: str) -> tuple[str, ...]:
    parts = key.split(".")
    return tuple(".".join(parts[:length]) for length in range(1, len(parts)))


def words_of(key: str, rows: tuple[Reading, ...]) -> str:
    """When a key is read, in words; empty if always. Formats are told by ``keys_of_format``."""
    told = [row for row in rows if key in row.keys and not row.table_format and not row.is_always_tolerated]
    return "; and ".join(dict.fromkeys(words for row in told if (words := row.when.words)))


def keys_of_format(name: str) -> tuple[str, ...]:
    """Keys and tables that only this table format reads; those of a source as ``source.<name>.overwrite``."""
    sections = [key for row in readings() if row.table_format == name for key in row.keys]
    own = [f"source.<name>.{key}" for row in source_readings() if row.table_format == name for key in row.keys]
    return (*sections, *own)


# ---- keys that were given but have no effect -------------------------------------------------------------------


def unread_problems(config: SimulationConfig, document: Spelt) -> list[Problem]:
    """One problem for each key or table of the document that has no effect: a flag that does nothing is a lie.

    A key that was written once and holds in several places (a default of ``[transaction]``, a latency of several
    requests) is refused only if it has no effect in any of them.
    """
    unread: dict[Path, Unread] = {tuple(key.split(".")): reason for key, reason in unread_keys(config).items()}
    for index, source in enumerate(config.sources):
        for key, reason in unread_source_keys(source, config, index).items():
            unread[SOURCE, index, *key.split(".")] = reason
    problems: dict[Path, Problem] = {}
    for path in unread:
        written = document.written(path)
        if written not in problems and _is_refused(path, unread, document):
            problems[written] = _problem(path, [unread[copy] for copy in document.copies(path)], document)
    order = {name: place for place, name in enumerate((*SECTIONS, SOURCE))}
    told = [
        written for written in problems if not any(written[:length] in problems for length in range(1, len(written)))
    ]
    return [problems[written] for written in sorted(told, key=lambda written: order[str(written[0])])]


def _is_refused(path: Path, unread: Mapping[Path, Unread], document: Spelt) -> bool:
    """Whether a key is given, and wherever it holds it has no effect, in a way that is not tolerated."""
    holder = value_at(document, path[:-1])
    if not isinstance(holder, Mapping) or path[-1] not in holder or holder[str(path[-1])] == {}:
        return False  # a table without a key gives none; a study writes it where a choice leaves the table out
    if document.written(path)[:2] in TOLERATED:
        return False
    reasons = [unread.get(copy) for copy in document.copies(path)]
    return all(reason is not None and not reason.is_tolerated for reason in reasons)


def _problem(path: Path, reasons: Sequence[Unread], document: Spelt) -> Problem:
    value = value_at(document, path)
    key = join_path(path, document)
    head = key if isinstance(value, Mapping) else f"{key} = {show(value)}"
    because = ", and ".join(dict.fromkeys(reason.because for reason in reasons))
    about = tuple(place for reason in reasons for place in reason.about)
    return Problem(f"{head} has no effect here: {because}. Remove it.", path, about)
