"""The part of ``docs/model/conflicts.md`` that is PyIceberg's: verdicts and requests of every pair, as recorded.

Which pairs there are lives in ``met``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from verification.suites.pyiceberg.met import BEFORE, DURING, EXPIRY, PAIRS_FILE, RIVALS, Met, all_met

FILE: Final = "conflicts-pyiceberg.csv"
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
    """Verdicts, rivals down and victims across."""
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
        cells = [_letters(*each) for each in _stories(stories, victims, rival, touches, count)]
        lines.append(f"| {_name(rival, count)} | {touches} | " + " | ".join(cells) + " |")
    note = (
        f"\nRivals commit before the victim's commit ({BEFORE}); a second letter is another verdict if one comes "
        f"{DURING} the first attempt. [{FILE}]({FILE}) has the lists and manifests that the last attempt read.\n"
    )
    return head + "\n".join(lines) + "\n" + note


def met_rows() -> list[tuple[str, ...]]:
    """Every pair as a row, with what its last attempt read; headings first."""
    stories = read_met()["scenarios"]
    victims = list(dict.fromkeys((met.victim, met.isolation) for met in all_met()))
    rows: list[tuple[str, ...]] = [("rival", "touches", "victim", "isolation", "verdict", "lists", "manifests")]
    for rival, touches, count in _rows():
        told = _stories(stories, victims, rival, touches, count)
        for (victim, isolation), (story, late) in zip(victims, told, strict=True):
            counted = _counts(story)
            read = (str(counted["manifest_list.read"]), str(counted["manifest.read"]))
            letters = _letters(story, late).replace("`", "")
            rows.append((_name(rival, count), touches, victim, isolation, letters, *read))
    return rows


def _stories(
    stories: dict[str, Any], victims: Sequence[tuple[str, str]], rival: str, touches: str, count: int
) -> list[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Of each victim the story with the rival before its commit, and the one with it during, if recorded."""
    told = []
    for victim, isolation in victims:
        met = Met(victim=victim, isolation=isolation, rival=rival, touches=touches, count=count)
        late = Met(victim=victim, isolation=isolation, rival=rival, touches=touches, when=DURING)
        told.append((stories[met.key], stories.get(late.key)))
    return told


def _name(rival: str, count: int) -> str:
    return rival if rival != EXPIRY else f"{count} {rival}"


def _rows() -> list[tuple[str, str, int]]:
    return [*((rival, touches, 1) for rival, touches in RIVALS), *((EXPIRY, "another partition", n) for n in (1, 3))]


def _counts(story: dict[str, Any]) -> Counter[str]:
    """Requests of the last attempt."""
    counted: Counter[str] = Counter()
    for run in story["attempts"][-1]:
        name, _, count = run.partition(" x")
        counted[name] += int(count or 1)
    return counted


def _letters(story: dict[str, Any], late: dict[str, Any] | None) -> str:
    letters = f"`{_letter(story)}`"
    if late is not None and _letter(late) != _letter(story):
        letters += f"/`{_letter(late)}`"
    return letters


def _letter(story: dict[str, Any]) -> str:
    if story["outcome"] == "committed":
        return "."
    message = story.get("message", "")
    return next((short for start, short in REASONS.items() if message.startswith(start)), "?")
