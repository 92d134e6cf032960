"""A study: one base configuration, and the axes along which it is varied.

Every problem of every point is reported at once, with the values that caused it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import product
from pathlib import Path
from typing import Any, Final

from endive.config.expression import Expression
from endive.config.problems import show
from endive.config.reading.load import note_text, parse_config, tell
from endive.config.reading.overrides import apply_overrides
from endive.config.simulation_config import SimulationConfig
from endive.config.slo import names_of, objective_of
from endive.config.study.axis import Axis
from endive.config.values import SEED_MAX, nearest
from endive.errors import ConfigError
from endive.objectives.names import unkept

SEEDS_MAX: Final = 100_000
RUNS_MAX: Final = 1_000_000  # points times seeds
COMBINATIONS_MAX: Final = 1_000_000  # before conditions drop any; beyond it nobody means it
RUN_ID_BYTES: Final = 8

Values = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the report of the study draws against what; all of it may be left open."""

    x: str | None = None
    series: str | None = None
    panel: str | None = None
    metrics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drop:
    """A condition; combinations that meet it are left out."""

    when: Expression
    because: str | None = None


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One combination: the values that make it, and the configuration they give."""

    index: int
    values: Mapping[str, Any]
    config: SimulationConfig
    config_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study file, read and checked, but not yet expanded."""

    name: str
    title: str | None = None
    question: str | None = None
    subject: str | None = None  # the source or kind that the question is about
    look_for: str | None = None
    report: Report = field(default_factory=Report)
    base: Mapping[str, Any]
    groups: tuple[tuple[Axis, ...], ...]  # axes of one group move together; groups are crossed
    points: tuple[Mapping[str, Any], ...] = ()  # beside the grid
    derived: tuple[tuple[str, Expression], ...] = ()
    drops: tuple[Drop, ...] = ()
    seeds: tuple[int, ...]

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Every axis, in the order of the file."""
        return tuple(axis for group in self.groups for axis in group)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names under which a point's values are known: axes, keys of points, derived keys."""
        names = [axis.key for axis in self.axes]
        names += [key for point in self.points for key in point]
        names += [key for key, _ in self.derived]
        return tuple(dict.fromkeys(names))

    def combination_count(self) -> int:
        grid = math.prod(len(group[0].values) for group in self.groups) if self.groups else 0
        return grid + len(self.points)

    def combinations(self) -> Iterator[Values]:
        """The values of every combination that no condition drops; the last axis varies fastest."""
        problems: list[str] = []
        for values in self._all_combinations():
            try:
                full = self._with_derived(values)
                if not any(self._is_dropped(drop, full) for drop in self.drops):
                    yield full
            except ConfigError as error:
                problems += [f"{_list_values(values)}: {problem}" for problem in error.problems]
        if problems:
            raise ConfigError(dict.fromkeys(problems))

    def _all_combinations(self) -> Iterator[Values]:
        if self.combination_count() > COMBINATIONS_MAX:
            raise ConfigError(
                f"The grid has {self.combination_count():,} combinations; the limit is {COMBINATIONS_MAX:,}. "
                "Give axes fewer values, or link axes that move together."
            )
        choices = [
            [{axis.key: axis.values[index] for axis in group} for index in range(len(group[0].values))]
            for group in self.groups
        ]
        for parts in product(*choices) if choices else ():
            yield {key: value for part in parts for key, value in part.items()}
        yield from (dict(point) for point in self.points)

    def _with_derived(self, values: Values) -> Values:
        full = dict(values)
        for key, expression in self.derived:
            if key not in full:
                full[key] = expression.evaluate(full, f"derived: {key}")
        return full

    def _is_dropped(self, drop: Drop, values: Values) -> bool:
        known = {**dict.fromkeys(self.columns), **values}  # a point may leave an axis to the base
        answer = drop.when.evaluate(known, "drop: when")
        if not isinstance(answer, bool):
            raise ConfigError(f"drop: when = '{drop.when.text}' is {show(answer)}, not true or false.")
        return answer

    def expand(self) -> tuple[SweepPoint, ...]:
        """Every point with its resolved configuration; ConfigError with all problems, or if there is none."""
        if not self.drops and self.combination_count() <= COMBINATIONS_MAX:
            self._refuse_too_many_runs(self.combination_count())
        points: list[SweepPoint] = []
        refused: dict[str, list[Values]] = {}
        total = 0
        idle: list[dict[str, list[str]]] = []
        for values in self.combinations():
            total += 1
            try:
                settings = {key: value for key, value in values.items() if "." in key}  # the rest are names of its own
                idle.append({})
                config = parse_config(apply_overrides(self.base, settings), source="<study>", notes=idle[-1])
                point = SweepPoint(len(points), values, config, config.config_hash())
            except ConfigError as error:
                for problem in error.problems:
                    refused.setdefault(problem, []).append(values)
            else:
                points.append(point)
        if refused:
            raise ConfigError(f"{_cause(having, total)}: {problem}" for problem, having in refused.items())
        if not points:
            raise ConfigError("The grid is empty: the [[drop]] conditions leave no combination.")
        self._refuse_too_many_runs(len(points))
        self._refuse_other_subjects(points)
        _note_idle_keys(idle)
        return _distinct(points)

    def _refuse_other_subjects(self, points: Sequence[SweepPoint]) -> None:
        """What the study asks about must be there, and must be something a study measures."""
        problems: dict[str, None] = {}
        for names, config in {names_of(point.config): point.config for point in points}.items():
            known = (*names.sources, *names.kinds)
            if self.subject is not None and self.subject not in known:
                guess = nearest(self.subject, known)
                hint = f"Did you mean '{guess}'? " if guess else ""
                problems[
                    f"study.subject = {show(self.subject)} is no source and no kind of the study. {hint}Sources are: "
                    f"{', '.join(names.sources)}; kinds are: {', '.join(names.kinds)}."
                ] = None
            if refused := unkept(objective_of(config).subjects):
                problems[f"slo.objective: {refused}"] = None
        if problems:
            raise ConfigError(problems)

    def _refuse_too_many_runs(self, points: int) -> None:
        runs = points * len(self.seeds)
        if runs > RUNS_MAX:
            raise ConfigError(
                f"{points:,} points times {len(self.seeds):,} seeds are {runs:,} runs; the limit is {RUNS_MAX:,}. "
                "Give fewer seeds, or axes with fewer values."
            )


def run_identity(config_hash: str, seed: int, model_version: int) -> str:
    """Name of one run: equal names, equal txns."""
    text = f"{config_hash}/{seed}/{model_version}"
    return blake2b(text.encode(), digest_size=RUN_ID_BYTES).hexdigest()


def consecutive_seeds(first: int, count: int) -> tuple[int, ...]:
    """``count`` seeds from ``first`` on; ConfigError if there are not as many."""
    if first + count - 1 > SEED_MAX:
        raise ConfigError(f"{count:,} seeds from {first} on go beyond {SEED_MAX}, the largest seed. Start lower.")
    return tuple(range(first, first + count))


def load_study(
    path: str | Path, overrides: Sequence[str] = (), seed_count: int | None = None, slo: str | None = None
) -> Study:
    """The study in a TOML file, with ``key=value`` overrides on its base or in place of an axis's values.

    ``slo`` stands in for the study's own objective, ``seed_count`` seeds that begin with its first one for its own.
    """
    from endive.config.study.study_file import read_study

    study = read_study(Path(path), overrides)
    if slo is not None:
        study = replace(study, base=apply_overrides(study.base, {"slo.objective": slo}))
    if seed_count is None:
        return study
    if seed_count > SEEDS_MAX:
        raise ConfigError(f"--seeds {seed_count} must be a count from 1 to {SEEDS_MAX:,}.")
    return replace(study, seeds=consecutive_seeds(study.seeds[0], seed_count))


def _note_idle_keys(idle: Sequence[Mapping[str, Sequence[str]]]) -> None:
    """Note the keys of a study that have no effect at any of its points."""
    everywhere = set.intersection(*({key for keys in point.values() for key in keys} for point in idle))
    for switch, keys in idle[0].items():
        if not keys and all(switch in point for point in idle):
            tell(switch)
        if told := [key for key in keys if key in everywhere]:
            tell(note_text(switch, told))


def _cause(having: Sequence[Values], total: int) -> str:
    """The values all these combinations share, or that it is all combinations."""
    if len(having) == total:
        return "in every combination" if total > 1 else _list_values(having[0]) or "in the only combination"
    shared = {
        key: value
        for key, value in having[0].items()
        if all(key in other and other[key] == value for other in having[1:])
    }
    if len(having) == 1:
        return _list_values(shared)
    count = f"{len(having):,} of {total:,} combinations"
    return f"{_list_values(shared)} ({count})" if shared else f"{count}, the first with {_list_values(having[0])}"


def _list_values(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {show(value)}" for key, value in values.items())


def _distinct(points: Sequence[SweepPoint]) -> tuple[SweepPoint, ...]:
    """Points without those that repeat another; two names for one simulation are a problem."""
    first: dict[str, SweepPoint] = {}
    problems: list[str] = []
    for point in points:
        other = first.setdefault(point.config_hash, point)
        if other is not point and other.values != point.values:
            problems.append(
                f"{_list_values(other.values)} and {_list_values(point.values)} are the same simulation. "
                "Drop one of them, or remove the axis that changes nothing."
            )
    if problems:
        raise ConfigError(problems)
    return tuple(replace(point, index=index) for index, point in enumerate(first.values()))
