"""A question of the page: a start, and what was changed of it; and the command that asks it without the page.

Limits are ``endive.explore.limits``'. A change is written as on the command line, ``key`` and the text after ``=``;
nothing as the text leaves the key out.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from endive.answers.length import long_enough
from endive.answers.variation import RATE_KEY, Base
from endive.config import load_simulation_config, parse_config, parse_overrides
from endive.config.reading.overrides import apply_overrides, plain_copy, split_key
from endive.config.toml_text import value_text
from endive.errors import ConfigError, EndiveError
from endive.explore.limits import CHANGES_MAX, DURATION_MS_MAX, is_beyond_limits, refuse_beyond_limits, refuse_paths
from endive.explore.starting_points import Start, Starts

KEY_CHARACTERS_MAX: Final = 200
VALUE_CHARACTERS_MAX: Final = 4_000
FILE: Final = "explored.toml"  # the name of the copied file in the command


@dataclass(frozen=True, slots=True)
class Question:
    """What is on screen."""

    start: Start
    changes: Mapping[str, str | None]
    vary: str | None

    @property
    def values(self) -> dict[str, Any]:
        """The keys that are set, with values as the command line reads them; rates as whole tables of arrivals."""
        given = parse_overrides([f"{key}={text}" for key, text in self.changes.items() if text is not None])
        values: dict[str, Any] = {}
        for key, value in given.items():
            head, _, leaf = key.rpartition(".")
            if leaf == RATE_KEY and head.endswith("arrivals"):
                values[head] = {"kind": "poisson", RATE_KEY: value}
            else:
                values[key] = value
        return values

    @property
    def left_out(self) -> list[str]:
        """Return the keys that are taken out of the start."""
        return [key for key, text in self.changes.items() if text is None]

    def base(self) -> Base:
        """Return the configuration; ConfigError with every problem, those of limits and paths too.

        If no length is stated it gets one that can tell, as far as the page may simulate it, and says so.
        """
        begun = self.start.base
        document = apply_overrides(_without(begun.document, self.left_out), self.values)
        refuse_paths(document, begun.document)  # before anything named in it is opened
        config = parse_config(document, source=begun.source)
        refuse_beyond_limits(config)
        base = Base(document, begun.source, config)
        longer = long_enough(base, longest_ms=DURATION_MS_MAX)
        return base if is_beyond_limits(longer.config) else longer


def read_question(body: object, starts: Starts) -> Question:
    """Return the question in a request; ConfigError if it is none."""
    if not isinstance(body, Mapping):
        raise ConfigError("A question is an object with start, changes and vary.")
    start = starts.get(str(body.get("start")))
    if start is None:
        raise ConfigError("The start of the question is not known to this server. Choose one of its list.")
    changes = body.get("changes", {})
    if not isinstance(changes, Mapping) or len(changes) > CHANGES_MAX:
        raise ConfigError(f"Changes are an object of at most {CHANGES_MAX} keys.")
    for key, text in changes.items():
        if not isinstance(key, str) or len(key) > KEY_CHARACTERS_MAX:
            raise ConfigError(f"A key has at most {KEY_CHARACTERS_MAX} characters.")
        if text is not None and (not isinstance(text, str) or len(text) > VALUE_CHARACTERS_MAX):
            raise ConfigError(f"{key}: a value is a text of at most {VALUE_CHARACTERS_MAX} characters, or nothing.")
    vary = body.get("vary")
    if vary is not None and (not isinstance(vary, str) or len(vary) > KEY_CHARACTERS_MAX):
        raise ConfigError("The key to vary is a text.")
    return Question(start, dict(changes), vary)


def problems_by_key(problems: Sequence[str], keys: Sequence[str]) -> list[dict[str, Any]]:
    """Return each problem with the control it belongs beside: the longest key that its text names first."""
    placed = []
    for text in problems:
        named = [(text.find(key), -len(key), key) for key in keys if key in text]
        placed.append({"text": text, "key": min(named)[2] if named else None})
    return placed


def _without(document: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Return a copy without these keys; one that is not there is no problem."""
    rest: dict[str, Any] = plain_copy(document)
    for key in keys:
        parts = split_key(key)
        node: Any = rest
        for part in parts[:-1]:
            if isinstance(node, list):
                node = next((item for item in node if item.get("name") == part), None)
            else:
                node = node.get(part) if isinstance(node, dict) else None
        if isinstance(node, dict):
            node.pop(parts[-1], None)
    return rest


# --- what can be taken from the page ------------------------------------------------------------------


def reproduction_of(question: Question, base: Base) -> dict[str, Any]:
    """Return the file, and the shortest command that runs the same simulation."""
    config = base.config
    digest = config.config_hash()
    # Without the place where the server's own file wants its rows.
    simulation = config.simulation.model_copy(update={"output_path": None})
    toml = config.model_copy(update={"simulation": simulation}).to_toml()
    return {"toml": f"# hash {digest}\n{toml}", "file": FILE, "hash": digest, "command": _command(question, digest)}


def _command(question: Question, digest: str) -> str:
    """With the file the server was started with if that gives the same, else with the copied file."""
    file, sets = question.start.file, [f"{key}={_setting(value)}" for key, value in question.values.items()]
    if file is not None and not question.left_out:
        try:
            if load_simulation_config(file, sets).config_hash() == digest:
                return shlex.join(["endive", "run", file, *(word for text in sets for word in ("--set", text))])
        except EndiveError:
            pass
    return shlex.join(["endive", "run", FILE])


def _setting(value: Any) -> str:
    """Return a value as the command line reads it; words need no quotes."""
    is_bare = isinstance(value, str) and value.replace("_", "").isalnum() and not value[0].isdigit()
    return value if is_bare and value not in ("true", "false", "inf", "nan") else value_text(value)
