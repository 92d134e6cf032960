"""ARCHITECTURE.md: every path it names exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
HOMES = ("", "src/", "src/endive/", "src/endive/pipeline/", "src/endive/formats/", "src/endive/formats/iceberg/")


def tree_paths() -> list[str]:
    """The paths of the tree at the top: a name and its indentation, then at least two blanks or nothing."""
    block = TEXT.split("```")[1]
    found, parents = [], {}
    for line in block.splitlines():
        named = re.match(r"( *)([\w./-]+/|[\w.-]+\.py)(?:\s{2,}\S|$)", line)
        if named is None or len(named[1]) > 6:
            continue
        parents[len(named[1])] = named[2]
        found.append("".join(name for depth, name in sorted(parents.items()) if depth < len(named[1])) + named[2])
        parents = {depth: name for depth, name in parents.items() if depth <= len(named[1])}
    return found


def test_the_tree_is_that_of_the_repository():
    paths = tree_paths()

    assert len(paths) > 30
    assert [] == [path for path in paths if not (ROOT / path).exists()]


def test_every_path_in_the_text_exists():
    named = re.findall(r"`((?:[\w-]+/)+[\w.-]*)`", TEXT)
    missing = [path for path in named if not any((ROOT / home / path).exists() for home in HOMES)]

    assert len(named) > 40
    assert [] == missing
