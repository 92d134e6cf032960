"""A provider's profile: every figure the simulator knows about one object store, with its source.

How it lies in a file is ``endive.storage.profile_file``'s, what a request does with a figure
``endive.storage.object_store``'s.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from endive.distributions import FixedLatency, LatencyDistribution
from endive.distributions.code import FloatArray
from endive.results.knowledge import KnownFigure
from endive.storage.requests import BORROWERS, COMES_WITH, COSTS_AS
from endive.vocabulary import ASSUMED, GIVEN, N_OPERATIONS, OBJECTS, OPERATIONS

DEFAULT_LEG_SHARE = 0.5  # half before the server evaluates, half after
OVERRIDE_SOURCE = "by the user, in the configuration"

CODES_MAX = 256  # of one profile: tables of other sizes are made anew


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A distribution, as it was written, how well it is known, and where it comes from."""

    distribution: LatencyDistribution
    text: str
    source: str
    known: str = ASSUMED


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraTime:
    """What a request takes longer that reaches an object within ``window_ms`` after a rival's.

    A contended one is acknowledged later, a throttled one evaluated later.
    """

    window_ms: float
    extra: LatencyDistribution
    text: str
    source: str
    known: str = ASSUMED


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdTable:
    """What a success waits longer for its acknowledgement among so many rivals."""

    rivals: int
    penalty: LatencyDistribution
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowding:
    """A success is acknowledged the later, the more requests of rivals reached its object within ``window_ms``.

    Between two numbers of rivals that have a table both take part, in proportion; a lone writer is never late.
    """

    window_ms: float
    tables: tuple[CrowdTable, ...]  # by rising number of rivals
    source: str
    known: str = ASSUMED


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """How well a figure that is no distribution is known, and where it comes from."""

    known: str
    source: str


class FigureRow(NamedTuple):
    """A figure as it is shown: quantiles in ms at size zero."""

    operation: str
    distribution: str
    p50_ms: float
    p95_ms: float
    p99_ms: float
    known: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What 1,000 requests of one kind cost, on the date the list was read."""

    usd_per_1000: float
    source: str
    date: str

    def __str__(self) -> str:
        """As a reader writes it, without an exponent."""
        usd = f"{self.usd_per_1000:.6f}".rstrip("0").rstrip(".")
        return f"{usd} USD per 1,000 ({self.source}, {self.date})"


@dataclass(frozen=True, slots=True, kw_only=True)
class BytePrices:
    """What a GiB costs: kept for a month, written, read."""

    usd_per_gib_kept: float
    usd_per_gib_written: float
    usd_per_gib_read: float
    source: str
    date: str


# (operation, whether it succeeded), and with an object's kind in front
OutcomeKey = tuple[int, bool]
ObjectKey = tuple[int, int, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What one provider can do, and how long it takes."""

    name: str
    title: str
    description: str
    vintage: str
    capabilities: frozenset[int]
    figures: Mapping[OutcomeKey, Figure]
    object_figures: Mapping[ObjectKey, Figure] = field(default_factory=dict)
    overrides: Mapping[ObjectKey, LatencyDistribution] = field(default_factory=dict)
    min_latency_ms: float = 0.0  # floor of the profile's own figures
    min_latency_override_ms: float | None = None  # the user's floor, under everything
    leg_shares: Mapping[int, float] = field(default_factory=dict)
    contention: Mapping[int, ExtraTime] = field(default_factory=dict)
    throttling: Mapping[int, ExtraTime] = field(default_factory=dict)
    crowding: Mapping[int, Crowding] = field(default_factory=dict)
    writes_per_s_max: float = 0.0  # successful conditional writes to one object; 0 = no limit
    head_before_read: frozenset[int] = frozenset()  # objects whose read is preceded by a HEAD
    prices: Mapping[int, Price] = field(default_factory=dict)
    byte_prices: BytePrices | None = None
    notes: Mapping[str, Note] = field(default_factory=dict)  # of the figures that are no distribution
    _latencies: dict[ObjectKey, LatencyDistribution] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _floored: dict[int, LatencyDistribution] = field(default_factory=dict, init=False, repr=False, compare=False)
    _codes: dict[tuple[int, ...], FloatArray | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    _known: dict[tuple[int, int, frozenset[str]], KnownFigure] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def supports(self, op: int) -> bool:
        """Whether the provider has the operation."""
        return COMES_WITH.get(op, op) in self.capabilities

    def latency(self, object: int, op: int, success: bool = True) -> LatencyDistribution:
        """The distribution of such a request, floor included. The user's figure goes before the profile's."""
        assert self.supports(op), f"{self.name} has no {OPERATIONS[op]}"
        key = (object, op, success)
        if key not in self._latencies:
            user = self._override(object, op, success)
            floor_ms = self._floor_ms if user is None else self.min_latency_override_ms or 0.0
            given = self.figure(object, op, success).distribution if user is None else user
            # Requests that are drawn alike share one distribution, and so the tables that are made for it.
            self._latencies[key] = self._floored.setdefault(id(given), given.with_floor(floor_ms))
        return self._latencies[key]

    def slowest_code(self, object: int, op: int, count: int) -> FloatArray | None:
        """What the slowest of ``count`` such requests is drawn from; None: from all of them."""
        return self._keep((object, op, count), lambda: self.latency(object, op).slowest_code(count))

    def summed_code(self, object: int, op: int, parallel: int, size_bytes: int) -> FloatArray | None:
        """What a run of such requests is drawn from, ``parallel`` at a time; None: one by one."""
        latency = self.latency(object, op)
        if not latency.is_built_in:
            return None
        return self._keep((object, op, parallel, size_bytes), lambda: latency.summed_code(size_bytes, parallel))

    def _keep(self, key: tuple[int, ...], make: Callable[[], FloatArray | None]) -> FloatArray | None:
        if key not in self._codes:
            if len(self._codes) == CODES_MAX:
                self._codes.clear()
            self._codes[key] = make()
        return self._codes[key]

    def _override(self, object: int, op: int, success: bool) -> LatencyDistribution | None:
        """The user's distribution; one given for success alone also speaks for refusal."""
        for outcome in dict.fromkeys((success, True)):
            for candidate in dict.fromkeys((op, COSTS_AS.get(op, op))):
                user = self.overrides.get((object, candidate, outcome))
                if user is not None:
                    return user
        return None

    def figure(self, object: int, op: int, success: bool = True) -> Figure:
        """The profile's own figure: of this object before any object, of this outcome before success."""
        for candidate in dict.fromkeys((op, COSTS_AS.get(op, op))):
            for outcome in dict.fromkeys((success, True)):
                if (object, candidate, outcome) in self.object_figures:
                    return self.object_figures[object, candidate, outcome]
            for outcome in dict.fromkeys((success, True)):
                if (candidate, outcome) in self.figures:
                    return self.figures[candidate, outcome]
        raise AssertionError(f"profile {self.name!r} has no figure for {OPERATIONS[op]!r}")

    def leg_share(self, op: int) -> float:
        """Share of the latency that passes before the server evaluates the request."""
        return self.leg_shares.get(op, self.leg_shares.get(COSTS_AS.get(op, op), DEFAULT_LEG_SHARE))

    def with_overrides(
        self, overrides: Mapping[ObjectKey, LatencyDistribution] | None = None, *, min_latency_ms: float | None = None
    ) -> Profile:
        """The same provider with the user's distributions for some (object, operation, success).

        A distribution given only for success also holds for refusal, and one for ``read`` or ``write`` for
        ``head`` or ``delete`` of the same object. The profile's floor does not reach the user's
        distributions; ``min_latency_ms`` replaces it and reaches every operation.
        """
        if not overrides and min_latency_ms is None:
            return self  # with all that was made for it
        floor_ms = self.min_latency_override_ms if min_latency_ms is None else min_latency_ms
        merged = {**self.overrides, **(overrides or {})}
        return dataclasses.replace(self, overrides=merged, min_latency_override_ms=floor_ms)

    def at_constant_latency(self, latency_ms: float) -> Profile:
        """The same provider where every request takes exactly ``latency_ms``, contended or not."""
        fixed = Figure(
            distribution=FixedLatency(latency_ms),
            text=f"fixed, ms = {latency_ms:g}",
            known=GIVEN,
            source="by the user, storage.latency_ms",
        )
        figures = {(op, True): fixed for op in self.capabilities}
        return dataclasses.replace(
            self,
            figures=figures,
            object_figures={},
            overrides={},
            contention={},
            throttling={},
            crowding={},
            min_latency_ms=0.0,
        )

    def known_figure(self, object: int, op: int, phases: frozenset[str]) -> KnownFigure:
        """How well the latency of such a request is known, and how long it takes on average at size zero."""
        key = (object, op, phases)
        if key not in self._known:
            own = self.figure(object, op)
            known, source = own.known, own.source
            if op in BORROWERS and own is self.figure(object, COSTS_AS[op]):
                known, source = ASSUMED, f"{source}; {BORROWERS[op]}"
            if self._override(object, op, success=True) is not None:
                known, source = GIVEN, OVERRIDE_SOURCE
            self._known[key] = KnownFigure(
                of=self.name,
                object=OBJECTS[object],
                operation=OPERATIONS[op],
                mean_ms=self.latency(object, op).mean(),
                known=known,
                source=source,
                phases=phases,
            )
        return self._known[key]

    @property
    def is_built_in(self) -> bool:
        """Whether every distribution is Endive's own: only then can the compiled engine draw from it."""
        return all(part.is_built_in for part in self._distributions())

    def _distributions(self) -> Iterator[LatencyDistribution]:
        yield from (figure.distribution for figure in (*self.figures.values(), *self.object_figures.values()))
        yield from self.overrides.values()
        yield from (late.extra for late in (*self.contention.values(), *self.throttling.values()))
        for crowding in self.crowding.values():
            yield from (table.penalty for table in crowding.tables)

    def describe(self) -> list[FigureRow]:
        """One row per figure."""
        rows = []
        for op in range(N_OPERATIONS):
            for success in (True, False):
                name = OPERATIONS[op] if success else f"{OPERATIONS[op]}, refused"
                if (op, success) in self.figures:
                    rows.append(self._row(name, self.figures[op, success]))
                elif op in self.capabilities and success:
                    rows.append(self._borrowed_row(name, op))
                for object, object_name in enumerate(OBJECTS):
                    if (object, op, success) in self.object_figures:
                        own = self.object_figures[object, op, success]
                        rows.append(self._row(f"{object_name} {name}", own))
                    if (object, op, success) in self.overrides:
                        user = self.overrides[object, op, success]
                        shown = user.with_floor(self.min_latency_override_ms or 0.0)
                        name_here, quantiles = f"{object_name} {name}", _quantiles(shown)
                        rows.append(FigureRow(name_here, repr(user), *quantiles, GIVEN, OVERRIDE_SOURCE))
            for late, words in ((self.contention, "contended: plus"), (self.throttling, "throttled: first")):
                if op in late:
                    name, quantiles = f"{OPERATIONS[op]}, {words}", _quantiles(late[op].extra)
                    rows.append(FigureRow(name, late[op].text, *quantiles, late[op].known, late[op].source))
            if op in self.crowding:
                rows += _crowd_rows(OPERATIONS[op], self.crowding[op])
        return rows

    def _row(self, operation: str, figure: Figure) -> FigureRow:
        quantiles = _quantiles(figure.distribution.with_floor(self._floor_ms))
        return FigureRow(operation, figure.text, *quantiles, figure.known, figure.source)

    def _borrowed_row(self, operation: str, op: int) -> FigureRow:
        lent = self.figures[COSTS_AS[op], True]
        row = self._row(operation, lent)
        return row._replace(known=ASSUMED, source=f"{lent.source}; {BORROWERS[op]}")

    @property
    def _floor_ms(self) -> float:
        """The floor under the profile's own figures."""
        return self.min_latency_ms if self.min_latency_override_ms is None else self.min_latency_override_ms


def _crowd_rows(operation: str, crowding: Crowding) -> list[FigureRow]:
    return [
        FigureRow(
            f"{operation}, among {table.rivals} rivals: plus" if table.rivals > 1 else f"{operation}, one rival: plus",
            f"{table.text}; window_ms = {crowding.window_ms:g}",
            *_quantiles(table.penalty),
            crowding.known,
            crowding.source,
        )
        for table in crowding.tables
    ]


def grouped_prices(profile: Profile) -> list[tuple[str, Price]]:
    """The operations of each price, in words, and the price."""
    alike: dict[Price, list[str]] = {}
    for op, price in sorted(profile.prices.items()):
        alike.setdefault(price, []).append(OPERATIONS[op])
    return [(" and ".join(operations), price) for price, operations in alike.items()]


def _quantiles(distribution: LatencyDistribution) -> tuple[float, float, float]:
    return distribution.quantile(0.5), distribution.quantile(0.95), distribution.quantile(0.99)
