"""When the txns of one source are submitted.

What is submitted is ``endive.workload.source``'s, and how a trace is read from a file ``endive.workload.trace``'s.

The index of a txn within its source is i for the i-th arrival of an open source (the i-th of all the commits, if an
arrival is a job that makes several), and
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
from endive.kernel import rule
from endive.record import Int8, Int32, Int64, Record, record
from endive.rng import uniform
from endive.workload.trace import TraceLog

NO_MORE: Final = -1  # instead of an arrival time: the source has ended
NEVER_US: Final = 1 << 62  # a stop time that no clock reaches
TICK_MS: Final = 0.001

# Kinds of arrivals.
RENEWAL, PERIODIC, TRACE, CLOSED, JOBS = range(5)

# When in the period the jobs of a source tick.
JOB_PHASES: Final = ("random", "spread", "together")
PHASE_RANDOM, PHASE_SPREAD, PHASE_TOGETHER = range(len(JOB_PHASES))

CLIENT_BITS: Final = 32
TURN_MASK: Final = (1 << 32) - 1


@record
class Timing(Record):
    """What the rules know about the arrivals of a source."""

    start_us: Int64
    stop_us: Int64
    period_us: Int64
    offset_us: Int64
    jitter_us: Int64
    trace_count: Int64
    clients: Int32
    commits_per_job: Int32 = 1  # txns that every arrival submits at once
    kind: Int8  # RENEWAL, PERIODIC, TRACE, CLOSED or JOBS
    phase: Int8  # of jobs


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
def waits_for_gap(timing: Timing, index: int) -> bool:
    """Whether a gap is drawn before the txn with this index: between arrivals, and as think time."""
    return timing.kind == RENEWAL or (timing.kind == CLOSED and turn_of(index) > 0)


@rule
def job_offset_us(timing: Timing, job: int, key: int) -> int:
    """When in its period a job ticks."""
    if timing.phase == PHASE_SPREAD:
        return job * timing.period_us // timing.clients
    if timing.phase == PHASE_RANDOM:
        return int(uniform(key, closed_index(job, TURN_MASK)) * timing.period_us)
    return 0


@rule
def job_us(timing: Timing, previous_us: int, submitted_us: int, index: int, key: int) -> int:
    """When a job submits: at its first tick after its last submission, or when that txn is done, if that is later."""
    tick_us = timing.start_us + job_offset_us(timing, client_of(index), key)
    if turn_of(index) > 0:
        tick_us += ((submitted_us - tick_us) // timing.period_us + 1) * timing.period_us
    if timing.jitter_us > 0:
        tick_us += int(uniform(key, index) * timing.jitter_us)
    return max(tick_us, previous_us)


@rule
def arrival_us(
    timing: Timing, previous_us: int, submitted_us: int, index: int, gap_us: int, key: int, given_us: int
) -> int:
    """When the txn ``index`` is submitted, its gap being drawn; NO_MORE at the end of the source.

    ``given_us`` is what a trace says, if there is one and it goes on that far.
    """
    if timing.commits_per_job > 1:
        if index % timing.commits_per_job > 0:
            return previous_us
        index //= timing.commits_per_job
    kind = timing.kind
    arrival = timing.start_us
    if kind == PERIODIC:
        arrival += timing.offset_us + index * timing.period_us
        if timing.jitter_us > 0:
            arrival += int(uniform(key, index) * timing.jitter_us)
    elif kind == TRACE:
        if index >= timing.trace_count:
            return NO_MORE
        arrival += given_us
        if timing.clients > 0:
            arrival = max(arrival, previous_us)
    elif kind == CLOSED:
        if turn_of(index) > 0:
            arrival = previous_us + gap_us
    elif kind == JOBS:
        arrival = job_us(timing, previous_us, submitted_us, index, key)
    else:
        if index > 0:
            arrival = previous_us
        arrival += gap_us
    if arrival >= timing.stop_us:
        return NO_MORE
    return arrival


@rule
def next_arrival_us(
    timing: Timing,
    previous_us: int,
    submitted_us: int,
    index: int,
    code: FloatArray,
    code_at: int,
    key: int,
    given_us: int,
) -> int:
    """When the txn ``index`` is submitted, its gap drawn from the distribution ``code[code_at:]``.

    ``previous_us`` is the arrival before it or, where a client waits for its txn, the end of the client's txn before
    it, which was submitted at ``submitted_us``; neither is read for a first one. ``key`` is that of the source's
    arrival stream.
    """
    gap_us = 0
    if waits_for_gap(timing, index):
        gap_us = draw_us(code, code_at, key, index, 0)
    return arrival_us(timing, previous_us, submitted_us, index, gap_us, key, given_us)


# ---- classes ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Arrivals(ABC):
    """When a source submits: nothing before ``start_us``, nothing at or after ``stop_us``."""

    start_us: int
    stop_us: int  # NEVER_US: until the clock stops
    commits_per_job: int = 1  # txns that every arrival submits at once; of an open source

    def __post_init__(self) -> None:
        if self.start_us < 0:
            raise ConfigError(f"start_ms = {self.start_us / 1000}: a source cannot start before time 0.")
        if self.stop_us <= self.start_us:
            raise ConfigError(
                f"stop_ms = {self.stop_us / 1000} is not after start_ms = {self.start_us / 1000}: "
                "the source would submit nothing; choose a later stop or leave it out."
            )

    @abstractmethod
    def next_us(self, index: int, previous_us: int, *, key: int, submitted_us: int = 0) -> int:
        """When the txn ``index`` is submitted, or NO_MORE; as the rule ``next_arrival_us``."""

    @property
    def gaps(self) -> LatencyDistribution | None:
        """What gaps, or think times, are drawn from, if they are."""
        return None

    @property
    def clients(self) -> int:
        """Clients of a closed loop, or jobs; 0 if arrivals do not wait for txns to end."""
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
    def timing(self) -> Timing:
        """What the rules read."""
        raise NotImplementedError(f"{type(self).__name__} runs on the reference engine only")


@dataclass(frozen=True, kw_only=True)
class _Ruled(Arrivals):
    """Arrivals of ours: the rules decide, from what ``timing`` and ``gaps`` say."""

    def next_us(self, index: int, previous_us: int, *, key: int, submitted_us: int = 0) -> int:
        gaps, times_us = self.gaps, () if self.trace is None else self.trace.submit_us
        gap_us = gaps.sample_us(key, index) if gaps is not None and waits_for_gap(self.timing, index) else 0
        given_us = times_us[index] if index < len(times_us) else 0
        return arrival_us(self.timing, previous_us, submitted_us, index, gap_us, key, given_us)

    def _timing(self, kind: int, **figures: int) -> Timing:
        return Timing(
            kind=kind,
            start_us=self.start_us,
            stop_us=self.stop_us,
            commits_per_job=self.commits_per_job,
            clients=self.clients,
            **figures,
        )


def _check_clients(name: str, count: int, need: str) -> None:
    if not 1 <= count < 1 << (CLIENT_BITS - 1):
        raise ConfigError(f"{name} = {count}: {need}.")


def _check_period(period_us: int, jitter_us: int, mishap: str) -> None:
    if period_us < 1:
        raise ConfigError(f"period_ms = {period_us / 1000}: it must be at least one tick of the clock, {TICK_MS} ms.")
    if not 0 <= jitter_us < period_us:
        raise ConfigError(
            f"jitter_ms = {jitter_us / 1000}: it must be 0 or above and less than "
            f"period_ms = {period_us / 1000}, or {mishap}."
        )


@dataclass(frozen=True, kw_only=True)
class Renewal(_Ruled):
    """Independent gaps, the first one from the start; exponential gaps make a Poisson process."""

    gap: LatencyDistribution

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gap.mean() < TICK_MS:
            raise ConfigError(
                f"the mean gap between arrivals is {self.gap.mean()} ms: "
                f"it must be at least one tick of the clock, {TICK_MS} ms."
            )

    @property
    def gaps(self) -> LatencyDistribution:
        return self.gap

    @cached_property
    def timing(self) -> Timing:
        return self._timing(RENEWAL)


@dataclass(frozen=True, kw_only=True)
class Periodic(_Ruled):
    """One arrival per period, at ``start + offset + i * period``, late by up to ``jitter`` (uniform)."""

    period_us: int
    offset_us: int
    jitter_us: int

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_period(self.period_us, self.jitter_us, "arrivals would overtake each other")
        if self.offset_us < 0:
            raise ConfigError(f"offset_ms = {self.offset_us / 1000}: it must be 0 or above.")

    @cached_property
    def timing(self) -> Timing:
        return self._timing(PERIODIC, period_us=self.period_us, offset_us=self.offset_us, jitter_us=self.jitter_us)


@dataclass(frozen=True, kw_only=True)
class Trace(_Ruled):
    """The submissions of a trace, its time 0 being the start of the source; of one client, if they may not overlap."""

    log: TraceLog
    is_serial: bool = False

    @property
    def clients(self) -> int:
        """One, if it waits for its txns to end."""
        return int(self.is_serial)

    @property
    def trace(self) -> TraceLog:
        return self.log

    @cached_property
    def timing(self) -> Timing:
        return self._timing(TRACE, trace_count=len(self.log.submit_us))


@dataclass(frozen=True, kw_only=True)
class Closed(_Ruled):
    """Clients that each submit at the start, then again a think time after their txn has ended."""

    client_count: int
    think: LatencyDistribution

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_clients("clients", self.client_count, "a closed loop needs at least 1 client")

    @property
    def gaps(self) -> LatencyDistribution:
        return self.think

    @property
    def clients(self) -> int:
        return self.client_count

    @cached_property
    def timing(self) -> Timing:
        return self._timing(CLOSED)


@dataclass(frozen=True, kw_only=True)
class Jobs(_Ruled):
    """Jobs that each submit once per period; one that is busy at its tick submits when it is done."""

    job_count: int
    period_us: int
    jitter_us: int
    phase: str

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_clients("jobs", self.job_count, "there must be at least 1 job")
        _check_period(self.period_us, self.jitter_us, "a job would overtake itself")

    @property
    def clients(self) -> int:
        return self.job_count

    @cached_property
    def timing(self) -> Timing:
        phase = JOB_PHASES.index(self.phase)
        return self._timing(JOBS, period_us=self.period_us, jitter_us=self.jitter_us, phase=phase)
