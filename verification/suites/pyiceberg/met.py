"""Who meets whom on PyIceberg: its operations as victims and as rivals, and what the rival touches.

How PyIceberg plays it lives in ``rigs/pyiceberg``. The table has one file per manifest: A, which the victim
works on, C in the same partition and E in another one. PyIceberg 0.12 writes neither delete files nor compactions nor
new manifests for old ones, so those are missing here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

PAIRS_FILE: Final = Path(__file__).parent / "data" / "pairs.json"
BEFORE: Final = "before"
DURING: Final = "during"
TOUCHED: Final = {"a file the victim touches": "A", "another file of its partition": "C", "another partition": "E"}
ROWS: Final = ("rows the victim read", "its partition", "another partition")
VICTIMS: Final = ("fast_append", "delete", "overwrite", "overwrite unfiltered", "delete and append")
EXPIRY: Final = "appends, then expire_snapshots"
RIVALS: Final = (
    *(("append", touches) for touches in ROWS),
    *((operation, touches) for operation in ("delete", "overwrite", "delete and append") for touches in TOUCHED),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """A victim and the rival it meets."""

    victim: str
    isolation: str = ""  # "" where it changes nothing
    rival: str = ""  # "" for nobody
    touches: str = ""
    count: int = 1
    when: str = BEFORE

    @property
    def key(self) -> str:
        """One line that names it."""
        victim = f"{self.victim} {self.isolation}".strip()
        if not self.rival:
            return f"{victim} / nobody"
        return f"{victim} / {self.rival}, {self.touches} / {self.count} {self.when}"


def all_met() -> tuple[Met, ...]:
    """Every pair, in the order they are recorded and shown."""
    found = []
    for victim in VICTIMS:
        for isolation in ("",) if victim == "fast_append" else ("serializable", "snapshot"):
            found.append(Met(victim=victim, isolation=isolation))
            for rival, touches in RIVALS:
                found += [
                    Met(victim=victim, isolation=isolation, rival=rival, touches=touches, when=when)
                    for when in (BEFORE, DURING)
                ]
            found += [
                Met(victim=victim, isolation=isolation, rival=EXPIRY, touches="another partition", count=count)
                for count in (1, 3)
            ]
    return tuple(found)
