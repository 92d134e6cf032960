"""The sources of the compiled engine name what they read."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import endive.simulation.compiled as package

TABLE = "transitions"  # names every moment and step, each once: that is what it is for
FILES = sorted(path for path in Path(package.__file__).parent.glob("*.py") if path.stem != TABLE)
NAMES_MAX = 30


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_file_imports_more_than_30_names_from_one_module(path: Path) -> None:
    imports = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ImportFrom)]

    assert [] == [f"{node.module}: {len(node.names)}" for node in imports if len(node.names) > NAMES_MAX]
