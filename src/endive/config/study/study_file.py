"""The study file: TOML in, ``Study`` out, or every problem of the file at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from endive.config.expression import CONSTANTS, FUNCTIONS, Expression
from endive.config.printable import printable_values
from endive.config.problems import show
from endive.config.reading.load import read_toml, tell
from endive.config.reading.overrides import apply_overrides, parse_overrides
from endive.config.study.absolute_paths import with_absolute_paths
from endive.config.study.axis import Axis, key_problem, leaves, read_axis, repeated_value
from endive.config.study.study import SEEDS_MAX, Drop, Report, Study, consecutive_seeds
from endive.config.values import SEED_MAX, nearest
from endive.errors import ConfigError

SECTIONS: Final = ("study", "slo", "base", "set", "seeds", "axes", "linked", "point", "derived", "drop")
STUDY_KEYS: Final = ("name", "title", "question", "subject", "look_for", "report", "base", "seeds")
REPORT_KEYS: Final = ("x", "series", "panel", "metrics")
SEED_DEFAULT: Final = 42
NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}")  # never like a number: readers guess types of partitions
FREE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Group = tuple[Axis, ...]
Derived = tuple[tuple[str, Expression], ...]


def read_study(path: Path, overrides: Sequence[str] = ()) -> Study:
    """The study in a TOML file; ConfigError with every problem of the file."""
    return StudyReader(read_toml(path), path).read(parse_overrides(overrides))


class StudyReader:
    """Reads one document; problems gather in ``problems`` instead of stopping at the first."""

    def __init__(self, document: Mapping[str, Any], path: Path) -> None:
        self.document = dict(document)
        self.path = path
        self.problems: list[str] = []

    def read(self, overrides: Mapping[str, Any]) -> Study:
        head = self._head()
        base, folder = self._base(head)
        derived = self._derive()
        base, groups = self._override(base, self._groups(), derived, overrides)
        study = Study(
            name=head.get("name") or self.path.stem,
            title=printable_values(head.get("title")),
            question=printable_values(head.get("question")),
            subject=head.get("subject"),
            look_for=printable_values(head.get("look_for")),
            base=base,
            groups=tuple(groups),
            points=tuple(self._points()),
            derived=derived,
            drops=self._drops(),
            seeds=self._seeds(head, base),
        )
        self._check_names(study)
        self._check_expressions(study)
        study = with_absolute_paths(replace(study, report=self._report(head.get("report", {}), study.columns)), folder)
        if not NAME.fullmatch(study.name):
            allowed = "a letter, then letters, digits, '_', '-' or '.'"
            self._refuse(f"study.name = {show(study.name)} names a folder: it must be {allowed}.")
        if not study.columns and not self.problems:
            self._refuse("The grid is empty: give [axes], [[linked]] or [[point]]. For one run: endive run.")
        if self.problems:
            raise ConfigError(dict.fromkeys(self.problems))
        return study

    @contextmanager
    def _gathering(self) -> Iterator[None]:
        try:
            yield
        except ConfigError as error:
            self.problems += error.problems

    def _refuse(self, problem: str) -> None:
        self.problems.append(problem)

    def _refuse_unknown(self, table: Mapping[str, Any], known: Sequence[str], prefix: str) -> None:
        for key in table:
            if key not in known:
                guess = nearest(key, tuple(known))
                others = f"Known there are: {', '.join(known)}."
                hint = f"Did you mean '{prefix}{guess}'?" if guess else others
                self._refuse(f"{prefix}{key} is not known in a study. {hint}")

    # --- the parts of the file --------------------------------------------------------------------------

    def _head(self) -> dict[str, Any]:
        """``[study]``, with ``base`` and ``seeds`` in it wherever they were given."""
        self._refuse_unknown(self.document, SECTIONS, "")
        head = self._table("study")
        self._refuse_unknown(head, STUDY_KEYS, "study.")
        for name in ("name", "title", "question", "subject", "look_for"):
            if name in head and not (isinstance(head[name], str) and head[name].strip()):
                self._refuse(f"study.{name} = {show(head[name])} must be a text that is not empty.")
                head[name] = None
        for name in ("base", "seeds"):
            if name in head and name in self.document:
                self._refuse(f"{name} is given twice, at the top and as study.{name}; keep one.")
            elif name in self.document:
                head[name] = self.document[name]
        return head

    def _table(self, name: str) -> dict[str, Any]:
        table = self.document.get(name, {})
        if isinstance(table, Mapping):
            return dict(table)
        self._refuse(f"{name} = {show(table)} must be a table.")
        return {}

    def _tables(self, name: str) -> list[Mapping[str, Any]]:
        items = self.document.get(name, [])
        if isinstance(items, list) and all(isinstance(item, Mapping) for item in items):
            return items
        self._refuse(f"{name} must be tables, each headed [[{name}]].")
        return []

    def _base(self, head: Mapping[str, Any]) -> tuple[dict[str, Any], Path]:
        """The base configuration with ``[set]`` and ``[slo]`` applied, and the folder its relative paths start from."""
        given = head.get("base", {})
        folder = self.path.parent
        base: Mapping[str, Any] = {}
        if isinstance(given, str):
            with self._gathering():
                base = read_toml(folder / given)
            folder = (folder / given).parent
        elif isinstance(given, Mapping):
            base = given
        else:
            self._refuse(f"base = {show(given)} must be a table, or the path of a TOML file.")
        changes = dict(leaves(self._table("set"))) | {f"slo.{key}": item for key, item in self._table("slo").items()}
        self._refuse_keys(changes, "set")
        with self._gathering():
            base = apply_overrides(base, changes)
        section = base.get("simulation")
        if isinstance(section, Mapping) and "output_path" in section:
            base = {**base, "simulation": {key: item for key, item in section.items() if key != "output_path"}}
            tell("no effect in a study, which writes into --out: simulation.output_path")
        return dict(base), folder

    def _refuse_keys(self, keys: Mapping[str, Any], where: str) -> None:
        self.problems += [problem for key in keys if (problem := key_problem(key, where))]

    def _groups(self) -> list[Group]:
        groups: list[Group] = []
        for key, item in leaves(self._table("axes")):
            with self._gathering():
                axis = read_axis(key, item, "axes")
                if (twice := repeated_value(axis)) is not None:
                    raise ConfigError(f"axes: {key} has the value {show(twice)} twice.")
                groups.append((axis,))
        for number, table in enumerate(self._tables("linked"), 1):
            where = f"linked {number}"
            with self._gathering():
                group = tuple(read_axis(key, item, where) for key, item in leaves(table))
                lengths = {axis.key: len(axis.values) for axis in group}
                if len(set(lengths.values())) > 1:
                    told = ", ".join(f"{key} has {count}" for key, count in lengths.items())
                    raise ConfigError(f"{where}: linked axes need equally many values, but {told}.")
                if not group:
                    raise ConfigError(f"{where} is empty.")
                groups.append(group)
        return groups

    def _points(self) -> list[dict[str, Any]]:
        points = [dict(leaves(table)) for table in self._tables("point")]
        if any(not point for point in points):
            self._refuse("[[point]] is empty; give it the value of at least one key.")
        return points

    def _derive(self) -> Derived:
        derived: list[tuple[str, Expression]] = []
        for key, text in leaves(self._table("derived")):
            with self._gathering():
                derived.append((key, Expression.parse(text, f"derived: {key}")))
        return tuple(derived)

    def _drops(self) -> tuple[Drop, ...]:
        drops: list[Drop] = []
        for table in self._tables("drop"):
            self._refuse_unknown(table, ("when", "because"), "drop.")
            because = table.get("because")
            if because is not None and not isinstance(because, str):
                self._refuse(f"drop.because = {show(because)} must be a text.")
            with self._gathering():
                if "when" not in table:
                    raise ConfigError('[[drop]] needs when = "..", a condition on the axes.')
                drops.append(Drop(Expression.parse(table["when"], "drop: when"), because))
        return tuple(drops)

    def _seeds(self, head: Mapping[str, Any], base: Mapping[str, Any]) -> tuple[int, ...]:
        """A count begins with the base's own seed, so that the first run is that of ``endive run``."""
        given = head.get("seeds", 1)
        if _is_whole(given, 1, SEEDS_MAX):
            section = base.get("simulation")
            first = section.get("seed", SEED_DEFAULT) if isinstance(section, Mapping) else SEED_DEFAULT
            is_seed = isinstance(first, int) and 0 <= first <= SEED_MAX
            with self._gathering():
                return consecutive_seeds(first if is_seed else SEED_DEFAULT, given)
            return (SEED_DEFAULT,)
        is_list = isinstance(given, list) and all(_is_whole(seed, 0, SEED_MAX) for seed in given)
        if is_list and given and len(set(given)) == len(given):
            return tuple(given)
        allowed = f"a count from 1 to {SEEDS_MAX:,}, or a list of different whole numbers"
        self._refuse(f"seeds = {show(given)} must be {allowed}.")
        return (SEED_DEFAULT,)

    def _report(self, given: object, columns: Sequence[str]) -> Report:
        if not isinstance(given, Mapping):
            self._refuse(f"study.report = {show(given)} must be a table.")
            return Report()
        self._refuse_unknown(given, REPORT_KEYS, "study.report.")
        chosen: dict[str, Any] = {}
        for name in ("x", "series", "panel"):
            if name in given and given[name] not in columns:
                told = f"study.report.{name} = {show(given[name])}"
                self._refuse(f"{told} is no axis. Known are: {', '.join(columns)}.")
            elif name in given:
                chosen[name] = given[name]
        metrics = given.get("metrics", [])
        if isinstance(metrics, list) and all(isinstance(metric, str) for metric in metrics):
            chosen["metrics"] = tuple(metrics)
        else:
            self._refuse(f"study.report.metrics = {show(metrics)} must be a list of names of figures.")
        return Report(**chosen)

    # --- the parts together -----------------------------------------------------------------------------

    def _override(
        self, base: dict[str, Any], groups: list[Group], derived: Derived, overrides: Mapping[str, Any]
    ) -> tuple[dict[str, Any], list[Group]]:
        """``--set``: into the base, or in place of the values of an axis (one value, or a list of them)."""
        alone = {group[0].key: index for index, group in enumerate(groups) if len(group) == 1}
        fixed = {axis.key: "linked" for group in groups if len(group) > 1 for axis in group}
        fixed |= {key: "derived" for key, _ in derived}
        rest: dict[str, Any] = {}
        for key, value in overrides.items():
            if key in fixed:
                self._refuse(f"--set {key}: it is {fixed[key]} with other axes; change the study file instead.")
            elif key in alone:
                with self._gathering():
                    axis = read_axis(key, value if isinstance(value, list) else [value], "--set")
                    groups[alone[key]] = (axis,)
            else:
                rest[key] = value
        self._refuse_keys(rest, "--set")
        with self._gathering():
            base = apply_overrides(base, rest)
        return base, groups

    def _check_names(self, study: Study) -> None:
        """Every key exists, none is given twice, none lies inside another, every own name is used."""
        used = {name for _, expression in study.derived for name in expression.names}
        for group in study.groups:
            if any("." in axis.key for axis in group):
                used |= {axis.key for axis in group}  # a name that moves with a key says what the value is
        places = [("axes", axis.key) for axis in study.axes] + [("derived", key) for key, _ in study.derived]
        seen: set[str] = set()
        for where, key in places:
            if key in seen:
                self._refuse(f"{where}: {key} is given twice.")
            seen.add(key)
        places += [("point", key) for point in study.points for key in point]
        for where, key in dict.fromkeys(places):
            if "." in key:
                self._refuse_keys({key: None}, where)
            elif not FREE_NAME.fullmatch(key) or key in FUNCTIONS or key in CONSTANTS:
                self._refuse(f"{where}: '{key}' cannot be a name of the study's own.")
            elif key not in used and where != "derived":
                self._refuse(f"{where}: '{key}' is not a key of a configuration, and no [derived] key uses it.")
        for key in study.columns:
            inside = [other for other in study.columns if key.startswith(f"{other}.")]
            self.problems += [f"{key} lies inside {other}; give one of them." for other in inside]

    def _check_expressions(self, study: Study) -> None:
        known = ", ".join(study.columns)
        for expression in (*(item for _, item in study.derived), *(drop.when for drop in study.drops)):
            for name in expression.names:
                if name not in study.columns:
                    self._refuse(f"'{expression.text}' reads '{name}', which is no axis. Known are: {known}.")


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
