"""What was simulated: everything a reader needs to check an answer, or to make it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from endive.config.toml_text import toml_text, value_text
from endive.objectives import duration_text
from endive.report.axes import Layout
from endive.report.reading import Study
from endive.report.words import count_words, join_words, number

_VALUES_TOLD: Final = 12
_SOURCE_FIRST: Final = ("arrivals", "operation_types", "runtime", "retry", "retry_backoff")

Line = tuple[str, str]


def simulated_lines(study: Study, layout: Layout) -> tuple[Line, ...]:
    """Headings and texts: what varied and what did not, store, catalog, sources, times, seeds, identity, command."""
    kept = study.facts.get("simulated")
    if not kept:
        return ()
    return tuple(_lines(study, layout, kept))


def configuration_text(study: Study) -> str:
    """Return the first configuration in full, with defaults, as TOML; empty if the analysis kept none."""
    kept = study.facts.get("simulated")
    return toml_text(kept["configuration"]) if kept else ""


def _lines(study: Study, layout: Layout, kept: Mapping[str, Any]) -> Iterator[Line]:
    config = kept["configuration"]
    for axis in layout.axes:
        values = list(axis.labels)
        more = f", and {len(values) - _VALUES_TOLD} more" if len(values) > _VALUES_TOLD else ""
        yield f"varied: {axis.title}", f"{', '.join(values[:_VALUES_TOLD])}{more}"
    yield "objective", str(study.facts["objective"])
    if "commit" in config:
        rest = {key: value for key, value in config["commit"].items() if key != "protocol"}
        yield "protocol", f"{config['commit']['protocol']} ({_list_words(rest)})"
    else:
        yield "Delta Lake", _list_words(config["delta"])
    yield "store", _list_words(config["storage"])
    yield "how well its figures are known", _known(kept["known"])
    yield "catalog", _list_words(config["catalog"])
    yield "table", _list_words(config["table"])
    for source in config["source"]:
        order = dict.fromkeys(key for key in (*_SOURCE_FIRST, *source) if key in source and key != "name")
        yield f"source {source['name']}", _list_words({key: source[key] for key in order})
    times = config["simulation"]
    start, end = times["warmup_ms"], times["duration_ms"] - times["cooldown_ms"]
    begin, until = duration_text(start), duration_text(end)
    yield "simulated time", f"{duration_text(times['duration_ms'])}; txns submitted from {begin} to {until} count"
    seeds = kept["seeds"]
    listed = ", ".join(map(str, seeds)) if len(seeds) <= _VALUES_TOLD else f"{seeds[0]} to {seeds[-1]}"
    yield "seeds", f"{count_words(len(seeds), 'seed')}: {listed}"
    points = count_words(int(study.facts["points"]), "configuration")
    yield "runs", f"{count_words(int(study.facts['runs']), 'run')} of {points}"
    yield "model version, first configuration", f"{study.model_version}, {kept['config_hash']}"
    yield "command", f"endive study {study.folder.name}/studies/{study.name}.toml"


def _list_words(table: Mapping[str, Any]) -> str:
    return ", ".join(f"{key.replace('_', ' ')} {value_text(value)}" for key, value in table.items())


def _known(figures: list[Mapping[str, Any]]) -> str:
    """Return how many latencies are measured, fitted or assumed, and the assumed ones by name."""
    if not figures:
        return "not said"
    levels: dict[str, list[str]] = {}
    for figure in figures:
        text = f"{figure['of']} {figure['object']} {figure['operation']} ({number(figure['mean_ms'])} ms)"
        levels.setdefault(figure["known"], []).append(text.replace("_", " "))
    return "; ".join(f"{level}: {join_words(texts)}" for level, texts in levels.items())
