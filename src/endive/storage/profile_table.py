"""One table of a profile file, read key by key, with every problem written down.

A problem names the key in full, its value, what is allowed, the nearest spelling, and what to do. Which keys there are
is known to ``endive.storage.profile_file``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

NUMBER_MAX: Final = 1.0e12  # nobody means a larger one


def nearest(word: str, known: Iterable[str]) -> str:
    """What to add to "unknown" when a known word is spelled almost so."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


class ProfileTable:
    """A table and its place in the file. Readers return a harmless value after noting a problem."""

    def __init__(self, data: Mapping[str, Any] | None, source: str, problems: list[str], path: str = "") -> None:
        self.is_given = data is not None
        self.problems = problems
        self._data: Mapping[str, Any] = data or {}
        self._source = source
        self._path = path
        self._read: list[str] = []

    @property
    def where(self) -> str:
        """File and full name of the table, for a message."""
        return f"{self._source}: {self._path}"

    def _name(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key

    def problem(self, key: str, text: str) -> None:
        """Note what is wrong with a key of this table."""
        self.problems.append(f"{self._source}: {self._name(key)} {text}.")

    def has(self, dotted: str) -> bool:
        """Whether a key is there, followed through tables at its dots."""
        value: Any = self._data
        for key in dotted.split("."):
            if not isinstance(value, Mapping) or key not in value:
                return False
            value = value[key]
        return True

    def expect(self, *keys: str) -> None:
        """Know these keys, there or not."""
        self._read.extend(keys)

    def _take(self, key: str) -> Any:
        self._read.append(key)
        return self._data.get(key)

    def text(self, key: str, default: str | None = None) -> str:
        """A text; one without a default must be there, and say something."""
        value = self._take(key)
        if value is None and default is not None:
            return default
        if value is None:
            advice = "Say where the figures come from" if key == "source" else "Add it"
            self.problem(key, f"is missing. {advice}")
        elif not isinstance(value, str) or not value.strip():
            self.problem(key, f"= {value!r} is not a text. Give one in quotes")
        else:
            return value
        return ""

    def word(self, key: str, allowed: Sequence[str], *, default: str) -> str:
        """One of a few words; the default if it is not there."""
        value = self._take(key)
        if value is None:
            return default
        if value not in allowed:
            hint = nearest(str(value), allowed)
            self.problem(key, f"= {value!r} is unknown{hint}. Choose one of: {', '.join(allowed)}")
            return default
        return str(value)

    def number(
        self, key: str, *, least: float = -NUMBER_MAX, most: float = NUMBER_MAX, above: float | None = None
    ) -> float:
        """A finite number within its limits; it must be there."""
        value = self._take(key)
        allowed = _describe_bounds(least, most, above)
        if value is None:
            self.problem(key, f"is missing. Give {allowed}")
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
            self.problem(key, f"= {value!r} is not a number. Give {allowed}")
        elif not least <= value <= most or (above is not None and not value > above):
            self.problem(key, f"= {value!r} is out of range. Give {allowed}")
        else:
            return float(value)
        return 0.0

    def codes(self, key: str, names: Sequence[str], allowed: Iterable[int]) -> list[int]:
        """A list of names, as their codes; it must be there."""
        value = self._take(key)
        words = [names[code] for code in allowed]
        if not isinstance(value, list):
            given = "is missing" if value is None else f"= {value!r} is not a list"
            self.problem(key, f"{given}. Give a list of: {', '.join(words)}")
            return []
        codes = []
        for word in value:
            if isinstance(word, str) and word in words:
                codes.append(names.index(word))
            else:
                hint = nearest(str(word), words)
                self.problem(key, f"names {word!r}, which is unknown{hint}. Choose among: {', '.join(words)}")
        return codes

    def table(self, key: str) -> ProfileTable:
        """A table inside this one; empty if it is not there."""
        value = self._take(key)
        if value is not None and not isinstance(value, Mapping):
            self.problem(key, f"= {value!r} is not a table. Write [{self._name(key)}] and its keys below")
            value = None
        return ProfileTable(value, self._source, self.problems, self._name(key))

    def tables(self, key: str) -> list[ProfileTable]:
        """The tables of a list inside this one; empty if it is not there."""
        value = self._take(key)
        if value is not None and not (isinstance(value, list) and all(isinstance(one, Mapping) for one in value)):
            self.problem(key, f"= {value!r} is not a list of tables. Write [[{self._name(key)}]] and its keys below")
            value = None
        return [
            ProfileTable(one, self._source, self.problems, f"{self._name(key)}[{place}]")
            for place, one in enumerate(value or ())
        ]

    def by_name(self, names: Sequence[str], allowed: Iterable[int]) -> Iterator[tuple[int, ProfileTable]]:
        """The tables inside this one whose names are known, in the order of their codes."""
        for code in allowed:
            inner = self.table(names[code])
            if inner.is_given:
                yield code, inner
        self.finish()

    def rest(self) -> dict[str, Any]:
        """Every key not read yet: for a reader with its own idea of what is allowed."""
        remaining = {key: value for key, value in self._data.items() if key not in self._read}
        self._read.extend(remaining)
        return remaining

    def finish(self) -> None:
        """Note every key that nothing has read."""
        for key in self._data:
            if key not in self._read:
                hint = nearest(key, self._read)
                known = ", ".join(dict.fromkeys(self._read))
                self.problem(key, f"is unknown{hint}. Known here: {known}. Correct or remove it")


def _describe_bounds(least: float, most: float, above: float | None) -> str:
    if above is not None:
        return f"a number above {above:g}"
    if most == NUMBER_MAX:
        return "a number" if least == -NUMBER_MAX else f"a number of at least {least:g}"
    return f"a number from {least:g} to {most:g}"
