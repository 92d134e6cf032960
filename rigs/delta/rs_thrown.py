"""``python -m rigs.delta.rs_thrown SEED COUNT``: stories of delta-rs as a die throws them.

A story is what happens to one table object of a victim: it is loaded when the table is ``commits`` old, then makes
``earlier`` calls, then one more, whose requests are recorded. ``behind`` are the rivals that commit before that call,
``lost`` those that commit right before its PUTs of a commit, a list per PUT. A rival is any operation, or a
``checkpoint`` that somebody makes by hand. What a rival or an earlier call did not commit is noted as it ended.
Needs a Python with ``deltalake``, as ``delta_rs`` does.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path
from typing import Any, Final

import deltalake

from rigs.delta.delta_rs import DATA, run_operation
from rigs.delta.ground import MORE_OPERATIONS, OPERATIONS, Ground, append
from rigs.delta.log_names import object_kind, words_of
from rigs.java.object_server import METHODS, LoggedRequest, ObjectServer
from verification.recordings import read_entries, today, write_entries

DELAY_MS: Final = 80.0  # long enough to see on a busy machine which requests are under way together
NO_COMMIT: Final = "nothing"
CHECKPOINT: Final = "checkpoint"
VICTIMS: Final = (*(name for name in OPERATIONS if name != "vacuum"), *MORE_OPERATIONS)
APPENDS: Final = ("append, p = 9", "append, p = 3")
LOST: Final = ((), (), (1,), (2,), (1, 1), (3, 1), (1, 2, 1), (1, 1, 1, 1, 1))


class Teller:
    """Plays stories, each on a table of its own."""

    def __init__(self, server: ObjectServer) -> None:
        self.ground = Ground(server)
        self.ground.victim.delays_ms = dict.fromkeys(METHODS, DELAY_MS)
        self._uri = ""

    def play(self, story: dict[str, Any]) -> dict[str, Any]:
        """The story as it happened."""
        self._uri = self.ground.new_uri(_properties(story))
        for _ in range(story["commits"] - 3):
            append(self.ground.open(self._uri, is_rival=True), 99)
        table = self.ground.open(self._uri)
        earlier = []
        for name, rivals in story["earlier"]:
            came = [self._compete(rival) for rival in rivals]
            earlier.append({"rivals": came, "operation": name, "outcome": self._outcome(name, table)[0]})
        behind = [self._compete(rival) for rival in story["behind"]]
        base = self.ground.newest(self._uri)
        self.ground.server.take_log()
        lost: list[list[list[str]]] = []
        waiting = list(story["lost"])

        def before(entry: LoggedRequest) -> None:
            if entry.method == "PUT" and entry.kind == "commit" and waiting:
                lost.append([self._compete(rival) for rival in waiting.pop(0)])

        self.ground.victim.before = before
        outcome, told = self._outcome(story["operation"], table)
        self.ground.victim.before = None
        requests = words_of(self.ground.server.take_log(), base)
        return {**story, "earlier": earlier, "behind": behind, "lost": lost, "outcome": outcome, **told} | {
            "requests": requests
        }

    def _compete(self, name: str) -> list[str]:
        """A rival and how it ended."""
        table = self.ground.open(self._uri, is_rival=True)
        if name == CHECKPOINT:
            table.create_checkpoint()
            return [name, "committed"]
        return [name, self._outcome(name, table)[0]]

    def _outcome(self, name: str, table: Any) -> tuple[str, dict[str, str]]:
        before = self.ground.newest(self._uri)
        told = run_operation(name, table)
        outcome = told.pop("outcome")
        if outcome == "committed" and self.ground.newest(self._uri) == before:
            outcome = NO_COMMIT
        return outcome, told


def _properties(story: dict[str, Any]) -> dict[str, str]:
    """Of the table."""
    properties = {"delta.checkpointInterval": str(story["interval"])} if story["interval"] else {}
    if story["is_cleaned"]:
        properties |= {"delta.logRetentionDuration": "interval 0 seconds", "delta.enableExpiredLogCleanup": "true"}
    return properties


def throw(die: random.Random) -> dict[str, Any]:
    """One story: nothing of it is chosen."""

    def rivals(count: int) -> list[str]:
        other = (*VICTIMS, CHECKPOINT)
        return [die.choice(APPENDS if die.random() < 0.6 else other) for _ in range(count)]

    interval = die.choice((0, 0, 2, 3, 5, 10))
    return {
        "operation": die.choice(VICTIMS),
        "commits": 3 + die.randrange(12),
        "interval": interval,
        "is_cleaned": bool(interval) and die.random() < 0.25,
        "earlier": [
            [die.choice(VICTIMS), rivals(die.choice((0, 0, 1, 2)))] for _ in range(die.choice((0, 0, 0, 1, 2)))
        ],
        "behind": rivals(die.choice((0, 0, 1, 2, 4, 7))),
        "lost": [rivals(count) for count in die.choice(LOST)],
    }


def record(seed: int, count: int) -> list[dict[str, Any]]:
    """The first ``count`` stories of a seed whose last call commits or fails; one that changes nothing is no story."""
    die = random.Random(seed)
    stories: list[dict[str, Any]] = []
    with ObjectServer(object_kind) as server:
        teller = Teller(server)
        while len(stories) < count:
            told = teller.play(throw(die))
            if told["outcome"] != NO_COMMIT:
                stories.append({"seed": seed, **told})
    return stories


def main() -> int:
    """Record the stories of a seed, beside those that are there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--out", type=Path, default=DATA / "rs_thrown.json")
    given = parser.parse_args()
    known = list(read_entries(given.out))
    entries = [each for each in known if each["seed"] != given.seed] + record(given.seed, given.count)
    write_entries(given.out, {"deltalake": deltalake.__version__, "date": today()}, entries)
    print(f"{len(entries)} stories in {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
