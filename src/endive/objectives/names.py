"""What a name in an objective stands for: a figure of the whole run, of a source, a kind or a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from endive.errors import ObjectiveError
from endive.objectives.fields import Field, field_at, field_names

ALL: Final = "all"
SOURCE: Final = "source"
KIND: Final = "kind"
TABLE: Final = "table"
SCOPES: Final = (ALL, SOURCE, KIND, TABLE)
GUESSES_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class Name:
    """A dotted name as written; ``every`` asks for one comparison per source, kind or table."""

    parts: tuple[str, ...]
    at: int
    every: bool = False

    def __str__(self) -> str:
        return f"{'every ' if self.every else ''}{'.'.join(self.parts)}"


@dataclass(frozen=True, slots=True)
class Subject:
    """One figure of one part of a run."""

    scope: str
    name: str  # of the source, kind or table; empty for the whole run
    field: Field

    def __str__(self) -> str:
        prefix = f"{TABLE}.{self.name}." if self.scope == TABLE else f"{self.name}." if self.name else ""
        return f"{prefix}{self.field.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What there is to speak of in one configuration."""

    sources: tuple[str, ...]
    kinds: tuple[str, ...]
    tables: int = 1
    kinds_unused: tuple[str, ...] = field(default=())  # known to the model, but no source does them
    stream_problems: tuple[str, ...] = field(default=())  # of each source: why it is no stream; empty if it is one

    @property
    def streams(self) -> tuple[str, ...]:
        """Return the sources that bring data to wait for."""
        problems = self.stream_problems or ("",) * len(self.sources)
        return tuple(source for source, problem in zip(self.sources, problems, strict=True) if not problem)

    def of_scope(self, scope: str) -> tuple[str, ...]:
        if scope == SOURCE:
            return self.sources
        if scope == KIND:
            return self.kinds
        return tuple(str(table) for table in range(self.tables))


def subjects_of(name: Name, names: Names) -> tuple[Subject, ...]:
    """Return the figures a name stands for: one, or with ``every`` one for each source, kind or table."""
    if name.every:
        scope, rest = name.parts[0], name.parts[1:]
        if scope not in (SOURCE, KIND, TABLE):
            raise _problem(name, "'every' is followed by source, kind or table, as in every source.success_rate.")
        field = _field(name, rest)
        return tuple(_subject(name, scope, item, field, names) for item in names.of_scope(scope))
    whole = field_at(".".join(name.parts))
    if whole is not None:
        return (_subject(name, ALL, "", whole, names),)
    scope, item, rest = _scope(name, names)
    return (_subject(name, scope, item, _field(name, rest), names),)


def _subject(name: Name, scope: str, item: str, found: Field, names: Names) -> Subject:
    """Return one figure, if that part of a run has it."""
    if found.is_of_data:
        if scope in (KIND, TABLE):
            raise _problem(name, f"data belong to a source, not to a {scope}. Sources are: {', '.join(names.sources)}.")
        if scope == SOURCE and item not in names.streams:
            why = names.stream_problems[names.sources.index(item)]
            raise _problem(name, f"'{item}' brings no data to wait for: {why}")
        if scope == ALL and not names.streams:
            first, why = names.sources[0], names.stream_problems[0]
            raise _problem(name, f"no source brings data to wait for. '{first}': {why}")
    return Subject(scope, item, found)


def _scope(name: Name, names: Names) -> tuple[str, str, tuple[str, ...]]:
    """Scope, name within it, and the rest of the parts."""
    first, rest = name.parts[0], name.parts[1:]
    if first == ALL:
        return ALL, "", rest
    if first in names.sources:
        return SOURCE, first, rest
    if first in names.kinds:
        return KIND, first, rest
    if first in (SOURCE, KIND, TABLE) and rest:
        if rest[0] not in names.of_scope(first):
            raise _problem(name, _unknown_in(first, rest[0], names))
        return first, rest[0], rest[1:]
    if first in names.kinds_unused:
        raise _problem(name, f"no source does a '{first}'. Kinds here are: {', '.join(names.kinds)}.")
    raise _problem(name, _unknown(name, names))


def _unknown_in(scope: str, item: str, names: Names) -> str:
    if scope == TABLE:
        return f"there is no table {item}. Tables are numbered from 0 to {names.tables - 1}."
    known = names.of_scope(scope)
    return f"no {scope} is named '{item}'.{_guess(item, known)} Known are: {', '.join(known)}."


def _unknown(name: Name, names: Names) -> str:
    first = name.parts[0]
    if len(name.parts) == 1:
        return _no_field(first)
    scopes = (*names.sources, *names.kinds)
    near = _guess(first, scopes)
    is_of_something = field_at(".".join(name.parts[1:])) is not None
    if not near and not is_of_something and (guess := _guess(".".join(name.parts), field_names())):
        return f"'{name}' is no field of a result.{guess}"
    return (
        f"nothing is named '{first}'.{near} Sources are: {', '.join(names.sources)}; "
        f"kinds are: {', '.join(names.kinds)}."
    )


def _field(name: Name, parts: tuple[str, ...]) -> Field:
    written = ".".join(parts)
    field = field_at(written)
    if field is not None:
        return field
    if not written:
        raise _problem(name, "a field is missing, as in .success_rate or .p99_commit.")
    raise _problem(name, _no_field(written))


def _no_field(written: str) -> str:
    guess = _guess(written, field_names())
    return f"'{written}' is no field of a result.{guess or ' Fields are listed in docs/reference/objectives.md.'}"


def _guess(written: str, known: tuple[str, ...]) -> str:
    """Return the nearest names, as a question."""
    begun = [item for item in known if item.startswith(written.lower())]
    close = [*begun, *get_close_matches(written.lower(), known, n=GUESSES_MAX)]
    quoted = [f"'{item}'" for item in dict.fromkeys(close)][:GUESSES_MAX]
    return f" Did you mean {' or '.join(quoted)}?" if quoted else ""


def unkept(subjects: Iterable[Subject]) -> str | None:
    """Return what to say where a figure is not kept by a study: by table; None if all are."""
    for subject in subjects:
        if subject.scope == TABLE:
            return (
                f"'{subject}' is a figure of one table, and a study keeps none of those. Speak of the whole run, of a "
                "source or of a kind; 'endive run --slo' judges tables."
            )
    return None


def _problem(name: Name, text: str) -> ObjectiveError:
    return ObjectiveError(f"'{name}' at character {name.at}: {text}")
