"""The model's side of a recorded story or pair: a victim of the reference engine, beset by rivals at exact moments."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from endive.catalog import Catalog
from endive.config import parse_config
from endive.rng import POINTER_READ, START_READ
from endive.storage.client import Client
from verification.suites.beset import (
    LOOK_US,
    TWO_PARTITIONS,
    VICTIM_ID,
    BesetCatalog,
    Script,
    Sent,
    TwoPartitions,
    beset_document,
    count_sent,
    play_victim,
    script_of,
)
from verification.suites.delta.delta_recording import Bill, Story

CLIENTS: Final = {"rs": "delta_rs", "spark": "spark"}
REQUEST_MS: Final = 10.0
DATA_FILES: Final = 40
APPEND: Final = {"operation_types": {"blind_append": 1.0}}


class Played(NamedTuple):
    """How the victim ended, what it asked for, and how long its commit was under way, in requests."""

    outcome: str
    reason: str
    bill: Bill
    loading: Bill
    rounds: int


def play_story(client: str, story: Story, victim: Mapping[str, Any], commits: int, *, is_same: bool) -> Played:
    """A story on a table of so many commits, unless it says how many; rivals append, to the same partition or not."""
    delta: dict[str, Any] = {"client": CLIENTS[client], "initial_version": story.commits or commits}
    if story.interval:
        delta["checkpoint_interval"] = story.interval
    document = configuration(delta, victim, APPEND, story.behind + sum(story.lost))
    bare = (POINTER_READ if story.lost else START_READ) if story.is_bare else None
    return play_out(document, script_of(story.behind, story.lost), rival_partition=0 if is_same else 1, bare=bare)


def configuration(
    delta: Mapping[str, Any], victim: Mapping[str, Any], rival: Mapping[str, Any], rivals: int
) -> dict[str, Any]:
    """One table of two partitions, a victim, and as many rivals as are needed."""
    return beset_document(
        victim,
        rival,
        turns=rivals + 3,
        storage={"provider": "constant", "latency_ms": REQUEST_MS, "max_parallel": 64},
        catalog={"partitions": TWO_PARTITIONS},
        table={"format": "delta", "data_files": DATA_FILES},
        delta=dict(delta),
    )


class BareCatalog(BesetCatalog):
    """The same, of a table whose newest checksum nobody has written when the victim takes a certain step."""

    def __init__(self, catalog: Catalog, script: Script, step: int | None) -> None:
        super().__init__(catalog, script)
        self._step = step

    def let_pass(self, client: Client | None, step: int) -> Generator[int, None, None]:
        yield from super().let_pass(client, step)
        if client is not None and client.txn_id == VICTIM_ID and step == self._step:
            tables: Any = self.state.content
            tables.states[0].delta.checksums &= ~1
            self.state.refresh_tables((0,))


def play_out(document: Mapping[str, Any], script: Script, *, rival_partition: int, bare: int | None = None) -> Played:
    """The victim's requests and how it ends; it takes the step ``bare`` while the newest checksum is not there."""
    elsewhere = ("rival",) if rival_partition else ()
    row, sent = play_victim(
        parse_config(document),
        lambda catalog: BareCatalog(catalog, script, bare),
        lambda workload: TwoPartitions(workload, elsewhere),
    )
    return played(row, sent)


def played(row: Mapping[str, Any], sent: Sequence[Sent]) -> Played:
    """What came of a txn."""
    loading, own = count_sent(sent)
    return Played(str(row["status"]), str(row["reason"] or ""), own, loading, count_rounds(row))


def count_rounds(row: Mapping[str, Any]) -> int:
    """Requests that followed each other in a commit; a victim waits for its rivals in whole looks (``LOOK_US``)."""
    waited_ms = float(row["commit_latency_ms"] or 0.0) % (LOOK_US / 1000.0)
    return round(waited_ms / REQUEST_MS)
