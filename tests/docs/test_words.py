"""Words that only insiders understand stay out of the code, the pages and the studies."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = ("README.md", "ARCHITECTURE.md", "src", "docs", "experiments", "verification", "benchmarks", "tests")
BANNED = (
    r"\bseed ?00\d",
    r"\bthe appendix\b",
    r"\bolder documents?\b",
    r"\bluck\b",
    r"\bclock stopped\b",
    r"\bwhatever the how\b",
    r"\brefuses? to own\b",
)
NAMES_THEM = ("former_names.py", "test_former_names.py", "test_words.py")  # these tell old names from new ones
FORMER_NAMES = "docs/model/README.md"  # says what `seed004` is called now


def texts():
    for place in PLACES:
        path = ROOT / place
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.suffix in (".py", ".md", ".toml", ".ipynb") and file.name not in NAMES_THEM:
                yield file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")


@pytest.mark.parametrize("banned", BANNED)
def test_nothing_is_called_by_a_name_only_insiders_know(banned):
    found = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for name, text in texts()
        for match in re.finditer(banned, text, re.IGNORECASE)
        if not (name == FORMER_NAMES and match[0] == "seed004")
    ]

    assert [] == found
