"""The part of ``docs/model/conflicts.md`` that is PyIceberg's: verdicts and requests of every pair, as recorded.

Which pairs there are lives in ``met``.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Final

from verification.suites.pyiceberg.met import BEFORE, DURING, EXPIRY, PAIRS_FILE, RIVALS, Met, all_met

REASONS: Final = {
    "Added data files": "D",
    "Deleted data files": "G",
    "Data files were concurrently deleted": "X",
    "Missing required files": "M",
    "Found new conflicting delete files": "d",
    "Cannot find starting snapshot": "H",
}
INTRO: Final = """
## PyIceberg

What PyIceberg {version} did, recorded on {date} by `python -m verification.record pyiceberg-pairs`
(`verification/suites/pyiceberg/data/pairs.json`). It writes neither delete files nor compactions. The table has one
file per manifest: A, which the victim works on, C in the same partition and E in another one. `overwrite` is
`update_snapshot().overwrite()` with a filter, `overwrite unfiltered` the same without, `delete and append` is
`table.overwrite`. PyIceberg checks on retries only, so that a victim that is behind loses its first attempt.

| letter | message |
|---|---|
{letters}

"""


def read_met() -> dict[str, Any]:
    """The recording that travels with the package."""
    document: dict[str, Any] = json.loads(PAIRS_FILE.read_text(encoding="utf-8"))
    return document


def met_section() -> str:
    """Verdicts, rivals down and victims across; then what the retry reads."""
    document = read_met()
    stories = document["scenarios"]
    messages = {story.get("message", "") for story in stories.values()}
    letters = [
        f"| `{short}` | {start} ... |"
        for start, short in REASONS.items()
        if any(message.startswith(start) for message in messages)
    ]
    head = INTRO.format(version=document["pyiceberg"], date=document["recorded"], letters="\n".join(letters))
    victims = list(dict.fromkeys((met.victim, met.isolation) for met in all_met()))
    lines = ["| rival | touches | " + " | ".join(f"{name} {level}".strip() for name, level in victims) + " |"]
    lines.append("|---|---|" + ":-:|" * len(victims))
    for rival, touches, count in _rows():
        cells = []
        for victim, isolation in victims:
            met = Met(victim=victim, isolation=isolation, rival=rival, touches=touches, count=count)
            late = stories.get(Met(victim=victim, isolation=isolation, rival=rival, touches=touches, when=DURING).key)
            cells.append(_cell(stories[met.key], late))
        name = rival if rival != EXPIRY else f"{count} {rival}"
        lines.append(f"| {name} | {touches} | " + " | ".join(cells) + " |")
    note = (
        "\nAfter the letter: lists and manifests that the last attempt read, where the rival committed before the "
        f"victim's commit ({BEFORE}). A second letter: another verdict if the rival comes {DURING} the first attempt.\n"
    )
    return head + "\n".join(lines) + "\n" + note


def _rows() -> list[tuple[str, str, int]]:
    return [*((rival, touches, 1) for rival, touches in RIVALS), *((EXPIRY, "another partition", n) for n in (1, 3))]


def _cell(story: dict[str, Any], late: dict[str, Any] | None) -> str:
    counted: Counter[str] = Counter()
    for run in story["attempts"][-1]:
        name, _, count = run.partition(" x")
        counted[name] += int(count or 1)
    letters = f"`{_letter(story)}`"
    if late is not None and _letter(late) != _letter(story):
        letters += f"/`{_letter(late)}`"
    return f"{letters} L {counted['manifest_list.read']} m {counted['manifest.read']}"


def _letter(story: dict[str, Any]) -> str:
    if story["outcome"] == "committed":
        return "."
    message = story.get("message", "")
    return next((short for start, short in REASONS.items() if message.startswith(start)), "?")
