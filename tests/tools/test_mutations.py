"""The list of mistakes that tests must catch is alive: every line it changes is there, once."""

import re
from pathlib import Path

import pytest
from tools.mutate import COPIED
from tools.mutations import MUTATIONS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_every_mistake_can_be_planted(mutation):
    assert 1 == (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.before)
    assert all((ROOT / test.partition("::")[0]).exists() for test in mutation.caught_by.split())


def test_whatever_the_tests_import_is_in_the_copy():
    texts = (file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    imported = {name for text in texts for name in re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE)}

    assert {name for name in imported if (ROOT / name).is_dir()} <= set(COPIED)
