"""Holds the pinned packages against published advisories, without a network.

    python -m tools.check_advisories
    python -m tools.check_advisories --database FOLDER     a clone of pypa/advisory-database: is the list right?

Advisories are kept in ``requirements/advisories.toml``, which says how to add one. Ends with 1 if a pin is
concerned, or if the database knows better than the list.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from tools.pins import ROOT, Pin, read_pins

FILE: Final = ROOT / "requirements" / "advisories.toml"


@dataclass(frozen=True, slots=True)
class Advisory:
    """What was published of a package."""

    package: str
    id: str
    about: str
    affected: SpecifierSet
    source: str = ""  # where it was looked up; the list says what the words mean


def read_advisories(path: Path = FILE) -> tuple[list[Advisory], dict[str, str]]:
    """All advisories, and by identifier why one is accepted."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    advisories = [
        Advisory(
            each["package"], each["id"], each["about"], SpecifierSet(each["affected"], prereleases=True), each["source"]
        )
        for each in document["advisory"]
    ]
    return advisories, dict(document.get("accepted", {}))


def find_concerned(pins: list[Pin], advisories: list[Advisory], accepted: dict[str, str]) -> list[str]:
    """A line for every pin that an advisory is about, unless that is accepted."""
    return [
        f"requirements/{pin.layer}.txt: {pin.name} {pin.version} is concerned by {each.id} ({each.about}; "
        f"{each.affected}). Renew the pin: make pins"
        for pin in pins
        for each in advisories
        if pin.name == each.package and each.id not in accepted and each.affected.contains(pin.version)
    ]


def better_known(pins: list[Pin], advisories: list[Advisory], database: Path) -> list[str]:
    """What a clone of the Packaging Authority's database says otherwise: of entries, and of pins."""
    lines = []
    listed = {each.id for each in advisories}
    for pin in pins:
        published = list(_read_published(database, pin.name))
        for each in advisories:
            if each.package != pin.name or each.source != "pysec":
                continue
            versions = next((versions for ids, versions in published if each.id in ids), None)
            if versions is None:
                lines.append(f"{each.id} of {pin.name} is not in the database")
            else:
                ranges = [other.affected for other in advisories if (other.package, other.id) == (pin.name, each.id)]
                missed = sorted(v for v in versions if not any(known.contains(v) for known in ranges))
                if missed:
                    lines.append(f"{each.id} of {pin.name} also concerns {missed[0]}, which {each.affected} leaves out")
        lines += [
            f"{pin.name} {pin.version} is concerned by {ids[0]}, which the list lacks"
            for ids, versions in published
            if Version(pin.version) in versions and not listed & set(ids)
        ]
    return lines


def _read_published(database: Path, package: str) -> Iterator[tuple[list[str], set[Version]]]:
    """Each advisory on a package: its identifiers, and the versions it names."""
    import yaml  # type: ignore[import-untyped]

    for path in sorted((database / "vulns" / package).glob("*.yaml")):
        document: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
        if "withdrawn" not in document:
            names = {text for each in document["affected"] for text in each.get("versions", ())}
            yield [document["id"], *document.get("aliases", ())], {Version(text) for text in names if _is_version(text)}


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except ValueError:
        return False
    return True


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--database", type=Path, help="a clone of pypa/advisory-database")
    options = parser.parse_args()
    pins, (advisories, accepted) = read_pins(), read_advisories()
    lines = find_concerned(pins, advisories, accepted)
    lines += better_known(pins, advisories, options.database) if options.database else []
    for line in lines:
        print(line)
    known_until = tomllib.loads(FILE.read_text(encoding="utf-8"))["known_until"]
    told = f"{len(lines)} to look at" if lines else "none is concerned"
    print(f"{len(pins)} pins compared with {len(advisories)} advisories, known until {known_until}: {told}.")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
