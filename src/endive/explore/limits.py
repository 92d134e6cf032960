"""What the page may ask for: how long, how many txns and tables, and no path.

These limits keep one question from taking the machine away from the others; the command line has none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from endive.config import SimulationConfig
from endive.config.capabilities import is_profile_path
from endive.config.sections.simulation import RETRIES
from endive.errors import ConfigError
from endive.objectives import duration_text
from endive.workload.expected_txns import expected_txns

DAY_MS: Final = 86_400_000.0
DURATION_MS_MAX: Final = 7 * DAY_MS
TXNS_MAX: Final = 200_000  # of one simulation
# What each costs before anything happens, in txns of 2.7 us: a writer 43 us, a table 13 us, a partition 0.1 us.
WRITER_TXNS: Final = 16.0
TABLE_TXNS: Final = 5.0
PARTITION_TXNS: Final = 0.05
TABLES_MAX: Final = 1_000
SOURCES_MAX: Final = 20
RETRIES_MAX: Final = 1_000  # of one transaction: each attempt costs as much as a transaction
CHANGES_MAX: Final = 200
BODY_BYTES_MAX: Final = 65_536
INSTEAD: Final = "The page has this limit; on the command line there is none: copy the file and use endive run."
PATH_KEYS: Final = ("path", "output_path")


def refuse_beyond_limits(config: SimulationConfig) -> None:
    """ConfigError with every limit that the configuration exceeds."""
    problems = list(_exceeded(config))
    if problems:
        raise ConfigError(f"{problem} {INSTEAD}" for problem in problems)


def is_beyond_limits(config: SimulationConfig) -> bool:
    """Return whether it exceeds any limit."""
    return next(_exceeded(config), None) is not None


def _exceeded(config: SimulationConfig) -> Iterator[str]:
    duration_ms = config.simulation.duration_ms
    if duration_ms > DURATION_MS_MAX:
        yield (
            f"simulation.duration_ms = {duration_ms:g} is more than {DURATION_MS_MAX:g}, "
            f"{duration_text(DURATION_MS_MAX)} of simulated time."
        )
    if config.catalog.num_tables > TABLES_MAX:
        yield f"catalog.num_tables = {config.catalog.num_tables} is more than {TABLES_MAX:,} tables."
    if len(config.sources) > SOURCES_MAX:
        yield f"{len(config.sources)} sources are more than {SOURCES_MAX}."
    for source in config.sources:
        is_own = config.table.format == "delta" and source.retry == RETRIES[config.delta.client]  # of Delta Spark
        if source.retry > RETRIES_MAX and not is_own:
            yield f"source.{source.name}.retry = {source.retry:,} is more than {RETRIES_MAX:,} attempts."
    if (txns := expected_txns(config)) > TXNS_MAX:
        yield f"simulation.duration_ms = {duration_ms:g} means about {txns:,.0f} txns, more than {TXNS_MAX:,}."
    elif (work := expected_work(config)) > TXNS_MAX:
        yield (
            f"{writers_of(config):,} writers (jobs and clients) and {partitions_of(config):,} partitions of "
            f"{config.catalog.num_tables:,} tables are as much work as {work:,.0f} txns, more than {TXNS_MAX:,}."
        )


def expected_work(config: SimulationConfig) -> float:
    """What a simulation costs, in txns: these, and what every writer, table and partition costs before any of them."""
    standing = WRITER_TXNS * writers_of(config) + TABLE_TXNS * config.catalog.num_tables
    return expected_txns(config) + standing + PARTITION_TXNS * partitions_of(config)


def writers_of(config: SimulationConfig) -> int:
    """Jobs and clients, each of which has a state of its own."""
    arrivals = [source.arrivals for source in config.sources]
    return sum(int(getattr(each, "jobs", 0)) + int(getattr(each, "clients", 0)) for each in arrivals)


def partitions_of(config: SimulationConfig) -> int:
    """Partitions of all tables; one without any counts as one."""
    partitions = config.catalog.partitions
    return config.catalog.num_tables * (partitions.num_partitions if partitions.enabled else 1)


def refuse_paths(document: Mapping[str, Any], begun: Mapping[str, Any]) -> None:
    """ConfigError if a document names a file that its start does not name.

    Files are named where the server is started, not by a request. What is judged are keys and values as they were
    parsed, because a key can be written in many ways.
    """
    known = {(place[-1], text) for place, text in _texts(begun) if _is_path(place[-1], text)}
    problems = [
        f"{'.'.join(place)}: the page takes no path. Start endive explore with a file that names it."
        for place, text in _texts(document)
        if _is_path(place[-1], text) and (place[-1], text) not in known
    ]
    if problems:
        raise ConfigError(problems)


def _is_path(name: str, text: str) -> bool:
    return name in PATH_KEYS or (name == "provider" and is_profile_path(text))


def _texts(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every text in a document, with the names on the way to it; an entry of a list goes by its own name."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _texts(item, (*place, str(name)))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            name = item.get("name", number) if isinstance(item, Mapping) else number
            yield from _texts(item, (*place, str(name)) if isinstance(item, Mapping) else place)
    elif isinstance(value, str) and place:
        yield place, value
