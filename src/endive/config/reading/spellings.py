"""The door of a configuration: every spelling that is accepted, and the one that is kept inside.

``[transaction]`` may give what belongs to a source, ``inter_arrival`` is an older form of ``arrivals``, the ``T_`` keys
of the original documents are latencies of ``[storage.objects]``. A ``Spelt`` document holds the present spelling and
remembers where each value was written, so that a problem names the key its reader knows. Changed names of single
values are in ``endive.config.reading.former_names``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from endive.config.capabilities import IN_ORIGINAL_VINTAGE
from endive.config.keys import SOURCE
from endive.config.problems import Path, Problem, Spelt, join_path, show, value_at
from endive.config.reading.former_names import (
    DEFAULT_GAP_MS,
    GAPS,
    INTER_ARRIVAL,
    LATENCIES,
    READ_WRITE,
    READ_WRITE_KEYS,
    TRANSACTION,
    UNITS,
    UNITS_OF_LATENCY,
    UNITS_OF_RUNTIME,
)
from endive.config.reading.overrides import plain_copy
from endive.config.reading.recipe import expand_recipes
from endive.config.sections.arrivals import ARRIVALS
from endive.config.sections.choices import COUNTS, ShareOfFiles
from endive.config.sections.distribution import FAMILIES
from endive.config.sections.source import SourceKeys
from endive.config.sections.storage import WITH_VINTAGES
from endive.config.values import Table, name_of, nearest, unknown_name

DEFAULT_SOURCE: Final = "default"
DOCUMENTS: Final = "documents"
DOCUMENTS_PROTOCOLS: Final = ("spec", "merge")


def _keys_by_kind(chooser: str, tables: Iterable[type[Table]]) -> dict[str, set[str]]:
    keys: dict[str, set[str]] = {}
    for table in tables:
        keys.setdefault(name_of(table, chooser), set()).update(table.model_fields)
    return keys


# Chooser -> the keys that each kind takes.
KINDS_OF_TABLES: Final = {
    "kind": _keys_by_kind("kind", ARRIVALS),
    "distribution": _keys_by_kind("distribution", (*FAMILIES, *COUNTS, ShareOfFiles)),
}


def spell(mapping: Mapping[str, Any]) -> tuple[Spelt, list[Problem]]:
    """A document in the present spelling, and what is wrong with the spellings it was written in."""
    document = Spelt(plain_copy(mapping))
    problems = expand_recipes(document)
    problems += _spell_aliases(document)
    problems += _spell_latencies(document)
    problems += _spell_sources(document)
    problems += _spell_units(document)
    _drop_other_kinds(document, (), document)
    _state_append_design(document)
    problems += _state_model(document, is_documents_spelling(mapping))
    _state_delta(document)
    return document, problems


def respell(document: Spelt) -> None:
    """Put the present names in the place of the documents', and nothing else; the document is valid."""
    _spell_aliases(document)
    _spell_latencies(document)
    if document.get(SOURCE) == [{"name": DEFAULT_SOURCE}]:
        _spell_gaps(document, document[TRANSACTION].pop(INTER_ARRIVAL))
    _spell_units(document)


def _spell_aliases(document: Spelt) -> list[Problem]:
    """Older names of single keys; a pair that disagrees is a problem."""
    problems = _rename(document, ("catalog", "mode"), ("catalog", "type"))
    sources = document.get(SOURCE)
    places: list[Path] = [(TRANSACTION,)]
    places += [(SOURCE, index) for index in range(len(sources))] if isinstance(sources, list) else []
    for place in places:
        problems += _rename(document, (*place, "ntable", "zipf"), (*place, "tables", "count_zipf"))
        if value_at(document, (*place, "ntable")) == {}:
            del value_at(document, place)["ntable"]
    return problems


def _rename(document: Spelt, alias: Path, name: Path) -> list[Problem]:
    holder = value_at(document, alias[:-1])
    if not isinstance(holder, dict) or alias[-1] not in holder:
        return []
    old, new = holder[alias[-1]], value_at(document, name)
    if new is not None and new != old:
        text = f"{join_path(alias, document)} = {show(old)} and {join_path(name, document)} = {show(new)} disagree"
        del holder[alias[-1]]
        return [Problem(f"{text}. The first is an alias of the second: keep one of them.", name)]
    if len(name) > 2:
        value_at(document, name[:-2]).setdefault(name[-2], {})
    target = value_at(document, name[:-1])
    if isinstance(target, dict):
        target[name[-1]] = holder.pop(alias[-1])
    return []


def _spell_units(document: Spelt) -> list[Problem]:
    """Keys that name their unit now, in sections and in the short forms of runtimes and latencies."""
    places: list[tuple[Path, Mapping[str, str]]] = [((section,), names) for section, names in UNITS.items()]
    sources = document.get(SOURCE)
    for index in range(len(sources)) if isinstance(sources, list) else ():
        places.append(((SOURCE, index, "runtime"), UNITS_OF_RUNTIME))
    objects = value_at(document, ("storage", "objects"))
    for name, table in objects.items() if isinstance(objects, dict) else ():
        for operation in table if isinstance(table, dict) else ():
            places.append((("storage", "objects", name, operation), UNITS_OF_LATENCY))
    places.append((("storage", "T_LOG_ENTRY_READ"), UNITS_OF_LATENCY))
    problems: list[Problem] = []
    for place, names in places:
        table = value_at(document, place)
        if isinstance(table, dict) and "distribution" not in table:
            for old, new in names.items():
                written = (*document.written(place), old)
                if old in table and new not in table:
                    document.origins[*place, new] = written
                problems += _rename(document, (*place, old), (*place, new))
    return problems


def _drop_other_kinds(node: Any, path: Path, document: Spelt) -> None:
    """Drop the keys of another kind from every table that a ``kind`` or a ``distribution`` chooses, and note them."""
    for part, inner in list(node.items() if isinstance(node, dict) else enumerate(node)):
        if isinstance(inner, (dict, list)):
            _drop_other_kinds(inner, (*path, part), document)
    if not isinstance(node, dict):
        return
    for chooser, tables in KINDS_OF_TABLES.items():
        chosen = node.get(chooser)
        if not isinstance(chosen, str) or chosen not in tables:
            continue
        others = {name for names in tables.values() for name in names} - tables[chosen]
        for key in [key for key in node if key in others]:
            del node[key]
            switch = f"{join_path((*path, chooser), document)} = {show(chosen)}"
            document.notes.setdefault(switch, []).append(join_path((*path, key), document))


# --- latencies ----------------------------------------------------------------------------------------


def _spell_latencies(document: Spelt) -> list[Problem]:
    """The ``T_`` keys, moved to the objects and operations they speak of."""
    storage, known = document.get("storage"), {written for written, _ in LATENCIES}
    if not isinstance(storage, dict) or not isinstance(storage.get("objects", {}), dict):
        return []  # refused for what it is, with nothing moved into it
    keys = dict.fromkeys(written.partition(".")[0] for written in known)
    given = {key: storage.pop(key) for key in keys if key in storage}
    for written, requests in LATENCIES:
        path = written.split(".")
        holder = value_at(given, path[:-1])
        if isinstance(holder, dict) and path[-1] in holder:
            value = holder[path[-1]]
            if isinstance(value, dict):
                value = {name: item for name, item in value.items() if f"{written}.{name}" not in known}
            _move(document, requests, value, ("storage", *path))
    return [problem for key in READ_WRITE_KEYS if key in given for problem in _pair_problems(key, given[key])]


def _move(document: Spelt, requests: tuple[str, ...], value: Any, written: Path) -> None:
    """A latency, put where nothing more specific stands."""
    for request in requests:
        name, operation = request.split(".")
        table = document["storage"].setdefault("objects", {}).setdefault(name, {})
        if isinstance(table, dict) and operation not in table:
            table[operation] = plain_copy(value)
            document.origins["storage", "objects", name, operation] = written


def _pair_problems(key: str, value: Any) -> list[Problem]:
    """What is wrong with a table of the latencies of reads and of writes of one object."""
    if not isinstance(value, dict):
        text = f"storage.{key} = {show(value)} must be a table with keys: {', '.join(READ_WRITE)}."
        return [Problem(text, ("storage", key))]
    problems: list[Problem] = []
    for operation in (each for each in value if each not in READ_WRITE):
        guess = nearest(str(operation), READ_WRITE)
        hint = f"Did you mean '{guess}'?" if guess else f"Known keys are: {', '.join(READ_WRITE)}."
        problems.append(Problem(f"storage.{key}.{operation} is not known. {hint}", ("storage", key, operation)))
    return problems


def is_documents_spelling(mapping: Mapping[str, Any]) -> bool:
    """Return whether a file is one of the original documents' own, or a copy of one."""
    storage, catalog, shared = (_table(mapping, name) for name in ("storage", "catalog", TRANSACTION))
    is_headed = "label" in _table(mapping, "experiment") or "output_path" in _table(mapping, "simulation")
    has_own_latencies = any(str(key).startswith("T_") for key in storage)
    return (is_headed and INTER_ARRIVAL in shared) or (has_own_latencies and "mode" in catalog)


def _table(mapping: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = mapping.get(name)
    return table if isinstance(table, Mapping) else {}


def _state_model(document: Spelt, is_in_documents_spelling: bool) -> list[Problem]:
    """State what the documents' model stands for where the file does not say otherwise."""
    model, commit = _table(document, "simulation").get("model"), document.setdefault("commit", {})
    if not isinstance(commit, dict):
        return []
    protocol = commit.get("protocol")
    if model != DOCUMENTS:
        if is_in_documents_spelling and model is None and protocol is None:
            document.remarks.append(
                "the file is spelt as in the original documents, and simulated with the measured protocol and "
                "latencies of Apache Iceberg; simulation.model = 'documents' selects the documents' own"
            )
        return []
    if protocol is not None and protocol not in DOCUMENTS_PROTOCOLS:
        text = (
            f"simulation.model = 'documents' contradicts commit.protocol = {show(protocol)}: the documents have the "
            f"protocols {' and '.join(DOCUMENTS_PROTOCOLS)}. Remove one of the two keys."
        )
        return [Problem(text, ("simulation", "model"), ("commit.protocol",))]
    commit.setdefault("protocol", DOCUMENTS_PROTOCOLS[0])
    storage = document.setdefault("storage", {})
    if isinstance(storage, dict) and "vintage" not in storage:
        provider = storage.get("provider", IN_ORIGINAL_VINTAGE[0])
        if provider in IN_ORIGINAL_VINTAGE:
            storage["vintage"] = "original"
        elif provider in WITH_VINTAGES:
            document.remarks.append(f"storage.provider = {show(provider)} has no original latencies; it keeps its own")
    return []


def _state_append_design(document: Spelt) -> None:
    """A log whose entries cost something to read is the append design's, unless the preset is stated.

    The design prints the key and says that its model does not use it.
    """
    storage, catalog = document.get("storage"), document.get("catalog")
    if not isinstance(storage, dict) or not isinstance(catalog, dict) or "T_LOG_ENTRY_READ" not in storage:
        return
    if catalog.get("type") == "append":
        catalog.setdefault("append_preset", "append_design")


def _state_delta(document: Spelt) -> None:
    """Tables in Delta Lake commit to their log, and their sources append, unless something else is stated."""
    table, catalog = document.get("table"), document.setdefault("catalog", {})
    if not isinstance(table, dict) or table.get("format") != "delta":
        return
    if isinstance(catalog, dict) and "profile" not in catalog:
        catalog.setdefault("type", "put_if_absent")
    for source in document[SOURCE] if isinstance(document.get(SOURCE), list) else []:
        if isinstance(source, dict):
            source.setdefault("operation_types", {"blind_append": 1.0})


# --- sources ------------------------------------------------------------------------------------------


def _spell_sources(document: Spelt) -> list[Problem]:
    """What ``[transaction]`` says of sources, moved into each that does not say it itself."""
    shared = document.get(TRANSACTION, {})
    if not isinstance(shared, dict) or not isinstance(document.get(SOURCE, []), list):
        return []
    problems: list[Problem] = []
    if not document.get(SOURCE):
        document[SOURCE] = [{"name": DEFAULT_SOURCE}]
        document.origins[SOURCE, 0] = (TRANSACTION,)
        problems += _spell_gaps(document, shared.pop(INTER_ARRIVAL, {}))
    elif shared.pop(INTER_ARRIVAL, None) is not None:
        document.notes["every [[source]] has its own arrivals"] = [f"{TRANSACTION}.{INTER_ARRIVAL}"]
    sources: list[Any] = document[SOURCE]
    for key in [key for key in shared if key in SourceKeys.model_fields]:
        _share(document, key, shared.pop(key), sources)
    return problems


def _share(document: Spelt, key: str, value: Any, sources: list[Any]) -> None:
    heirs = [index for index, source in enumerate(sources) if isinstance(source, dict) and key not in source]
    for index in heirs:
        sources[index][key] = plain_copy(value)
        document.origins[SOURCE, index, key] = (TRANSACTION, key)
    if not heirs and all(isinstance(source, dict) for source in sources) and value != {}:
        document.notes[f"every [[source]] gives its own {key}"] = [f"{TRANSACTION}.{key}"]


def _spell_gaps(document: Spelt, gaps: Any) -> list[Problem]:
    """The arrivals of the one source there is when none is named."""
    path: Path = (TRANSACTION, INTER_ARRIVAL)
    source = document[SOURCE][0]
    source["arrivals"] = {"kind": "poisson", "mean_ms": DEFAULT_GAP_MS}
    if not isinstance(gaps, dict):
        example = '{distribution = "exponential", scale = 100.0}'
        return [Problem(f"transaction.inter_arrival = {show(gaps)} must be a table such as {example}.", path)]
    chosen = gaps.get("distribution", "exponential")
    if chosen not in GAPS:
        text = f"transaction.inter_arrival.distribution = {show(chosen)} {unknown_name(chosen, tuple(GAPS))}"
        return [Problem(text, (*path, "distribution"))]
    kind, names = GAPS[chosen]
    given = {key: value for key, value in gaps.items() if key != "distribution"}
    others = {name for _, known in GAPS.values() for name in known} - {*names}
    if idle := [f"transaction.{INTER_ARRIVAL}.{key}" for key in given if key in others]:
        document.notes[f"transaction.{INTER_ARRIVAL}.distribution = {show(chosen)}"] = idle
    problems = [
        Problem(
            f"transaction.inter_arrival.{key} = {show(value)} is not a key of distribution = '{chosen}', which takes: "
            f"{', '.join(names)}.",
            (*path, key),
        )
        for key, value in given.items()
        if key not in names and key not in others
    ]
    arrivals: dict[str, Any] = {"kind": kind}
    arrivals |= {names[key]: value for key, value in given.items() if key in names}
    if chosen == "exponential":
        arrivals.setdefault("mean_ms", DEFAULT_GAP_MS)
    source["arrivals"] = arrivals
    document.origins[SOURCE, 0, "arrivals"] = path
    for old, new in names.items():
        document.origins[SOURCE, 0, "arrivals", new] = (*path, old)
    return problems
