"""Where a table's files may lie: at the place that was asked for, and at those allowed by name.

A metadata file names its manifest lists, and those their manifests. A stranger's file could name any store on the
network, so a path leads to another scheme or host only if the user allows it (``--allow s3://bucket``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from endive.errors import ConfigError, IntakeError

LOCAL: Final = "file"
LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
SECONDS_MAX: Final = 10.0  # for one answer of a catalog or a store
_SAME: Final = {"s3a": "s3", "s3n": "s3", "abfs": "abfss", "wasb": "abfss", "wasbs": "abfss", "": LOCAL}


@dataclass(frozen=True, slots=True)
class Place:
    """A scheme, and the host, bucket or container in it."""

    scheme: str
    host: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}"


def place_of(location: str) -> Place:
    """The place of a path or a URL."""
    if local_path(location) is not None:
        return Place(LOCAL, "")
    try:
        parts = urlsplit(location)
    except ValueError:
        raise IntakeError(f"'{location[:80]}'", "is no address.") from None
    return Place(_SAME.get(parts.scheme.lower(), parts.scheme.lower()), parts.netloc.rpartition("@")[2] or parts.netloc)


def local_path(location: str) -> str | None:
    """The path of a local file; None of an address elsewhere."""
    if location.startswith("file:"):
        rest = location.removeprefix("file:")
        return rest.removeprefix("//localhost").removeprefix("//") if rest.startswith("//") else rest
    return None if "://" in location else location


@dataclass(frozen=True, slots=True)
class AllowedPlaces:
    """What may be read."""

    places: frozenset[Place]

    def refuse_others(self, location: str) -> None:
        """IntakeError for a path that leads elsewhere."""
        place = place_of(location)
        if place not in self.places:
            known = ", ".join(sorted(map(str, self.places)))
            reason = f"lies at {place}, and only {known} was asked for. Allow it: --allow {place}"
            raise IntakeError(f"'{location[:80]}'", f"{reason}.")

    def refuse_local(self, location: str, uri: str) -> None:
        """IntakeError if the server of another machine names a file of this one."""
        host = urlsplit(uri).hostname or ""
        if place_of(location).scheme == LOCAL and host not in LOOPBACK and Place(LOCAL, "") not in self.places:
            raise IntakeError("its server", "names a file of this machine, not read. Allow it: --allow file://.")

    def also(self, location: str) -> AllowedPlaces:
        """The same, and the place of a path."""
        return AllowedPlaces(self.places | {place_of(location)})


NOWHERE_ELSE: Final = AllowedPlaces(frozenset())


def parse_places(texts: Iterable[str]) -> AllowedPlaces:
    """What ``--allow`` names; ConfigError for what is no place."""
    places = set()
    for text in texts:
        if "://" not in text:
            raise ConfigError(f"--allow '{text}' is not SCHEME://HOST, as in s3://bucket.")
        places.add(place_of(text))
    return AllowedPlaces(frozenset(places))
