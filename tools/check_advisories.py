"""Holds the pinned packages against published advisories, without a network.

    python -m tools.check_advisories

Advisories are kept in ``requirements/advisories.toml``, which says how to add one. Ends with 1 if a pin is concerned.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.specifiers import SpecifierSet
from tools.pins import ROOT, Pin, read_pins

FILE: Final = ROOT / "requirements" / "advisories.toml"


@dataclass(frozen=True, slots=True)
class Advisory:
    """What was published of a package."""

    package: str
    id: str
    about: str
    affected: SpecifierSet


def read_advisories(path: Path = FILE) -> tuple[list[Advisory], dict[str, str]]:
    """All advisories, and by identifier why one is accepted."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    found = [
        Advisory(each["package"], each["id"], each["about"], SpecifierSet(each["affected"], prereleases=True))
        for each in document["advisory"]
    ]
    return found, dict(document.get("accepted", {}))


def concerned(pins: list[Pin], advisories: list[Advisory], accepted: dict[str, str]) -> list[str]:
    """A line for every pin that an advisory is about, unless that is accepted."""
    return [
        f"requirements/{pin.layer}.txt: {pin.name} {pin.version} is concerned by {each.id} ({each.about}; "
        f"{each.affected}). Renew the pin: make pins"
        for pin in pins
        for each in advisories
        if pin.name == each.package and each.id not in accepted and each.affected.contains(pin.version)
    ]


def main() -> int:
    """The command."""
    pins, (advisories, accepted) = read_pins(), read_advisories()
    lines = concerned(pins, advisories, accepted)
    for line in lines:
        print(line)
    known_until = tomllib.loads(FILE.read_text(encoding="utf-8"))["known_until"]
    told = f"{len(lines)} concerned" if lines else "none is concerned"
    print(f"{len(pins)} pins held against {len(advisories)} advisories, known until {known_until}: {told}.")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
