"""The whole configuration, resolved: what a simulation reads, and the hash that names it.

It decides nothing: every default has been filled in by ``endive.config.resolve`` before one of these exists.
"""

from __future__ import annotations

import json
import os
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pydantic_core import PydanticCustomError

from endive.config.capabilities import is_profile_path
from endive.config.catalog import CatalogConfig
from endive.config.commit import CommitConfig
from endive.config.delta import DeltaConfig
from endive.config.failures import FailuresConfig
from endive.config.plain import plain_config
from endive.config.sections import ConflictConfig, ExperimentSection, SimulationSection, TableConfig
from endive.config.slo import SloSection
from endive.config.storage import StorageConfig
from endive.config.toml_text import toml_text
from endive.config.transaction import SourceConfig, TransactionConfig
from endive.config.values import SEED, Table
from endive.errors import ConfigError

HASH_BYTES = 16


class SimulationConfig(Table):
    """One simulation, described completely: what decides a result is here, or in a file it names."""

    simulation: SimulationSection
    experiment: ExperimentSection
    slo: SloSection
    storage: StorageConfig
    catalog: CatalogConfig
    table: TableConfig
    commit: CommitConfig
    delta: DeltaConfig
    transaction: TransactionConfig
    conflict: ConflictConfig
    failures: FailuresConfig
    sources: tuple[SourceConfig, ...]

    def to_dict(self) -> dict[str, Any]:
        """The resolved configuration as plain values ``parse_config`` takes, without keys nothing reads."""
        return plain_config(self)

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
        for key in ("seed", "output_path"):
            plain["simulation"].pop(key, None)
        for section in ("experiment", "slo"):
            plain.pop(section, None)
        if is_profile_path(self.storage.provider):
            plain["storage"]["provider"] = _digest_of_file(self.storage.provider)
        for source in plain["source"]:
            if source["arrivals"]["kind"] == "trace":
                source["arrivals"]["path"] = _digest_of_file(source["arrivals"]["path"])
        canonical = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return blake2b(canonical.encode(), digest_size=HASH_BYTES).hexdigest()

    def with_seed(self, seed: int) -> SimulationConfig:
        """The same configuration with another seed."""
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
