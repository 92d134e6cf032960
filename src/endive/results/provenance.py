"""Where a result comes from: enough to make it again, written into every file.

The configuration itself is not among it; its hash is.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import metadata
from typing import Any, Final

from endive.results.knowledge import KnownFigure
from endive.results.schema import SCHEMA_VERSION

MODEL_VERSION: Final = 11
"""Bump when the same configuration and seed give other numbers, and say so under Numbers in CHANGELOG."""

_PREFIX: Final = "endive."


@cache
def package_version() -> str:
    """Version of the installed package; ``unknown`` when run from a source tree that is not installed."""
    try:
        return metadata.version("endive")
    except metadata.PackageNotFoundError:
        return "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """One (configuration, seed) on one engine of one version."""

    config_hash: str
    seed: int
    engine: str
    version: str = field(default_factory=package_version)
    model_version: int = MODEL_VERSION
    schema_version: int = SCHEMA_VERSION
    figures: tuple[KnownFigure, ...] = ()  # how well the latency of every kind of request is known
    unsaid: tuple[str, ...] = ()  # what the configuration leaves open that decides results, a sentence each

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object; the figures stand in the result, as far as they were used, and so does what is unsaid."""
        return {name: value for name, value in asdict(self).items() if name not in ("figures", "unsaid")}

    def to_metadata(self) -> dict[str, str]:
        """As key-value metadata of an Arrow or Parquet file."""
        return {f"{_PREFIX}{key}": str(value) for key, value in self.to_dict().items()}
