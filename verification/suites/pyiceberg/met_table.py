"""The part of ``docs/model/conflicts.md`` that is PyIceberg's: verdicts and requests of every pair, as recorded.

Which pairs there are lives in ``met``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from verification.suites.pyiceberg.met import DURING, EXPIRY, PAIRS_FILE, RIVALS, Met, all_met

FILE: Final = "conflicts-pyiceberg.csv"
REASONS: Final = {
    "Added data files": "D",
    "Deleted data files": "G",
    "Data files were concurrently deleted": "X",
    "Missing required files": "M",
    "Found new conflicting delete files": "d",
    "Cannot find starting snapshot": "H",
}
SECTION: Final = """
## PyIceberg

What PyIceberg {version} did, recorded on {date} by `python -m rigs.record pyiceberg-pairs`. It writes neither
delete files nor compactions, and checks on retries only, so that a victim that is behind loses its first attempt. The
table has one file per manifest. `overwrite` is `update_snapshot().overwrite()` with a filter, `overwrite unfiltered`
the same without, `delete and append` is `table.overwrite`.

- New rows that it has read, if serializable: "Added data files ..." (`D`); without a filter it has read the table.
- A file it touches is gone: "Deleted data files ..." (`G`), without a filter "Data files were concurrently deleted ..."
  (`X`); at serializable isolation `D` comes first if the rival added rows.
- Its starting snapshot was expired: "Cannot find starting snapshot ..." (`H`), `fast_append` included.

Appends fail beside nothing else. [{file}]({file}) has all {pairs} pairs: a
verdict, a second one if it is another when the rival comes {late} the first attempt, and the lists and manifests that
the last attempt read.
"""


def read_met() -> dict[str, Any]:
    """The recording that travels with the package."""
    document: dict[str, Any] = json.loads(PAIRS_FILE.read_text(encoding="utf-8"))
    return document


def met_section() -> str:
    """What PyIceberg minds, in words; the pairs are a file."""
    document = read_met()
    pairs = len(met_rows()) - 1
    return SECTION.format(version=document["pyiceberg"], date=document["recorded"], file=FILE, pairs=pairs, late=DURING)


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
