"""The page that says of every option and every lever whether it is available.

python -m endive.answers.advice.availability_page > docs/reference/availability.md
"""

from __future__ import annotations

import sys

from endive.answers.advice.levers import LEVERS
from endive.config.availability import ANY, OPTIONS
from endive.config.toml_text import value_text

_OPENING = """# Availability

Every option of a catalog, a protocol or a source, and every lever of `endive advise`, is one of these: *available*,
with its release; *needs* something else; *hypothetical*: no product whose source was read does it; *proposed*: a text
exists, and no release. An answer that rests on a server that rebases or groups commits, or on a proposal, says so.
`endive advise` tries what is hypothetical with `--hypothetical` only, and shows it last.

This page is written by `python -m endive.answers.advice.availability_page`.

## Options
"""


def availability_page() -> str:
    """Return as Markdown."""
    options = [
        (option.key if option.value is ANY else f"{option.key} = {value_text(option.value)}", option.had, option.how)
        for option in OPTIONS
    ]
    levers = [(lever.name, lever.of or "both", lever.had, lever.how) for lever in LEVERS]
    lines = [_OPENING, "| option | it is | which, or why |", "|---|---|---|"]
    lines += [f"| `{name}` | {had} | {how} |" for name, had, how in options]
    lines += [
        "",
        "## Levers of `endive advise`",
        "",
        "| lever | format | it is | which, what, or why |",
        "|---|---|---|---|",
    ]
    lines += [f"| `{name}` | {of} | {had} | {how} |" for name, of, had, how in levers]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(availability_page())
