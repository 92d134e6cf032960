"""``python -m rigs.delta.delta_rs requests|pairs``: what delta-rs asks for, and who commits beside whom.

It needs a Python with ``deltalake``, which the package itself does not use:

    python -m venv delta && delta/bin/pip install deltalake==1.6.6 pyarrow
    delta/bin/python -m rigs.delta.delta_rs requests

A *story* is one operation of a victim: *fresh* (its table is the newest version), *behind n* (n rivals have committed
since it was loaded) or *lost n, m* (n rivals commit right before its first PUT of a commit, m before its second).
Rivals append to partition 9. In a *pair* a rival commits right before the victim's first PUT; ``removed_twice``
counts the files that both took out of the table, which no serial history has.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import deltalake
from deltalake import DeltaTable

from rigs.delta.ground import MORE_OPERATIONS, OPERATIONS, Ground, append, ending
from rigs.delta.log_names import object_kind, removed_twice, words_of
from rigs.java.object_server import METHODS, LoggedRequest, ObjectServer
from verification.recordings import today, write_entries

DATA: Final = Path(__file__).parents[2] / "verification/suites/delta/data"
ISOLATIONS: Final = ("Serializable", "WriteSerializable", "SnapshotIsolation")
DELAY_MS: Final = 30.0  # long enough to see which requests are under way together
INTERVAL: Final = 5  # commits per checkpoint, in the stories about them
MANY: Final = 20  # rivals that never let a victim through
HELD_OUT_THROWS: Final = ((7, 40), (11, 20))  # a seed, and how many stories; the second after what the first taught
HELD_OUT_OPERATIONS: Final = (
    *("append, p = 3", "append, p = 9", "delete, A", "delete, B", "update, B", "update, a row of p = 9"),
    *("merge, p = 3", "merge, p = 9", "merge, by id alone", "compact, p = 3"),
)


class Player:
    """Plays stories on tables of its own."""

    def __init__(self, server: ObjectServer) -> None:
        self.ground = Ground(server)
        self.ground.victim.delays_ms = dict.fromkeys(METHODS, DELAY_MS)

    def load(self, commits: int, properties: dict[str, str] | None = None) -> dict[str, Any]:
        """Loading a table that is so many commits old."""
        uri = self.ground.new_uri(properties)
        self._overtake(uri, commits - 3)
        self.ground.server.take_log()
        self.ground.open(uri)
        return self._told(commits - 1, "loaded")

    def play(
        self, operation: str, behind: int, lost: Sequence[int], *, older: int = 0, interval: int = 0
    ) -> dict[str, Any]:
        """One operation; ``older`` commits are made before the victim loads its table."""
        uri = self.ground.new_uri({"delta.checkpointInterval": str(interval)} if interval else None)
        self._overtake(uri, older)
        base = self.ground.newest(uri)
        table = self.ground.open(uri)
        self._overtake(uri, behind)
        self.ground.server.take_log()
        self.ground.victim.before = self._interruption(uri, lost)
        outcome = run_operation(operation, table)
        self.ground.victim.before = None
        told = self._told(base, outcome.pop("outcome"))
        return {**told, **outcome}

    def pair(self, isolation: str, victim: str, rival: str) -> dict[str, Any]:
        """How the victim ends if the rival commits right before its first PUT of a commit."""
        uri = self.ground.new_uri({"delta.isolationLevel": isolation}, has_waste="vacuum" in (victim, rival))
        base = self.ground.newest(uri)
        table = self.ground.open(uri)
        self.ground.victim.delays_ms = {}
        came: list[dict[str, str]] = []

        def before(entry: LoggedRequest) -> None:
            if entry.method == "PUT" and entry.kind == "commit" and not came:
                came.append({})
                came[0] = run_operation(rival, self.ground.open(uri, is_rival=True))

        self.ground.victim.before = before
        told = run_operation(victim, table)
        self.ground.victim.before = None
        if not came or came[0].get("outcome") != "committed":
            return {}  # nobody was overtaken
        twice = removed_twice(self.ground.server, uri.removeprefix("s3://"), base)
        return {**told, "removed_twice": twice} if twice else told

    def _overtake(self, uri: str, count: int) -> None:
        for _ in range(count):
            append(self.ground.open(uri, is_rival=True), 99)

    def _interruption(self, uri: str, lost: Sequence[int]) -> Any:
        counts = list(lost)

        def before(entry: LoggedRequest) -> None:
            if entry.method == "PUT" and entry.kind == "commit" and counts:
                self._overtake(uri, counts.pop(0))

        return before

    def _told(self, base: int, outcome: str) -> dict[str, Any]:
        return {"outcome": outcome, "requests": words_of(self.ground.server.take_log(), base)}


def run_operation(name: str, table: DeltaTable) -> dict[str, str]:
    """The operation's end."""
    try:
        (OPERATIONS | MORE_OPERATIONS)[name](table)
    except Exception as error:
        return ending(error)
    return {"outcome": "committed"}


def stories(player: Player) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every story with what was asked for."""
    checkpointed = {"delta.checkpointInterval": str(INTERVAL)}
    for commits in (3, 8):
        yield f"load / {commits} commits", player.load(commits)
    for commits in range(5, 11):
        yield f"load / {commits} commits, a checkpoint every {INTERVAL}", player.load(commits, checkpointed)
    simple = ("append, p = 3", "delete, A", "delete, all of p = 9", "update, A", "merge, p = 3", "compact, p = 3")
    for name in simple:
        yield f"{name} / fresh", player.play(name, 0, ())
        for count in (1, 2, 5) if name == simple[0] else (1,):
            yield f"{name} / behind {count}", player.play(name, count, ())
    ways: tuple[tuple[int, ...], ...] = ((1,), (2,), (5,), (1, 1), (2, 2), (1, 1, 1), (1,) * 14, (1,) * MANY)
    for lost in ways:
        yield f"append, p = 3 / lost {_listed(lost)}", player.play(simple[0], 0, lost)
    yield "append, p = 3 / behind 2, lost 1", player.play(simple[0], 2, (1,))
    for name in simple[1:]:
        yield f"{name} / lost 1", player.play(name, 0, (1,))
    for older in range(7):
        name = f"append, p = 3 / commit {3 + older}, a checkpoint every {INTERVAL}"
        yield name, player.play(simple[0], 0, (), older=older, interval=INTERVAL)
    for count in (2, 3, 6):
        name = f"append, p = 3 / behind {count}, a checkpoint every {INTERVAL}"
        yield name, player.play(simple[0], count, (), older=3, interval=INTERVAL)
        name = f"append, p = 3 / lost {count}, a checkpoint every {INTERVAL}"
        yield name, player.play(simple[0], 0, (count,), older=3, interval=INTERVAL)


def held_out_stories(player: Player) -> Iterator[tuple[str, dict[str, Any]]]:
    """Stories to which nothing was fitted: operations, rivals and intervals as a die throws them."""
    drawn: set[str] = set()
    for seed, count in HELD_OUT_THROWS:
        yield from _throw(player, random.Random(seed), len(drawn) + count, drawn)


def _throw(player: Player, die: random.Random, count: int, drawn: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    while len(drawn) < count:
        name, interval, older = die.choice(HELD_OUT_OPERATIONS), die.choice((2, 3, 4, 7)), die.randrange(10)
        behind = die.choice((0, 0, 1, 3, 4, 8))
        lost = die.choice(((), (), (1,), (3,), (4, 1), (1, 3, 2)))
        told = [f"commit {3 + older}"]
        told += [f"behind {behind}"] if behind else []
        told += [f"lost {_listed(lost)}"] if lost else []
        key = f"{name} / {', '.join(told)}, a checkpoint every {interval}"
        if key not in drawn:
            drawn.add(key)
            yield key, player.play(name, behind, lost, older=older, interval=interval)


def _listed(lost: Sequence[int]) -> str:
    return f"{lost[0]}, {len(lost)} times" if len(lost) > 3 else ", ".join(map(str, lost))


def pairs(player: Player) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every pair at every isolation level."""
    for isolation, victim, rival in itertools.product(ISOLATIONS, OPERATIONS, OPERATIONS):
        told = player.pair(isolation, victim, rival)
        if told:
            yield f"{isolation} / {victim} / {rival}", told


def main() -> int:
    """Record what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    records = {"requests": stories, "held_out": held_out_stories, "pairs": pairs}
    parser.add_argument("what", choices=tuple(records))
    parser.add_argument("--out", type=Path, default=None)
    given = parser.parse_args()
    out: Path = given.out or DATA / f"rs_{given.what}.json"
    with ObjectServer(object_kind) as server:
        entries = dict(records[given.what](Player(server)))
    write_entries(out, {"deltalake": deltalake.__version__, "date": today()}, entries)
    print(f"{len(entries)} entries in {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
