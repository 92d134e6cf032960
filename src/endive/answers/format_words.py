"""What is called otherwise in another table format: the protocol of a run, phases of a commit, ways to fail."""

from __future__ import annotations

from typing import Final

from endive.config import SimulationConfig
from endive.formats.delta import words as delta

CLIENTS: Final = {"spark": "Delta Spark", "delta_rs": "delta-rs"}
LOG_LISTING: Final = "log listing"  # what a read of the catalog is where there is none
# Reasons of an abort that are told though nothing ended so; others only come with keys of their own.
ALWAYS_TOLD: Final = ("validation_exception", "retries_exhausted", "timeout")
ALWAYS_TOLD_OF_DELTA: Final = (*delta.REASONS[:2], "retries_exhausted")


def protocol_of(config: SimulationConfig) -> str:
    """Whose commits are simulated."""
    return CLIENTS[config.delta.client] if config.table.format == "delta" else config.commit.protocol


def is_delta(protocol: str) -> bool:
    """Return whether a protocol, as ``protocol_of`` names it, is Delta's."""
    return protocol in CLIENTS.values()


def phase_name(phase: str, is_delta: bool) -> str:
    """Return a phase in words."""
    return LOG_LISTING if is_delta and phase == "catalog_read" else phase.replace("_", " ")
