"""The properties under which PyIceberg reads files through ``endive.observation.tables.guarded_io``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from endive.observation.tables.allowed_places import SECONDS_MAX

IMPLEMENTATION: Final = "py-io-impl"
GUARDED: Final = "endive.observation.tables.guarded_io.GuardedFileIO"
OWN: Final = "endive."  # how properties begin that are ours
OWN_IMPLEMENTATION: Final = f"{OWN}py-io-impl"  # the user's, if there is one
OWN_SECONDS: Final = f"{OWN}seconds-max"
ENDPOINT: Final = "s3.endpoint"
REGIONS: Final = ("s3.region", "client.region")
REGION_ELSEWHERE: Final = "us-east-1"  # what a server that is not Amazon's is told, as by every client of theirs


def guard_properties(properties: Mapping[str, Any], seconds_max: float = SECONDS_MAX) -> dict[str, Any]:
    """The same properties, and those that put the guard before every file."""
    guarded = {**properties, IMPLEMENTATION: GUARDED, OWN_SECONDS: str(seconds_max)}
    if IMPLEMENTATION in properties:
        guarded[OWN_IMPLEMENTATION] = properties[IMPLEMENTATION]
    return guarded


def unguarded_properties(properties: Mapping[str, Any]) -> dict[str, Any]:
    """What the user gave; without a region PyArrow would ask Amazon for that of a bucket, wherever its endpoint is."""
    own = {key: value for key, value in properties.items() if not key.startswith(OWN) and key != IMPLEMENTATION}
    if OWN_IMPLEMENTATION in properties:
        own[IMPLEMENTATION] = properties[OWN_IMPLEMENTATION]
    if own.get(ENDPOINT) and not any(own.get(key) for key in REGIONS):
        own[REGIONS[0]] = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or REGION_ELSEWHERE
    return own
