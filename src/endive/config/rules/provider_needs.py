"""What a configuration asks of its storage provider, and which providers can do it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from endive.config.capabilities import (
    BUILT_IN,
    HAVE_NO_VINTAGES,
    IN_ORIGINAL_VINTAGE,
    is_profile_path,
    profile_capabilities,
    providers_with,
)
from endive.config.problems import Path, Problem, show, value_at
from endive.config.simulation_config import SimulationConfig
from endive.config.values import unknown_name

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


def provider_problems(config: SimulationConfig, document: Mapping[str, Any]) -> Iterator[Problem]:
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
