"""The list of mistakes that tests must catch is alive: every line it changes is there, once."""

from pathlib import Path

import pytest
from tools.mutations import MUTATIONS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_every_mistake_can_be_planted(mutation):
    assert 1 == (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.before)
    assert all((ROOT / test.partition("::")[0]).exists() for test in mutation.caught_by.split())
