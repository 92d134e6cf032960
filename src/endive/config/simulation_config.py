"""The whole configuration, resolved: what a simulation reads, and the hash that names it.

It decides nothing: every default has been filled in by ``endive.config.reading.resolve`` before one of these exists.
"""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pydantic_core import PydanticCustomError

from endive.config.capabilities import is_profile_path
from endive.config.effects import idle_keys, idle_source_keys, implied_values
from endive.config.keys import SECTIONS, Sections
from endive.config.reading.former_names import UNITS
from endive.config.sections.commit import PRESETS
from endive.config.sections.distribution import Spec
from endive.config.sections.source import SourceConfig
from endive.config.toml_text import toml_text
from endive.config.values import SEED, Table
from endive.errors import ConfigError
from endive.vocabulary import KINDS

HASH_BYTES = 16
AFTER_REFRESH = "after_refresh"


class SimulationConfig(Sections):
    """One simulation, described completely: what decides a result is here, or in a file it names."""

    sources: tuple[SourceConfig, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values that ``parse_config`` takes, without keys nothing reads: sections by name, then ``source``."""
        idle = idle_keys(self)
        document: dict[str, Any] = {}
        for name in (name for name in SECTIONS if name not in idle):
            section = _plain_table(getattr(self, name), f"{name}.", idle, implied_values(is_of_source=False))
            if section:
                document[name] = section
        # Keys that came later and mean what was meant before: such a configuration keeps its hash.
        if document["table"]["format"] == "iceberg":
            del document["table"]["format"]
        commit = document.get("commit")
        if commit and commit["repair"] == AFTER_REFRESH == PRESETS[self.commit.protocol]["repair"]:
            del commit["repair"]
        told = document["catalog"].get("refusal_returns_snapshot")
        if self.catalog.type == "cas" and told is self.commit.refusals_return_state:
            del document["catalog"]["refusal_returns_snapshot"]
        if "latency_ms" in document["catalog"]:
            del document["catalog"]["latency"]
        implied = implied_values(is_of_source=True)
        document["source"] = [
            _plain_table(each, "", {*idle_source_keys(each, self), *_left_out(each)}, implied) for each in self.sources
        ]
        for source in document["source"]:
            weights = source["operation_types"]
            source["operation_types"] = {kind: weights[kind] for kind in KINDS if weights[kind]}
        return document

    def to_toml(self, folder: Path | None = None) -> str:
        """The resolved configuration as a TOML file that loads to an equal configuration.

        A file in ``folder`` names a profile or a trace by its way from there, so that nothing tells where on this
        machine the folder lies, and says nothing of the output path.
        """
        plain = self.to_dict()
        if folder is not None:
            plain["simulation"].pop("output_path", None)
            if is_profile_path(self.storage.provider):
                plain["storage"]["provider"] = _way_from(folder, self.storage.provider)
            for source in plain["source"]:
                if source["arrivals"]["kind"] == "trace":
                    source["arrivals"]["path"] = _way_from(folder, source["arrivals"]["path"])
        return toml_text(plain)

    def config_hash(self) -> str:
        """Name of everything that decides results but the seed.

        Label, objective and output path are left out; a profile or a trace of the user's counts by its bytes, not by
        where it lies, so the hash is the same on every machine.
        """
        plain = self.to_dict()
        for key in ("seed", "output_path", "model"):
            plain["simulation"].pop(key, None)
        for section in ("experiment", "slo"):
            plain.pop(section, None)
        for section, names in UNITS.items():  # a key that came to name its unit moves no hash
            table = plain.get(section, {})
            table |= {former: table.pop(present) for former, present in names.items() if present in table}
        if is_profile_path(self.storage.provider):
            plain["storage"]["provider"] = _digest_of_file(self.storage.provider)
        for source in plain["source"]:
            if source["arrivals"]["kind"] == "trace":
                source["arrivals"]["path"] = _digest_of_file(source["arrivals"]["path"])
        canonical = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return blake2b(canonical.encode(), digest_size=HASH_BYTES).hexdigest()

    def with_seed(self, seed: int) -> SimulationConfig:
        try:
            section = self.simulation.model_copy(update={"seed": SEED.check(seed)})
        except PydanticCustomError as error:
            raise ConfigError(f"simulation.seed = {seed!r} {error.message()}") from None
        return self.model_copy(update={"simulation": section})


def _digest_of_file(path: str) -> str:
    try:
        return blake2b(Path(path).read_bytes(), digest_size=HASH_BYTES).hexdigest()
    except OSError as error:
        raise ConfigError(f"'{path}' cannot be read: {error.strerror}.") from error


def _way_from(folder: Path, path: str) -> str:
    way = os.path.relpath(Path(path).resolve(), folder.resolve())
    return way if os.sep in way else os.path.join(os.curdir, way)  # with a separator it cannot be a profile's name


def _left_out(source: SourceConfig) -> Iterator[str]:
    """Keys that say nothing in the plain form: the policy tells whether there is a pause."""
    yield "retry_backoff.enabled"
    if not source.has_own_probability:
        yield "real_conflict_probability"


def _plain_table(
    table: Table, prefix: str, idle: Container[str], implied: Mapping[str, tuple[Any, ...]]
) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key in table.ordered_fields():
        value, path = getattr(table, key), f"{prefix}{key}"
        if value is None or path in idle or (value in implied.get(path, ())):
            continue
        if isinstance(value, Spec):
            plain[key] = value.to_table()
        elif isinstance(value, Table):
            inner = _plain_table(value, f"{path}.", idle, implied)
            if inner:
                plain[key] = inner
        else:
            plain[key] = list(value) if isinstance(value, tuple) else value
    return plain
