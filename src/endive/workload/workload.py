"""The workload of a simulation: its sources over one topology.

It has no clock: an engine asks for the next arrival of each source when it is ready for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace

from endive.errors import ConfigError, EngineError
from endive.transaction.transaction_values import TransactionDraft
from endive.workload.arrivals import NO_MORE
from endive.workload.source import Source, draw_transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadConfig:
    """The topology, fixed from the start, and the sources that use it."""

    num_tables: int
    num_partitions: int  # of every table; 0: tables have none
    sources: tuple[Source, ...]

    def __post_init__(self) -> None:
        if not self.sources:
            raise ConfigError("a workload needs at least one source.")
        names = [source.name for source in self.sources]
        for position, source in enumerate(self.sources):
            if source.name in names[:position]:
                raise ConfigError(f"two sources are named {source.name!r}: give each a name of its own.")
            assert source.index == position, "a source knows its position"
            assert source.tables.total == self.num_tables, "every source sees the same tables"
            partitions = 0 if source.partitions is None else source.partitions.total
            assert partitions == self.num_partitions, "every source sees the same partitions"


class Workload:
    """Makes the txns of a simulation. A subclass may make them differently, on the reference engine.

    A subclass overrides ``create_transaction``, or ``draft`` if it wants a key of its own.
    """

    def __init__(self, config: WorkloadConfig) -> None:
        self._config = config

    @property
    def config(self) -> WorkloadConfig:
        """What the workload was made from."""
        return self._config

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources, in the order of their index."""
        return self._config.sources

    @property
    def clients(self) -> int:
        """Clients of all closed loops together."""
        return sum(source.arrivals.clients for source in self.sources)

    @property
    def is_built_in(self) -> bool:
        """Whether the compiled engine can run it: no part is a user's own class."""
        ours = type(self).__module__ == __name__
        return ours and all(source.is_built_in for source in self.sources)

    def draft(self, source: Source, index: int) -> TransactionDraft:
        """The txn with this index within its source: the same whenever it is asked for."""
        return self.create_transaction(source, index, source.transaction_key(index))

    def create_transaction(self, source: Source, index: int, key: int) -> TransactionDraft:
        """Decide the txn; all its chance comes from ``key``."""
        return draw_transaction(source, index, key)

    def generate(self, duration_us: int) -> Iterator[tuple[int, Source, int]]:
        """(submit_us, source, index) of every txn submitted before ``duration_us``, in order.

        Simultaneous ones come in the order of their sources. Refuses closed loops, whose arrivals depend on
        when txns end.
        """
        for source in self.sources:
            if source.arrivals.clients > 0:
                raise EngineError(
                    f"source {source.name!r} is a closed loop: its arrivals depend on when txns end. "
                    "Run a simulation to see them."
                )
        pending = [(source.next_arrival_us(0, 0), source.index, 0) for source in self.sources]
        pending = [arrival for arrival in pending if arrival[0] != NO_MORE]
        heapify(pending)
        while pending and pending[0][0] < duration_us:
            submit_us, position, index = pending[0]
            source = self.sources[position]
            yield submit_us, source, index
            following_us = source.next_arrival_us(index + 1, submit_us)
            if following_us == NO_MORE:
                heappop(pending)
            else:
                heapreplace(pending, (following_us, position, index + 1))
