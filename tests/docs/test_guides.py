"""What a guide shows is what its commands print."""

from pathlib import Path

import pytest
from tools.guide_output import BLOCK, printed, refreshed

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
QUESTIONS = ("which-retries", "partial-progress", "commits-per-second", "nightly-merge")


@pytest.mark.slow
@pytest.mark.parametrize("name", QUESTIONS)
def test_every_command_of_a_guide_prints_what_the_page_shows(name):
    text = (GUIDES / f"{name}.md").read_text(encoding="utf-8")

    assert text == refreshed(text), f"run: python tools/guide_output.py docs/guides/{name}.md"


@pytest.mark.parametrize("name", ["which-retries", "partial-progress"])
def test_the_first_command_of_a_quick_guide_prints_what_the_page_shows(name):
    block = next(BLOCK.finditer((GUIDES / f"{name}.md").read_text(encoding="utf-8")))
    shown = block["output"].splitlines()
    lines = printed(block["command"])

    assert (shown[:-1] if shown[-1] == "..." else shown) == lines[: len(shown) - (shown[-1] == "...")]
