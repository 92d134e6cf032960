"""The pinned packages: complete, hashed, each in one file, and silent on where they come from."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

REPOSITORY = Path(__file__).parents[2]
LAYERS = ("engine", "run", "test", "check")
ALL = (*LAYERS, "uv", "java")
EXTRAS = {"engine": (), "run": ("spark", "report"), "test": ("connect", "verify", "lake", "explore"), "check": ()}

PIN = re.compile(
    r"^(?P<name>[\w.-]+)==(?P<version>[^ ;]+)(?: ;[^\\\n]*?)?(?: \\\n    --hash=sha256:[0-9a-f]{64})+$", re.M
)


def text(name: str) -> str:
    return (REPOSITORY / "requirements" / name).read_text(encoding="utf-8")


def pins(name: str) -> dict[str, str]:
    return {match["name"]: match["version"] for match in PIN.finditer(text(f"{name}.txt"))}


def ranges(layer: str) -> list[Requirement]:
    """What a layer asks for: of the package's own dependencies and extras, and in its file of ranges."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = list(project["dependencies"]) if layer == "engine" else []
    for extra in EXTRAS[layer]:
        asked += project["optional-dependencies"][extra]
    own = REPOSITORY / "requirements" / f"{layer}.in"
    if own.exists():
        asked += [line for line in own.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [requirement for requirement in map(Requirement, asked) if requirement.name != "endive"]


@pytest.mark.parametrize("name", ALL)
def test_every_pin_carries_a_hash_and_nothing_else_stands_in_its_file(name: str) -> None:
    assert "" == PIN.sub("", text(f"{name}.txt")).strip()


@pytest.mark.parametrize("layer", LAYERS)
def test_every_range_is_pinned_inside_it_by_its_layer_or_one_before(layer: str) -> None:
    installed: dict[str, str] = {}
    for name in LAYERS[: LAYERS.index(layer) + 1]:
        installed |= pins(name)

    outside = [str(asked) for asked in ranges(layer) if not asked.specifier.contains(installed.get(asked.name, "0"))]

    assert [] == outside


def test_a_package_is_pinned_in_one_layer_or_again_for_more_platforms_at_the_same_version() -> None:
    lines = [line.split(" \\")[0] for layer in LAYERS for line in text(f"{layer}.txt").splitlines() if "==" in line]
    versions = {(line.split("==")[0], line.split("==")[1].split(" ;")[0]) for line in lines if " ; python" not in line}

    assert sorted(set(lines)) == sorted(lines)
    assert sorted({name for name, _ in versions}) == sorted(name for name, _ in versions)


def test_every_extra_is_pinned_for_the_tests() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert sorted(project["optional-dependencies"]) == sorted(extra for extras in EXTRAS.values() for extra in extras)


@pytest.mark.parametrize("path", sorted((REPOSITORY / "requirements").iterdir()), ids=lambda path: path.name)
def test_no_file_of_requirements_names_a_host(path: Path) -> None:
    assert [] == [line for line in path.read_text(encoding="utf-8").splitlines() if "://" in line or "--index" in line]
