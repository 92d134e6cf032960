"""Combinations of keys that cannot be simulated, refused in words. The rules are in ``contradictions.toml``.

Keys without effect are in ``key_effects``. Two things that no table of rules can say stand here: which providers can do
what is asked of them, and that what the objects of a configuration hold stays a number both engines can count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path as FilePath
from typing import Any, Final

from endive.config.capabilities import (
    BUILT_IN,
    HAVE_NO_VINTAGES,
    IN_ORIGINAL_VINTAGE,
    is_profile_path,
    profile_capabilities,
    providers_with,
)
from endive.config.keys import SOURCE
from endive.config.problems import Path, Problem, join_path, show, value_at
from endive.config.rules.condition import Condition, SceneValues, condition, read_rows
from endive.config.rules.facts import Scene
from endive.config.sections.source import SourceConfig
from endive.config.simulation_config import SimulationConfig
from endive.config.slo import objective_of
from endive.config.values import unknown_name
from endive.errors import ObjectiveError

FILE: Final = FilePath(__file__).with_name("contradictions.toml")
OBJECT_BYTES_MAX: Final = 2**50  # more than a million of the largest entries, and exact as a float
TXN_BYTES_MAX: Final = 2**60  # leaves room for what rivals add while the txn runs
PROVIDER: Final[Path] = ("storage", "provider")

# Section, key and value -> the operation it needs, in words, and all that a provider must have then.
NEEDS: Final = (
    ("catalog", "type", "cas", "cas", "compare-and-swap", ("write", "cas")),
    ("catalog", "type", "append", "append", "conditional append", ("write", "cas", "append")),
    ("catalog", "type", "append", "cas", "compare-and-swap (to compact)", ("write", "cas", "append")),
    ("catalog", "type", "put_if_absent", "create", "creation of an object if it is absent", ("write", "create")),
    ("transaction", "manifest_list_mode", "append", "append", "conditional append", ("write", "append")),
)
# What else can be done about it than to choose another provider.
INSTEAD: Final = {"put_if_absent": "; or choose catalog.type = 'dynamodb' or, with one process alone, 'single_driver'"}


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A combination that is refused: the key at fault, when, and what the user reads."""

    key: str
    when: Condition
    says: str


@cache
def contradiction_rows() -> tuple[tuple[Contradiction, ...], tuple[Contradiction, ...]]:
    tables = read_rows(FILE)
    sections, sources = (
        tuple(Contradiction(row["key"], condition(row["when"]), row["says"]) for row in tables[name])
        for name in ("section", SOURCE)
    )
    return sections, sources


def contradictions(config: SimulationConfig, document: Mapping[str, Any]) -> list[Problem]:
    """Every contradiction of a resolved configuration; ``document`` is what was written."""
    of_sections, of_sources = contradiction_rows()
    scenes = [Scene(config, source, document, index) for index, source in enumerate(config.sources)]
    return [
        *_provider_problems(config, document),
        *_problems(of_sections, Scene(config, document=document)),
        *_objective(config),
        *_source_names(config),
        *_size_problems(config),
        *(problem for scene in scenes for problem in _problems(of_sources, scene)),
    ]


def _problems(rows: tuple[Contradiction, ...], scene: Scene) -> Iterator[Problem]:
    values = SceneValues(scene)
    for row in rows:
        if values.holds(row.when):
            path = scene.path(row.key)
            values |= {"key": join_path(path, scene.document), "value": show(value_at(scene.document, path))}
            yield Problem(values.say(row.says), path, tuple(map(scene.place, row.when.about)))


def _objective(config: SimulationConfig) -> Iterator[Problem]:
    """A name in the objective that stands for nothing in this configuration."""
    try:
        objective_of(config)
    except ObjectiveError as error:
        reason = str(error).partition("': ")[2]
        yield Problem(f"slo.objective = {show(config.slo.objective)}: {reason}", ("slo", "objective"), (SOURCE,))


def _source_names(config: SimulationConfig) -> Iterator[Problem]:
    names = [source.name for source in config.sources]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield Problem(
                f"source.{index}.name = {show(name)} is already the name of source.{names.index(name)}. "
                "Give each source a name of its own.",
                (SOURCE, index, "name"),
            )


# ---- what a storage provider must be able to do ----------------------------------------------------------------


def _provider_problems(config: SimulationConfig, document: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the provider itself, then what it cannot do."""
    provider = config.storage.provider
    written = show(value_at(document, PROVIDER) or provider)
    if is_profile_path(provider):
        claimed = profile_capabilities(provider)
        if isinstance(claimed, str):
            yield Problem(f"storage.provider = {written} {claimed}", PROVIDER)
            return
        capabilities = claimed
    elif provider in BUILT_IN:
        capabilities = BUILT_IN[provider]
    else:
        text = unknown_name(provider, tuple(BUILT_IN), also=", or the path of a profile (.toml)")
        yield Problem(f"storage.provider = {show(provider)} {text}", PROVIDER)
        return
    yield from _figures(config)
    yield from _capabilities(config, written, capabilities)


def _figures(config: SimulationConfig) -> Iterator[Problem]:
    provider = config.storage.provider
    if provider == "constant" and config.storage.latency_ms is None:
        yield Problem(
            "storage.latency_ms is missing. storage.provider = 'constant' needs it: give a number of milliseconds.",
            ("storage", "latency_ms"),
            ("storage.provider",),
        )
    has_vintage = provider in (*IN_ORIGINAL_VINTAGE, *HAVE_NO_VINTAGES) or is_profile_path(provider)
    if config.storage.vintage == "original" and not has_vintage:
        yield Problem(
            f"storage.vintage = 'original' has no figures for storage.provider = {show(provider)}. "
            f"Choose a provider from: {', '.join(IN_ORIGINAL_VINTAGE)}; or vintage 'measured'.",
            ("storage", "vintage"),
            ("storage.provider",),
        )


def _capabilities(config: SimulationConfig, provider: str, has: frozenset[str]) -> Iterator[Problem]:
    if not has >= {"read", "write"}:
        yield Problem(
            f"storage.provider = {provider} cannot be simulated: it cannot write, and every commit does. "
            "It is there for programs that call tail_append on the provider itself. "
            f"Choose one of: {', '.join(providers_with('read', 'write'))}.",
            PROVIDER,
        )
        return
    for section, key, value, operation, words, needed in NEEDS:
        if getattr(getattr(config, section), key) == value and operation not in has:
            yield Problem(
                f"{section}.{key} = '{value}' needs a storage provider with {words}; {provider} has none. "
                f"Choose one of: {', '.join(providers_with(*needed))}{INSTEAD.get(value, '')}.",
                (section, key),
                ("storage.provider",),
            )


# ---- sizes that add up ---------------------------------------------------------------------------------------


def _size_problems(config: SimulationConfig) -> Iterator[Problem]:
    table, catalog = config.table, config.catalog
    metadata_bytes = table.metadata_base_bytes + table.metadata_bytes_per_snapshot * table.initial_snapshots
    list_bytes = table.manifest_list_base_bytes + table.manifest_list_bytes_per_manifest * table.initial_manifests
    inlined_bytes = metadata_bytes if catalog.table_metadata_inlined else 0
    object_bytes = catalog.object_base_bytes + catalog.num_tables * (catalog.object_bytes_per_table + inlined_bytes)
    if object_bytes > OBJECT_BYTES_MAX:
        yield Problem(
            f"the catalog object would hold {object_bytes} bytes for catalog.num_tables = {catalog.num_tables}; at "
            f"most {OBJECT_BYTES_MAX} can be counted. Lower catalog.num_tables or the sizes of what is kept per table.",
            ("catalog", "num_tables"),
            ("catalog.object_bytes_per_table", "table.initial_snapshots", "table.metadata_bytes_per_snapshot"),
        )
    for index, source in enumerate(config.sources):
        yield from _txn_size(index, source, config, metadata_bytes + list_bytes + object_bytes)


def _txn_size(index: int, source: SourceConfig, config: SimulationConfig, object_bytes: int) -> Iterator[Problem]:
    """What one txn may move, if every attempt it has handles every object it can."""
    table = config.table
    manifests = table.initial_manifests + source.rewritten_manifests + 1
    attempt_bytes = source.tables.count * (object_bytes + manifests * table.manifest_bytes)
    attempts = (source.retry + 1) * (source.application_retries + 1)
    if attempts * attempt_bytes > TXN_BYTES_MAX:
        yield Problem(
            f"a txn of source {source.name!r} may move {attempt_bytes} bytes in each of {attempts} attempts, which is "
            f"more than {TXN_BYTES_MAX} in all. Lower the sizes in [table], the manifests or the retries.",
            ("source", index, "retry"),
            ("table", "transaction.retry", "transaction.rewritten_manifests", "transaction.application_retries"),
        )
