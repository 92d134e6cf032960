"""Every exception Endive raises on purpose, in one tree.

::

    Exception
    └── EndiveError                      catch this to catch them all
        ├── ConfigError                  a configuration that cannot be simulated as written
        ├── ObjectiveError               an objective that cannot be read, or a question it cannot answer
        ├── UnsupportedOperationError    an operation asked of a storage provider that lacks it
        ├── ProfileError                 a storage profile that is missing, malformed or contradictory
        ├── TraceError                   an arrival trace that is missing, malformed or out of order
        ├── ObservationError             a real table, store or report that cannot be read or measured
        ├── IntakeError                  something from elsewhere that is not taken: too large, too deep, late, no file
        ├── OutputError                  a place results cannot be written to or read from
        ├── EngineError                  a simulation that cannot run or cannot go on (too many txns, ...)
        └── HistoryError                 a run whose commits are not serial: a bug, in Endive or in a part of the user's

An exception states what the user got wrong: what, where, and what to do next. What our own code
promises is stated with ``assert``; this file owns no such promise and no message of its own. ``HistoryError`` is the
exception to that: it is our own promise, and parts of the user's own can break it.
"""

from __future__ import annotations

from collections.abc import Iterable


class EndiveError(Exception):
    """Base of every exception Endive raises on purpose."""


class ConfigError(EndiveError):
    """All problems of one configuration at once, one line each.

    ``problems`` keeps them apart; ``str()`` joins them with newlines.
    """

    problems: tuple[str, ...]

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))

    def __reduce__(self) -> tuple[type[ConfigError], tuple[tuple[str, ...]]]:
        """Survive the trip back from a worker process with the problems still apart."""
        return type(self), (self.problems,)


ConfigurationError = ConfigError  # the name the refactoring specification fixes


class ObjectiveError(EndiveError):
    """An objective cannot be read, or a question about it has no answer as it was asked."""


class UnsupportedOperationError(EndiveError):
    """A storage provider was asked for an operation it does not have."""


class ProfileError(EndiveError):
    """A storage profile is missing, malformed or contradicts itself."""


class TraceError(EndiveError):
    """An arrival trace is missing, malformed or out of order."""


class ObservationError(EndiveError):
    """A real table, catalog, object store or commit report cannot be read or measured."""


class IntakeError(EndiveError):
    """Something from elsewhere is not taken: it is too large, too deep, too late, or no regular file.

    ``reason`` is the end of the sentence that begins with ``name``; both may quote a stranger, so they are one line
    that a terminal only shows.
    """

    def __init__(self, name: str, reason: str) -> None:
        self.name, self.reason = (
            "".join(each if each.isprintable() else "\ufffd" for each in text) for text in (name, reason)
        )
        super().__init__(f"{self.name} {self.reason}")

    def __reduce__(self) -> tuple[type[IntakeError], tuple[str, str]]:
        """Survive the trip back from a worker process."""
        return type(self), (self.name, self.reason)


class OutputError(EndiveError):
    """Results cannot be written to, or read from, the place that was named."""


class EngineError(EndiveError):
    """A simulation cannot run, or cannot go on, as it was asked for."""


class HistoryError(EndiveError):
    """The history of a run is not serial: an update was lost, a read lied, or a commit was told wrongly."""
