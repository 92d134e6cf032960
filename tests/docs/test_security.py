"""SECURITY.md: every promise names a test, and every test that is named exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/.]+\.py)(?:::(\w+))?`", TEXT)


def functions_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_test_that_is_named_exists():
    missing = [
        f"{file}::{name}" if name else file
        for file, name in NAMED
        if not (ROOT / file).is_file() or (name and name not in functions_of(ROOT / file))
    ]

    assert [] == missing


def test_every_promise_names_a_test():
    promises = TEXT.partition("## What is promised")[2].partition("## What is not")[0]
    sections = promises.split("\n### ")[1:]

    assert 8 == len(sections)
    for section in sections:
        points = section.split("\n* ")[1:] or [section]
        assert [] == [point.splitlines()[0] for point in points if not re.search(r"`tests/[\w/.]+\.py", point)]
