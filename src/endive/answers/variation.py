"""One configuration, with one of its numbers varied.

Which values are asked for is decided in ``endive.answers.limit`` and ``endive.answers.advice``. Beside the keys of a
configuration there are ``load``, a factor on every source at once, and ``source.*.KEY``, a key of every source.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from endive.config import SimulationConfig, apply_overrides, configuration_file, nearest_key, parse_config, read_toml
from endive.config.problems import source_name
from endive.config.reading.overrides import parse_overrides, plain_copy, split_key
from endive.config.reading.recipe import parameter_of
from endive.errors import ConfigError, ObjectiveError

LOAD: Final = "load"
EVERY_SOURCE: Final = "*"
RATE_KEY: Final = "per_s"
STUDY_KEYS: Final = frozenset(("axes", "linked", "study", "base"))
ConfigLike = SimulationConfig | Mapping[str, Any] | str | os.PathLike[str]


@dataclass(frozen=True)
class Base:
    """A configuration as it was written, so that a key can be changed and everything that follows from it follows."""

    document: Mapping[str, Any]
    source: str  # of the document: relative paths start there
    config: SimulationConfig
    notes: tuple[str, ...] = ()  # what was chosen that the document did not say

    def with_values(self, values: Mapping[str, Any]) -> SimulationConfig:
        """Return the configuration with these keys replaced."""
        return self.varied(values).config

    def varied(self, values: Mapping[str, Any]) -> Base:
        """Return a base of its own with these keys replaced."""
        document: dict[str, Any] = plain_copy(self.document)
        for key, value in values.items():
            document = self._with(document, key, value)
        return Base(document, self.source, parse_config(document, source=self.source))

    def _with(self, document: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
        if key == LOAD:
            plain = parse_config(document, source=self.source).to_dict()  # a default of [transaction] is in each source
            return {**plain, "source": [scale_source(source, float(value)) for source in plain["source"]]}
        parts = split_key(key) if EVERY_SOURCE not in key else key.split(".")
        if parts[0] == "source" and document.get("transaction"):
            # Spelt out, so that a default of [transaction] which no source would take over any more is not in the way.
            document = parse_config(document, source=self.source).to_dict()
        elif parts[0] == "source" and not document.get("source"):
            document = {**document, "source": self.config.to_dict()["source"]}
        if len(parts) == 3 and parts[0] == "source" and parts[2] == LOAD:
            sources = [
                scale_source(source, float(value)) if source["name"] == parts[1] else source
                for source in parse_config(document, source=self.source).to_dict()["source"]
            ]
            return {**document, "source": sources}
        if len(parts) > 2 and parts[1] == EVERY_SOURCE:
            names = [source.name for source in self.config.sources]
            return apply_overrides(document, {".".join(["source", f'"{n}"', *parts[2:]]): value for n in names})
        if parts[-1] == RATE_KEY:
            document = apply_overrides(document, {".".join(parts[:-1]): {"kind": "poisson", RATE_KEY: value}})
        return apply_overrides(document, {key: value})

    def value_of(self, key: str) -> float | int:
        """Return the number a key has now."""
        if key == LOAD:
            return 1.0
        parts = split_key(key.replace(EVERY_SOURCE, f'"{self.config.sources[0].name}"'))
        value = _at(self.config.to_dict(), [part for part in parts if part != RATE_KEY])
        if value is None and parts[0] == "source" and len(parts) == 3:
            source = _at(self.document, parts[:2])
            value = parameter_of(source, parts[2]) if source else None
        if parts[-1] == RATE_KEY and isinstance(value, dict) and "mean_ms" in value:
            return 1000.0 / float(value["mean_ms"])
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ObjectiveError(_not_a_number(key, value))
        return value


def base_of(config: ConfigLike, overrides: Mapping[str, Any] | list[str] | None = None) -> Base:
    """Whatever describes a simulation, with keys replaced, as a base for variations."""
    changes = parse_overrides(overrides) if isinstance(overrides, list) else dict(overrides or {})
    if isinstance(config, SimulationConfig):
        document: Mapping[str, Any] = config.to_dict()
        source = "<configuration>"
    elif isinstance(config, Mapping):
        document, source = config, "<dict>"
    else:
        file = configuration_file(config)
        document, source = read_toml(file), str(file)
        if not STUDY_KEYS.isdisjoint(document):
            raise ConfigError(f"{file} is a study of many configurations. Run it with: endive study {file}")
    document = apply_overrides(document, changes)
    return Base(document, source, parse_config(document, source=source))


def assumed(config: ConfigLike, texts: list[str] | None) -> list[str]:
    """Return assumptions as overrides; ConfigError for a key that the file sets."""
    if not texts:
        return []
    document = base_of(config).document
    for key in parse_overrides(texts):
        if _at(document, split_key(key)) is not None:
            raise ConfigError(f"--assume {key}: the file sets it. Use --set {key}=VALUE to replace it.")
    return texts


def scale_source(source: dict[str, Any], factor: float) -> dict[str, Any]:
    """Return a source, in its plain form, that offers ``factor`` times the load."""
    arrivals = dict(source["arrivals"])
    kind = arrivals["kind"]
    if kind == "trace":
        raise ObjectiveError(f"--vary load: source '{source['name']}' replays a trace, whose times are fixed.")
    if kind == "closed":
        arrivals["clients"] = max(1, round(arrivals["clients"] * factor))
    for key in ("mean_ms", "ms", "low_ms", "high_ms", "period_ms", "jitter_ms"):
        if key in arrivals:
            arrivals[key] = arrivals[key] / factor
    return {**source, "arrivals": arrivals}


def _at(document: Any, parts: list[str]) -> Any:
    for part in parts:
        if isinstance(document, list):
            document = next((item for item in document if source_name(item) == part), None) or (
                document[int(part)] if part.isdecimal() and int(part) < len(document) else None
            )
        elif isinstance(document, Mapping):
            document = document.get(part)
        else:
            return None
    return document


def _not_a_number(key: str, found: Any) -> str:
    if found is None:
        guess = nearest_key(key)
        hint = f" Did you mean '{guess}'?" if guess and guess != key else ""
        return (
            f"--vary {key}: the configuration has no such number.{hint} Name a key it reads, or give --from and --to."
        )
    return f"--vary {key}: it is {found!r}, not a number."
