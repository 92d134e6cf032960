"""The documents' names of keys, and the present ones: the one table of renames.

``endive.config.reading.spellings`` applies it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

TRANSACTION: Final = "transaction"
INTER_ARRIVAL: Final = "inter_arrival"
READ_WRITE: Final = ("read", "write")

REPLACED: Final = MappingProxyType(
    {
        "append_rate": "source.<name>.arrivals.per_s of the source that appends, with arrivals.kind = 'poisson'",
        "overwrite_runtime": "source.<name>.runtime of the source that overwrites",
        "overwrite_interval": "source.<name>.arrivals.period_ms of the source that overwrites, with arrivals.kind = "
        "'periodic'",
        "validation_overlap": "source.<name>.real_conflict_probability of the source that overwrites",
        "data_overlap_probability": "real_conflict_probability, of [transaction] or of a source",
    }
)  # names of the original documents that a configuration never took
# Keys that came to name their unit, by the table they stand in: of sections, of a source's runtime, of a latency.
UNITS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "catalog": {"log_entry_size": "log_entry_bytes", "compaction_threshold": "compaction_threshold_bytes"},
        TRANSACTION: {
            "manifest_list_entry_size": "manifest_list_entry_bytes",
            "manifest_list_seal_threshold": "manifest_list_seal_threshold_bytes",
        },
    }
)
UNITS_OF_RUNTIME: Final = MappingProxyType({"mean": "mean_ms", "min": "min_ms"})
UNITS_OF_LATENCY: Final = MappingProxyType({"mean": "mean_ms", "stddev": "stddev_ms"})


# Keys of [storage] -> the requests they speak of. Of two that speak of one request the earlier wins: T_PUT goes before
# T_MANIFEST_LIST for lists (internals document), and after the keys of other objects. What [storage.objects] gives
# itself wins over all of them.
T_PUT: Final = "T_PUT"
LATENCIES: Final = (
    (T_PUT, ("manifest_list.read", "manifest_list.write")),
    ("T_CAS", ("catalog.cas",)),
    ("T_CAS.failure", ("catalog.cas_failure",)),
    ("T_APPEND", ("log.append", "manifest_list.append")),
    ("T_APPEND.failure", ("log.append_failure", "manifest_list.append_failure")),
    ("T_METADATA_ROOT", ("catalog.read",)),
    ("T_COMPACTION", ("log.cas",)),
    ("T_MANIFEST_LIST.read", ("manifest_list.read",)),
    ("T_MANIFEST_LIST.write", ("manifest_list.write",)),
    ("T_MANIFEST_FILE.read", ("manifest.read",)),
    ("T_MANIFEST_FILE.write", ("manifest.write",)),
    ("T_TABLE_METADATA.read", ("metadata.read",)),
    ("T_TABLE_METADATA.write", ("metadata.write",)),
    (T_PUT, ("manifest.write", "metadata.write")),
)
READ_WRITE_KEYS: Final = ("T_MANIFEST_LIST", "T_MANIFEST_FILE", "T_TABLE_METADATA")  # which hold nothing else

# transaction.inter_arrival.distribution -> kind of arrivals, and its keys by their present names.
GAPS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = MappingProxyType(
    {
        "exponential": ("poisson", {"scale": "mean_ms"}),
        "fixed": ("fixed", {"ms": "ms"}),
        "uniform": ("uniform", {"low_ms": "low_ms", "high_ms": "high_ms"}),
        "lognormal": ("lognormal", {"mean_ms": "mean_ms", "sigma": "sigma"}),
    }
)
DEFAULT_GAP_MS: Final = 1000.0


class ConfigNote(UserWarning):
    """A remark on a configuration that is valid: a key without effect, a name that has changed."""


def former_spellings(source_keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Keys that are accepted beside those of the models, and the present ones they stand for."""
    yield "catalog.mode", "catalog.type"
    for section, names in UNITS.items():
        yield from ((f"{section}.{old}", f"{section}.{new}") for old, new in names.items())
    for old, new in UNITS_OF_RUNTIME.items():
        yield from ((f"{place}.runtime.{old}", f"source.*.runtime.{new}") for place in (TRANSACTION, "source.*"))
    yield "transaction.ntable.zipf", "source.*.tables.count_zipf"
    yield "source.*.ntable.zipf", "source.*.tables.count_zipf"
    for key in source_keys:
        yield f"{TRANSACTION}.{key}", f"source.*.{key}"
    yield f"{TRANSACTION}.{INTER_ARRIVAL}", "source.*.arrivals"
    yield f"{TRANSACTION}.{INTER_ARRIVAL}.distribution", "source.*.arrivals.kind"
    for names in (names for _, names in GAPS.values()):
        yield from ((f"{TRANSACTION}.{INTER_ARRIVAL}.{old}", f"source.*.arrivals.{new}") for old, new in names.items())
    for key, requests in sorted(LATENCIES, key=lambda row: row[0] == T_PUT):
        yield from ((f"storage.{key}", f"storage.objects.{request}") for request in requests)
