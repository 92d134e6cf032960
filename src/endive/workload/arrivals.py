"""When the txns of one source are submitted.

Owns the arithmetic of the next arrival, as rules that the interpreter and a compiled kernel both execute,
and one class per kind of arrivals. Refuses to own what is submitted (``endive.workload.source``) and how a
trace is read from a file (``endive.workload.trace``).

The index of a txn within its source is i for the i-th arrival of an open source, and
``closed_index(client, n)`` for the n-th txn of a client of a closed loop; what is drawn for an arrival is
drawn at counter = index of the source's arrival stream, so it never depends on how events interleave.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from endive.distributions import LatencyDistribution, draw_us
from endive.distributions.code import FloatArray
from endive.errors import ConfigError
from endive.kernel import Ints, rule
from endive.rng import uniform
from endive.workload.trace import TraceLog

NO_MORE: Final = -1  # instead of an arrival time: the source has ended
NEVER_US: Final = 1 << 62  # a stop time that no clock reaches
TICK_MS: Final = 0.001

# Kinds of arrivals.
RENEWAL: Final = 0
PERIODIC: Final = 1
TRACE: Final = 2
CLOSED: Final = 3

# The row of ints that describes arrivals to the rules.
ARRIVALS_KIND: Final = 0
ARRIVALS_START_US: Final = 1
ARRIVALS_STOP_US: Final = 2
ARRIVALS_PERIOD_US: Final = 3
ARRIVALS_OFFSET_US: Final = 4
ARRIVALS_JITTER_US: Final = 5
ARRIVALS_CLIENTS: Final = 6
ARRIVALS_TRACE_COUNT: Final = 7
N_ARRIVALS: Final = 8

CLIENT_BITS: Final = 32
TURN_MASK: Final = (1 << 32) - 1


# ---- rules -----------------------------------------------------------------------------------------


@rule
def closed_index(client: int, turn: int) -> int:
    """Index within its source of the ``turn``-th txn of a client of a closed loop, both from 0."""
    return (client << CLIENT_BITS) | turn


@rule
def client_of(index: int) -> int:
    """Client that submits the txn with this index, in a closed loop."""
    return index >> CLIENT_BITS


@rule
def turn_of(index: int) -> int:
    """How many txns that client submitted before it."""
    return index & TURN_MASK


@rule
def waits_for_gap(row: Ints, at: int, index: int) -> bool:
    """Whether a gap is drawn before the txn with this index: between arrivals, and as think time."""
    kind = row[at + ARRIVALS_KIND]
    return kind == RENEWAL or (kind == CLOSED and turn_of(index) > 0)


@rule
def arrival_us(
    row: Ints,
    at: int,
    previous_us: int,
    index: int,
    gap_us: int,
    key: int,
    trace_times_us: Ints,
    trace_start: int,
) -> int:
    """When the txn ``index`` is submitted, its gap being drawn; NO_MORE at the end of the source."""
    kind = row[at + ARRIVALS_KIND]
    arrival = row[at + ARRIVALS_START_US]
    if kind == PERIODIC:
        jitter_us = row[at + ARRIVALS_JITTER_US]
        arrival += row[at + ARRIVALS_OFFSET_US] + index * row[at + ARRIVALS_PERIOD_US]
        if jitter_us > 0:
            arrival += int(uniform(key, index) * jitter_us)
    elif kind == TRACE:
        if index >= row[at + ARRIVALS_TRACE_COUNT]:
            return NO_MORE
        arrival += trace_times_us[trace_start + index]
    elif kind == CLOSED:
        if turn_of(index) > 0:
            arrival = previous_us + gap_us
    else:
        if index > 0:
            arrival = previous_us
        arrival += gap_us
    if arrival >= row[at + ARRIVALS_STOP_US]:
        return NO_MORE
    return arrival


@rule
def next_arrival_us(
    row: Ints,
    at: int,
    previous_us: int,
    index: int,
    code: FloatArray,
    code_at: int,
    key: int,
    trace_times_us: Ints,
    trace_start: int,
) -> int:
    """When the txn ``index`` is submitted, its gap drawn from the distribution ``code[code_at:]``.

    ``previous_us`` is the arrival before it or, in a closed loop, the end of the client's txn before it; it
    is not read for a first one. ``key`` is that of the source's arrival stream.
    """
    gap_us = 0
    if waits_for_gap(row, at, index):
        gap_us = draw_us(code, code_at, key, index, 0)
    return arrival_us(row, at, previous_us, index, gap_us, key, trace_times_us, trace_start)


# ---- classes ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Arrivals(ABC):
    """When a source submits: nothing before ``start_us``, nothing at or after ``stop_us``."""

    start_us: int
    stop_us: int  # NEVER_US: until the clock stops

    def __post_init__(self) -> None:
        if self.start_us < 0:
            raise ConfigError(f"start_ms = {self.start_us / 1000}: a source cannot start before time 0.")
        if self.stop_us <= self.start_us:
            raise ConfigError(
                f"stop_ms = {self.stop_us / 1000} is not after start_ms = {self.start_us / 1000}: "
                "the source would submit nothing; choose a later stop or leave it out."
            )

    @abstractmethod
    def next_us(self, index: int, previous_us: int, *, key: int) -> int:
        """When the txn ``index`` is submitted, or NO_MORE; as the rule ``next_arrival_us``."""

    @property
    def gaps(self) -> LatencyDistribution | None:
        """What gaps, or think times, are drawn from, if they are."""
        return None

    @property
    def clients(self) -> int:
        """Clients of a closed loop; 0 if arrivals do not wait for txns to end."""
        return 0

    @property
    def trace(self) -> TraceLog | None:
        """The trace being replayed, if one is."""
        return None

    @property
    def is_built_in(self) -> bool:
        """Whether the compiled engine knows them: a user's classes run on the reference engine only."""
        ours = type(self).__module__ == __name__
        return ours and (self.gaps is None or self.gaps.is_built_in)

    @cached_property
    def row(self) -> tuple[int, ...]:
        """The ints the rules read, in the order of the ARRIVALS_* constants."""
        raise NotImplementedError(f"{type(self).__name__} runs on the reference engine only")


@dataclass(frozen=True, kw_only=True)
class Renewal(Arrivals):
    """Independent gaps, the first one from the start; exponential gaps make a Poisson process."""

    gap: LatencyDistribution

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gap.mean() < TICK_MS:
            raise ConfigError(
                f"the mean gap between arrivals is {self.gap.mean()} ms: "
                f"it must be at least one tick of the clock, {TICK_MS} ms."
            )

    def next_us(self, index: int, previous_us: int, *, key: int) -> int:
        """The arrival before it, or the start, plus gap number ``index``."""
        gap_us = self.gap.sample_us(key, index)
        return arrival_us(self.row, 0, previous_us, index, gap_us, key, (), 0)

    @property
    def gaps(self) -> LatencyDistribution:
        """What the gaps are drawn from."""
        return self.gap

    @cached_property
    def row(self) -> tuple[int, ...]:
        """See ``Arrivals.row``."""
        return (RENEWAL, self.start_us, self.stop_us, 0, 0, 0, 0, 0)


@dataclass(frozen=True, kw_only=True)
class Periodic(Arrivals):
    """One arrival per period, at ``start + offset + i * period``, late by up to ``jitter`` (uniform)."""

    period_us: int
    offset_us: int
    jitter_us: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.period_us < 1:
            raise ConfigError(
                f"period_ms = {self.period_us / 1000}: it must be at least one tick of the clock, {TICK_MS} ms."
            )
        if self.offset_us < 0:
            raise ConfigError(f"offset_ms = {self.offset_us / 1000}: it must be 0 or above.")
        if not 0 <= self.jitter_us < self.period_us:
            raise ConfigError(
                f"jitter_ms = {self.jitter_us / 1000}: it must be 0 or above and less than "
                f"period_ms = {self.period_us / 1000}, or arrivals would overtake each other."
            )

    def next_us(self, index: int, previous_us: int, *, key: int) -> int:
        """The same whenever the arrival before it was."""
        return arrival_us(self.row, 0, previous_us, index, 0, key, (), 0)

    @cached_property
    def row(self) -> tuple[int, ...]:
        """See ``Arrivals.row``."""
        return (PERIODIC, self.start_us, self.stop_us, self.period_us, self.offset_us, self.jitter_us, 0, 0)


@dataclass(frozen=True, kw_only=True)
class Trace(Arrivals):
    """The submissions of a trace, its time 0 being the start of the source."""

    log: TraceLog

    def next_us(self, index: int, previous_us: int, *, key: int) -> int:
        """Submission ``index`` of the trace."""
        return arrival_us(self.row, 0, previous_us, index, 0, key, self.log.submit_us, 0)

    @property
    def trace(self) -> TraceLog:
        """The trace being replayed."""
        return self.log

    @cached_property
    def row(self) -> tuple[int, ...]:
        """See ``Arrivals.row``."""
        return (TRACE, self.start_us, self.stop_us, 0, 0, 0, 0, len(self.log.submit_us))


@dataclass(frozen=True, kw_only=True)
class Closed(Arrivals):
    """Clients that each submit at the start, then again a think time after their txn has ended."""

    client_count: int
    think: LatencyDistribution

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.client_count < 1 << (CLIENT_BITS - 1):
            raise ConfigError(f"clients = {self.client_count}: a closed loop needs at least 1 client.")

    def next_us(self, index: int, previous_us: int, *, key: int) -> int:
        """The start for a client's first txn, else ``previous_us`` (its last one's end) plus a think time."""
        gap_us = self.think.sample_us(key, index) if turn_of(index) > 0 else 0
        return arrival_us(self.row, 0, previous_us, index, gap_us, key, (), 0)

    @property
    def gaps(self) -> LatencyDistribution:
        """What the think times are drawn from."""
        return self.think

    @property
    def clients(self) -> int:
        """How many clients there are."""
        return self.client_count

    @cached_property
    def row(self) -> tuple[int, ...]:
        """See ``Arrivals.row``."""
        return (CLOSED, self.start_us, self.stop_us, 0, 0, 0, self.client_count, 0)
