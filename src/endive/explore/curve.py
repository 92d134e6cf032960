"""A configuration along one of its keys: the charts of the report, growing, with the value of today and the limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from endive.answers.limit import Limit, find_limit
from endive.answers.variation import Base
from endive.errors import ConfigError, ObjectiveError
from endive.explore.charts import XMark, section_event
from endive.explore.limits import refuse_beyond_limits
from endive.explore.live_study import LiveStudy
from endive.explore.runs import Events, IsCancelled, LateError, Watched, shorten
from endive.report.report import Section

FACTORS: Final = (1.0, 2.0, 0.5, 4.0, 0.25, 8.0, 0.125)  # of today's value, in the order they are tried
STEPS: Final = (1, 2, -1, 3, -2, 4, -3)  # of a small whole number, added to it
SMALL: Final = 6
SEEDS: Final = (1, 2, 4)
TXNS_MAX: Final = 30_000.0  # of one simulation
SECONDS_MAX: Final = 45.0
LIMIT_SEEDS_MAX: Final = 6
LIMIT_SIMULATIONS_MAX: Final = 160  # those of the curve included
NO_TIME: Final = (
    "The search for the limit was stopped to leave time for other questions. On the command line: endive limit"
)


@dataclass(frozen=True, slots=True)
class Along:
    """What is asked: a configuration, the key that varies, and what the page calls it."""

    base: Base
    key: str
    title: str


@dataclass
class Progress:
    """What is known so far."""

    study: LiveStudy
    now: float
    seeds: int = 0
    is_done: bool = False
    limit: Limit | None = None
    note: str = ""

    def marks(self, section: Section) -> list[XMark]:
        """Today's value, and the limit if there is one."""
        now = self._place(section, self.now)
        if self.limit is None:
            return [XMark(x=now, label="now", colour="var(--ink)")]
        at = self._place(section, self.limit.value)
        low, high = sorted(self._place(section, end) for end in (self.limit.low, self.limit.high))
        return [
            XMark(x=now, label="now", colour="var(--ink)", is_left=now < at),
            XMark(x=at, label="limit", colour="var(--bad)", low=low, high=high, is_dashed=True, is_left=now >= at),
        ]

    def _place(self, section: Section, value: float) -> float:
        """Return where a value stands on the axis, which shows intervals between arrivals as rates."""
        x = section.material.layout.x
        assert x is not None
        is_inverted = x.number(self.now) != float(self.now)
        return 1000.0 / value if is_inverted else float(value)


def curve(asked: Along, is_cancelled: IsCancelled) -> Events:
    """Return charts after each round of seeds, then with the limit."""
    for progress in follow_curve(asked, is_cancelled):
        yield _event(asked, progress)


def follow_curve(asked: Along, is_cancelled: IsCancelled) -> Iterator[Progress]:
    """Yield what is known, each time more is."""
    base, key = asked.base, asked.key
    now = base.value_of(key)
    replicator = Watched(is_cancelled, SECONDS_MAX)
    progress = Progress(LiveStudy(asked.title, key), now)
    try:
        for seeds in SEEDS:
            for value in values_around(now):
                _measure(progress, base, key, value, seeds, replicator)
            progress.seeds = seeds
            yield progress
        _find_limit(progress, base, key, replicator)
    except LateError:
        progress.note = f"{NO_TIME} FILE --vary {key}."
    progress.is_done = True
    yield progress


def values_around(now: float) -> list[float]:
    """Return values to both sides of today's, that one first; whole if it is whole."""
    if isinstance(now, int):
        values = [now + step for step in STEPS] if now < SMALL else [round(now * factor) for factor in FACTORS]
        return list(dict.fromkeys([now, *(value for value in values if value >= 0)]))
    return [now, *(float(f"{now * factor:.4g}") for factor in FACTORS[1:])] if now else [now]


def _measure(progress: Progress, base: Base, key: str, value: float, seeds: int, replicator: Watched) -> None:
    try:
        config = base.with_values({key: value})
        refuse_beyond_limits(config)
    except ConfigError:
        return  # the configuration cannot have this value
    short, _ = shorten(config, TXNS_MAX)
    begin = config.simulation.seed
    progress.study.add(value, config, replicator.samples(short, range(begin, begin + seeds)))


def _find_limit(progress: Progress, base: Base, key: str, replicator: Watched) -> None:
    try:
        limit = find_limit(
            base, key, seeds_max=LIMIT_SEEDS_MAX, simulations_max=LIMIT_SIMULATIONS_MAX, replicator=replicator
        )
    except ObjectiveError as error:
        progress.note = str(error).replace(" Widen it with --from and --to.", "")
        return
    progress.limit = limit
    for point in limit.points:
        value: Any = int(point.value) if limit.is_whole else point.value
        config = base.with_values({key: value})
        progress.study.add(value, config, replicator.latest[config.config_hash()])


def _event(asked: Along, progress: Progress) -> dict[str, Any]:
    section = progress.study.section()
    limit, x = progress.limit, section.material.layout.x
    return {
        "type": "curve",
        "stage": "done" if progress.is_done else "refined",
        "key": asked.key,
        "name": x.name if x else asked.key,
        "now": progress.now,
        "seeds": progress.seeds,
        "limit": None if limit is None else limit.sentence,
        "note": " ".join([progress.note, *(limit.notes if limit else ())]).strip(),
        **section_event(section, progress.marks(section) if x else ()),
    }
