"""Random sections of a configuration, each valid by itself: catalog, storage, protocol, pauses, tables, failures.

``strategies`` makes whole configurations of them. Times are milliseconds, as in the TOML.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Mapping = dict[str, Any]

KINDS = ("fast_append", "merge_append", "validated_overwrite", "rewrite_files", "rewrite_manifests", "expire_snapshots")

APPENDABLE = ("constant", "instant", "s3x", "azure", "azurex")

SWAPPABLE = (*APPENDABLE, "s3", "gcp")

NO_VINTAGE = ("constant", "gcp")

CHOICES: dict[str, tuple[str, ...]] = {
    "base": ("refresh", "start"),
    "io": ("before_swap", "after_failure"),
    "own_manifest": ("once", "each_attempt", "none"),
    "metadata": ("each_attempt", "if_current", "per_conflict", "per_false_conflict"),
    "history": ("fixed_start", "fixed_start_on_retry", "since_last_attempt", "every_kind", "none"),
    "history_io": ("serial", "batched"),
    "merging": ("bins", "off", "n_behind", "flush"),
    "repair": ("after_refresh", "before_refresh"),
    "real_conflict": ("abort", "merge"),
    "after_success": ("reload", "clean_up", "none"),
    "head": ("profile", "written", "never"),
}

# What a protocol says about the choices that decide which other keys are read.
PROTOCOLS = {
    "iceberg": {"history": "fixed_start", "merging": "bins", "real_conflict": "abort"},
    "pyiceberg": {"history": "fixed_start_on_retry", "merging": "off", "real_conflict": "abort"},
    "spec": {"history": "since_last_attempt", "merging": "n_behind", "real_conflict": "abort"},
    "merge": {"history": "every_kind", "merging": "off", "real_conflict": "merge"},
    "v4": {"history": "fixed_start", "merging": "flush", "real_conflict": "abort"},
}

BACKOFFS: dict[str, tuple[str, ...]] = {
    "iceberg": ("base_ms", "multiplier", "max_ms", "jitter"),
    "exponential": ("base_ms", "multiplier", "max_ms", "jitter"),
    "conservative": (),
    "moderate": (),
    "aggressive": (),
    "fixed": ("base_ms", "jitter"),
    "full_jitter": ("base_ms", "multiplier", "max_ms"),
    "decorrelated_jitter": ("base_ms", "multiplier", "max_ms"),
    "none": (),
}


def ms(low: float, high: float) -> st.SearchStrategy[float]:
    """Milliseconds on a grid: coarse enough for events to coincide, which is when order matters."""
    return st.integers(round(low * 2), round(high * 2)).map(lambda halves: halves / 2)


def maybe(table: Mapping, draw: Any, key: str, strategy: st.SearchStrategy[Any]) -> None:
    """Give a key half of the time; else its default holds."""
    if draw(st.booleans()):
        table[key] = draw(strategy)


@st.composite
def distributions(draw: Any, low: float = 0.5, high: float = 60.0) -> Mapping:
    """A distribution table around some milliseconds."""
    middle = draw(ms(max(low, 0.5), high))
    sigma = draw(st.sampled_from((0.0, 0.3, 1.0)))
    parts = [
        {"weight": 3.0, "distribution": "fixed", "ms": middle},
        {"weight": 1.0, "distribution": "exponential", "mean_ms": 2 * middle},
    ]
    figures = {
        "fixed": {"ms": middle},
        "lognormal": {"median_ms": middle, "sigma": sigma},
        "size_based": {"base_latency_ms": middle, "latency_per_mib_ms": 20.0, "sigma": sigma},
        "truncated_normal": {"mean_ms": middle + 1.0, "stddev_ms": middle / 4, "min_ms": 0.5},
        "exponential": {"mean_ms": middle, "min_latency_ms": 0.5},
        "uniform": {"low_ms": middle / 2, "high_ms": middle},
        "gamma": {"mean_ms": middle, "shape": 2.0},
        "mixture": {"components": parts},
        "empirical": {"quantiles": [[0.0, middle / 2], [0.5, middle], [1.0, 3 * middle]]},
    }
    family = draw(st.sampled_from(("fixed", *figures)))
    return {"distribution": family, **figures[family]}


@st.composite
def catalogs(draw: Any) -> Mapping:
    """Every kind of catalog, its scope, and its tables."""
    kind = draw(st.sampled_from(("cas", "instant", "append", "append", "service", "service")))
    catalog: Mapping = {"type": kind, "num_tables": draw(st.sampled_from((1, 1, 2, 5)))}
    if draw(st.booleans()):
        counts = [draw(st.sampled_from((1, 2, 6))) for _ in range(catalog["num_tables"])]
        catalog["partitions"] = {"enabled": True, "num_partitions": max(counts)}
        if draw(st.integers(0, 3)) == 0:
            catalog["partitions"] = {"enabled": True, "per_table": counts}
    if kind in ("cas", "instant"):
        scopes = ["catalog", "group", "table"] + ["partition"] * ("partitions" in catalog)
        catalog["scope"] = draw(st.sampled_from(scopes))
        if catalog["scope"] == "group":
            catalog["num_groups"] = draw(st.integers(1, catalog["num_tables"]))
    if kind in ("cas", "instant", "append"):
        maybe(catalog, draw, "table_metadata_inlined", st.booleans())
    if kind in ("cas", "append"):
        maybe(catalog, draw, "object_base_bytes", st.sampled_from((0, 200_000)))
        maybe(catalog, draw, "object_bytes_per_table", st.sampled_from((0, 70_000)))
    if kind == "append":
        _add_log(draw, catalog)
    if kind in ("instant", "service"):
        catalog["latency"] = draw(distributions(high=20.0))
        maybe(catalog, draw, "refusal_returns_snapshot", st.booleans())
    if kind == "service":
        _add_service(draw, catalog)
    return catalog


def _add_log(draw: Any, catalog: Mapping) -> None:
    catalog["append_preset"] = draw(st.sampled_from(("log", "append_design")))
    maybe(catalog, draw, "compaction_threshold_bytes", st.sampled_from((100, 450, 2_000)))
    maybe(catalog, draw, "compaction_max_entries", st.sampled_from((0, 1, 2, 7)))
    maybe(catalog, draw, "log_entry_bytes", st.sampled_from((1, 100, 1_000)))
    maybe(catalog, draw, "physical_attempts_max", st.sampled_from((0, 1, 3)))


def _add_service(draw: Any, catalog: Mapping) -> None:
    flavour = draw(st.sampled_from(("pointer", "rest")))
    service: Mapping = {"flavour": flavour}
    maybe(service, draw, "workers", st.integers(0, 3))
    maybe(service, draw, "time", distributions(high=8.0))
    maybe(service, draw, "commit_latency", distributions(high=40.0))
    if flavour == "rest":
        maybe(service, draw, "server_retries", st.integers(0, 3))
        if service.get("server_retries"):
            service["rebase"] = draw(st.sampled_from(("metadata", "list")))
        maybe(catalog, draw, "table_metadata_inlined", st.booleans())
        if not catalog.get("table_metadata_inlined"):
            maybe(service, draw, "reads_metadata", st.sampled_from(("never", "load", "load_and_commit")))
        maybe(service, draw, "answer_ms_per_mib", ms(20.0, 900.0))
        if "answer_ms_per_mib" in service:
            maybe(service, draw, "load_answer", st.sampled_from(("snapshots", "refs")))
    catalog["service"] = service


@st.composite
def storages(draw: Any, catalog: Mapping, mode: str) -> Mapping:
    """A provider that can carry the catalog, and perhaps latencies of one's own."""
    must_append = catalog["type"] == "append" or mode == "append"
    provider = draw(st.sampled_from(APPENDABLE if must_append else SWAPPABLE))
    storage: Mapping = {"provider": provider}
    if provider == "constant":
        storage["latency_ms"] = draw(ms(0.5, 30.0))
    if provider not in NO_VINTAGE:
        storage["vintage"] = draw(st.sampled_from(("measured", "original")))
    maybe(storage, draw, "max_parallel", st.integers(1, 5))
    maybe(storage, draw, "min_latency_ms", ms(0.5, 5.0))
    if draw(st.booleans()):
        return storage
    maybe(storage, draw, "T_MANIFEST_LIST", st.fixed_dictionaries({"read": distributions()}))
    maybe(storage, draw, "T_MANIFEST_FILE", st.fixed_dictionaries({"write": distributions()}))
    maybe(storage, draw, "T_PUT", distributions())
    if catalog["type"] == "cas":
        swap = distributions().map(lambda table: {**table, "failure": {"distribution": "fixed", "ms": 2.0}})
        maybe(storage, draw, "T_CAS", swap)
    if catalog["type"] in ("cas", "append"):
        maybe(storage, draw, "T_METADATA_ROOT", distributions())
    if must_append:
        maybe(storage, draw, "T_APPEND", distributions())
    if catalog["type"] == "append":
        maybe(storage, draw, "T_LOG_ENTRY_READ", distributions(high=1.0))
        maybe(storage, draw, "T_COMPACTION", distributions())
    return storage


@st.composite
def commits(draw: Any) -> Mapping:
    """A protocol, and some of its choices changed."""
    protocol = draw(st.sampled_from(("iceberg", *PROTOCOLS)))
    commit: Mapping = {"protocol": protocol}
    if draw(st.booleans()):
        for choice in draw(st.lists(st.sampled_from(tuple(CHOICES)), unique=True, max_size=4)):
            commit[choice] = draw(st.sampled_from(CHOICES[choice]))
    if protocol == "iceberg":
        maybe(commit, draw, "release", st.sampled_from(("1.9", "1.10", "1.11")))
    resolved = PROTOCOLS[protocol] | commit
    if resolved["history"] == "none":
        commit.pop("history_io", None)
    if resolved["merging"] in ("bins", "flush"):
        maybe(commit, draw, "min_count_to_merge", st.sampled_from((2, 5, 100)))
    if resolved["merging"] == "n_behind":
        maybe(commit, draw, "manifests_per_concurrent_commit", st.sampled_from((0.0, 0.5, 1.5)))
    return commit


@st.composite
def backoffs(draw: Any) -> Mapping:
    """A pause before retries."""
    policy = draw(st.sampled_from(tuple(BACKOFFS)))
    figures = {
        "base_ms": ms(0.0, 50.0),
        "multiplier": st.sampled_from((1.0, 2.0, 3.0)),
        "max_ms": ms(50.0, 400.0),
        "jitter": st.sampled_from((0.0, 0.1, 1.0)),
    }
    table: Mapping = {"policy": policy}
    for key in BACKOFFS[policy]:
        maybe(table, draw, key, figures[key])
    if "base_ms" not in table and "max_ms" in table:
        table["max_ms"] = max(table["max_ms"], 100.0)  # the policies' own base
    if policy == "exponential" and "max_ms" not in table and "base_ms" in table:
        table["base_ms"] = min(table["base_ms"], 50.0)
    return table


@st.composite
def tables(draw: Any, detector: str) -> Mapping:
    """What tables look like at the start, and how they grow."""
    table: Mapping = {}
    maybe(table, draw, "initial_snapshots", st.sampled_from((0, 1, 50)))
    maybe(table, draw, "initial_manifests", st.sampled_from((0, 3, 97, 120)))
    maybe(table, draw, "snapshots_kept_max", st.sampled_from((0, 1, 10)))
    maybe(table, draw, "manifest_bytes", st.sampled_from((0, 3_000_000)))
    for key in ("metadata_base_bytes", "metadata_bytes_per_snapshot", "manifest_list_base_bytes"):
        maybe(table, draw, key, st.sampled_from((0, 50_000)))
    maybe(table, draw, "manifest_list_bytes_per_manifest", st.sampled_from((1, 9_000)))
    maybe(table, draw, "format_version", st.sampled_from((2, 3)))
    if detector == "files":
        table["data_files"] = draw(st.sampled_from((8, 40, 1_000)))
    return table


@st.composite
def failures(draw: Any) -> Mapping:
    """Answers that are lost, requests that are throttled, and what a txn does about it."""
    table: Mapping = {
        "lost_answer_rate": draw(st.sampled_from((0.0, 0.2, 0.7, 1.0))),
        "lost_answer_timeout_ms": draw(ms(0.5, 300.0)),
        "throttle_rate": draw(st.sampled_from((0.0, 0.01, 0.2, 0.5, 1.0))),
    }
    maybe(table, draw, "throttle_tries", st.sampled_from((1, 2, 3, 8)))
    if table.get("throttle_tries") != 1 or table["throttle_rate"] == 0.0:
        table["throttle_wait_ms"] = draw(ms(0.5, 100.0))
        maybe(table, draw, "throttle_wait_max_ms", ms(100.0, 400.0))
    maybe(table, draw, "status_checks", st.integers(0, 3))
    if table.get("status_checks") != 0 or table["lost_answer_rate"] == 0.0:
        maybe(table, draw, "lost_check_rate", st.sampled_from((0.0, 0.4, 1.0)))
        maybe(table, draw, "absent_commit", st.sampled_from(("retry", "unknown")))
        table["status_check_wait_ms"] = draw(ms(0.5, 200.0))
        maybe(table, draw, "status_check_wait_max_ms", ms(200.0, 300.0))
    return table
