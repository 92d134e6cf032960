"""A dozen small configurations, as unlike each other as the model allows.

Each has a name and a reason. Their fingerprints are in ``fingerprints.json``: a change of one is a change of results,
and belongs into the changelog under Numbers.
"""

from __future__ import annotations

from typing import Any

MIX = {"fast_append": 0.6, "merge_append": 0.2, "validated_overwrite": 0.15, "rewrite_files": 0.05}


def poisson(name: str, per_s: float, **keys: Any) -> dict[str, Any]:
    return {"name": name, "arrivals": {"kind": "poisson", "per_s": per_s}, **keys}


def closed(name: str, clients: int, think_ms: Any = 0.0, **keys: Any) -> dict[str, Any]:
    return {"name": name, "arrivals": {"kind": "closed", "clients": clients, "think_ms": think_ms}, **keys}


CONFIGURATIONS: dict[str, dict[str, Any]] = {
    # Iceberg's Java client on S3 behind JDBC: the default protocol where it is used most.
    "iceberg-jdbc-s3": {
        "simulation": {"duration_ms": 300_000.0, "seed": 1},
        "storage": {"provider": "s3"},
        "catalog": {"type": "service", "latency": {"distribution": "lognormal", "median_ms": 5.0, "sigma": 0.5}},
        "transaction": {"runtime": {"mean": 5_000.0, "sigma": 0.5, "min": 1_000.0}, "operation_types": MIX},
        "source": [closed("writers", 12, {"distribution": "exponential", "mean_ms": 2_000.0})],
    },
    # A REST server with few workers that rebases appends on its own.
    "iceberg-rest-rebasing": {
        "simulation": {"duration_ms": 120_000.0, "seed": 2},
        "storage": {"provider": "gcp"},
        "catalog": {
            "type": "service",
            "num_tables": 3,
            "latency_ms": 8.0,
            "service": {
                "flavour": "rest",
                "workers": 2,
                "time": {"distribution": "gamma", "mean_ms": 12.0, "shape": 2.0},
                "server_retries": 2,
            },
        },
        "transaction": {"runtime": {"distribution": "fixed", "ms": 200.0}, "operation_types": MIX},
        "source": [poisson("stream", 4.0, tables={"count_zipf": 1.5}), closed("jobs", 3, 500.0)],
    },
    # PyIceberg, whole catalog in one object of Azure: every choice of that preset.
    "pyiceberg-cas-azure": {
        "simulation": {"duration_ms": 240_000.0, "seed": 3},
        "storage": {"provider": "azure"},
        "catalog": {"type": "cas", "num_tables": 4, "scope": "table", "table_metadata_inlined": False},
        "commit": {"protocol": "pyiceberg"},
        "transaction": {
            "runtime": {"mean": 2_000.0, "sigma": 1.0, "min": 100.0},
            "operation_types": MIX,
            "tables": {"count": 2, "selection": "zipf", "write_fraction": 0.5},
        },
        "source": [poisson("stream", 1.5)],
    },
    # The specification's protocol and ten retries without a pause, catalog-wide conflicts.
    "spec-cas-s3x": {
        "simulation": {"duration_ms": 120_000.0, "seed": 4},
        "storage": {"provider": "s3x"},
        "catalog": {"type": "cas"},
        "commit": {"protocol": "spec"},
        "transaction": {
            "runtime": {"mean": 1_000.0, "sigma": 1.5, "min": 100.0},
            "operation_types": {"fast_append": 0.7, "merge_append": 0.2, "validated_overwrite": 0.1},
            "real_conflict_probability": 0.05,
        },
        "source": [poisson("stream", 6.0)],
    },
    # The original documents' protocol: conflicts by partition, merged, figures of that vintage.
    "merge-partitions-seeds": {
        "simulation": {"duration_ms": 120_000.0, "seed": 5},
        "storage": {"provider": "s3", "vintage": "original"},
        "catalog": {
            "type": "cas",
            "scope": "partition",
            "num_tables": 2,
            "partitions": {"enabled": True, "num_partitions": 8},
        },
        "commit": {"protocol": "merge"},
        "transaction": {
            "runtime": {"mean": 3_000.0, "sigma": 1.0, "min": 500.0},
            "partitions": {"count": 2, "selection": "zipf"},
            "real_conflict_probability": 0.3,
            "conflicting_manifests": {"distribution": "exponential", "mean": 3.0, "min": 1, "max": 10},
            "retry_backoff": {"policy": "moderate"},
        },
        "source": [poisson("stream", 5.0)],
    },
    # ML+: lists that are appended to, sealed and rewritten; groups of tables.
    "ml-plus-groups": {
        "simulation": {"duration_ms": 60_000.0, "seed": 6},
        "storage": {"provider": "s3x"},
        "catalog": {"type": "instant", "scope": "group", "num_tables": 6, "num_groups": 2, "latency_ms": 3.0},
        "commit": {"protocol": "merge", "history": "none"},
        "transaction": {
            "runtime": {"distribution": "uniform", "low_ms": 50.0, "high_ms": 400.0},
            "manifest_list_mode": "append",
            "manifest_list_seal_threshold": 1_000,
            "real_conflict_probability": 0.2,
            "tables": {"count": 2},
        },
        "source": [poisson("stream", 12.0)],
    },
    # The append catalog as built, small logs, on S3 Express.
    "append-log-s3x": {
        "simulation": {"duration_ms": 60_000.0, "seed": 7},
        "storage": {"provider": "s3x"},
        "catalog": {"type": "append", "num_tables": 8, "compaction_max_entries": 50},
        "transaction": {"runtime": {"mean": 400.0, "sigma": 0.5, "min": 50.0}, "operation_types": MIX},
        "source": [poisson("stream", 15.0), closed("jobs", 4, 100.0, retry=10)],
    },
    # The append catalog to the letter of its first design, which prints T_LOG_ENTRY_READ and does not use it.
    "append-design": {
        "simulation": {"duration_ms": 120_000.0, "seed": 8},
        "storage": {
            "provider": "instant",
            "T_APPEND": {"mean": 50.0, "stddev": 5.0},
            "T_LOG_ENTRY_READ": {"mean": 5.0, "stddev": 1.0},
            "T_COMPACTION": {"mean": 200.0, "stddev": 20.0},
        },
        "catalog": {"type": "append", "append_preset": "append_design", "num_tables": 3, "compaction_threshold": 3_000},
        "commit": {"protocol": "spec"},
        "transaction": {
            "runtime": {"mean": 1_000.0, "sigma": 1.0, "min": 100.0},
            "manifest_list_mode": "append",
            "tables": {"count": 2, "write_fraction": 0.5},
        },
        "source": [poisson("stream", 3.0)],
    },
    # A compaction every minute beside a stream of appends and row deltas: the headline scenario.
    "compaction-beside-a-stream": {
        "simulation": {"duration_ms": 300_000.0, "seed": 9},
        "storage": {"provider": "s3"},
        "catalog": {"type": "service", "latency_ms": 5.0},
        "table": {"initial_manifests": 90, "initial_snapshots": 200, "snapshots_kept_max": 300},
        "transaction": {"runtime": {"distribution": "fixed", "ms": 100.0}},
        "source": [
            poisson("stream", 1.0),
            poisson("deletes", 0.05, operation_types={"validated_overwrite": 1.0}, isolation="snapshot"),
            {
                "name": "compaction",
                "arrivals": {"kind": "periodic", "period_ms": 60_000.0, "offset_ms": 5_000.0, "jitter_ms": 2_000.0},
                "operation_types": {"rewrite_files": 1.0},
                "rewritten_manifests": 9,
                "runtime": {"mean": 20_000.0, "sigma": 0.3, "min": 5_000.0},
                "real_conflict_probability": 0.1,
                "application_retries": 1,
            },
        ],
    },
    # Conflicts told by partitions, applications that start over, a tight budget of time.
    "overlap-and-restarts": {
        "simulation": {"duration_ms": 120_000.0, "seed": 10},
        "storage": {"provider": "s3x", "min_latency_ms": 2.0, "max_parallel": 8},
        "catalog": {
            "type": "instant",
            "scope": "table",
            "latency": {"distribution": "exponential", "mean_ms": 4.0, "min_latency_ms": 1.0},
            "partitions": {"enabled": True, "num_partitions": 20},
        },
        "conflict": {"detector": "partition_overlap"},
        "transaction": {
            "runtime": {"mean": 500.0, "sigma": 0.8, "min": 50.0},
            "operation_types": {"fast_append": 0.5, "validated_overwrite": 0.5},
            "overwrite": "overwrite_files",
            "rewritten_manifests": 3,
            "application_retries": 2,
            "total_timeout_ms": 1_500.0,
            "retry_backoff": {"policy": "decorrelated_jitter", "base_ms": 20.0, "max_ms": 400.0},
        },
        "source": [poisson("stream", 6.0)],
    },
    # Everything on a grid of one millisecond: the order of simultaneous events decides.
    "ties": {
        "simulation": {"duration_ms": 20_000.0, "seed": 11},
        "storage": {"provider": "constant", "latency_ms": 2.0},
        "catalog": {"type": "instant", "latency_ms": 2.0},
        "transaction": {
            "runtime": {"distribution": "fixed", "ms": 10.0},
            "retry_backoff": {"policy": "fixed", "base_ms": 7.0},
        },
        "source": [closed("clients", 15, 5.0), {"name": "ticks", "arrivals": {"kind": "fixed", "ms": 13.0}}],
    },
    # Choices mixed freely: no protocol anyone uses, but every one must mean the same tomorrow.
    "mixed-choices": {
        "simulation": {"duration_ms": 90_000.0, "seed": 12},
        "storage": {
            "provider": "azure",
            "T_MANIFEST_LIST": {
                "read": {"distribution": "empirical", "quantiles": [[0.0, 5.0], [0.9, 40.0], [1.0, 300.0]]}
            },
            "T_PUT": {"base_latency_ms": 30.0, "latency_per_mib_ms": 20.0, "sigma": 0.3},
        },
        "catalog": {"type": "cas", "scope": "table", "num_tables": 2, "table_metadata_inlined": False},
        "commit": {
            "protocol": "iceberg",
            "own_manifest": "each_attempt",
            "metadata": "if_current",
            "history": "since_last_attempt",
            "history_io": "batched",
            "merging": "bins",
            "min_count_to_merge": 5,
            "real_conflict": "merge",
        },
        "transaction": {
            "runtime": {"distribution": "lognormal", "median_ms": 800.0, "sigma": 0.7},
            "operation_types": MIX,
            "real_conflict_probability": 0.2,
        },
        "source": [
            poisson("stream", 3.0),
            {"name": "bursts", "arrivals": {"kind": "lognormal", "mean_ms": 500.0, "sigma": 2.0}},
        ],
    },
    "merge-beside-compaction": {
        "simulation": {"duration_ms": 120_000.0, "seed": 13},
        "storage": {"provider": "s3"},
        "catalog": {"type": "service", "latency_ms": 4.0, "partitions": {"enabled": True, "num_partitions": 4}},
        "table": {"data_files": 400},
        "source": [
            {
                "name": "stream",
                "arrivals": {"kind": "jobs", "jobs": 6, "period_ms": 5_000.0, "jitter_ms": 200.0},
                "runtime": {"distribution": "fixed", "ms": 300.0},
                "keeps_table": True,
                "touched_files": 1,
            },
            {
                "name": "merge",
                "arrivals": {"kind": "closed", "clients": 2},
                "runtime": {"distribution": "lognormal", "median_ms": 3_000.0, "sigma": 0.5},
                "operation_types": {"validated_overwrite": 1.0},
                "touched_files": {"distribution": "uniform", "min": 1, "max": 20},
            },
            {
                "name": "compaction",
                "arrivals": {"kind": "periodic", "period_ms": 10_000.0},
                "runtime": {"distribution": "fixed", "ms": 4_000.0},
                "operation_types": {"rewrite_files": 1.0},
                "touched_files": "25%",
            },
        ],
    },
    "delta-spark-mixed": {
        "simulation": {"duration_ms": 120_000.0, "seed": 14},
        "storage": {"provider": "s3"},
        "catalog": {"partitions": {"enabled": True, "num_partitions": 4}},
        "table": {"format": "delta", "data_files": 400},
        "delta": {"client": "spark"},
        "source": [
            {
                "name": "stream",
                "arrivals": {"kind": "jobs", "jobs": 6, "period_ms": 5_000.0, "jitter_ms": 200.0},
                "runtime": {"distribution": "fixed", "ms": 300.0},
                "keeps_table": True,
            },
            {
                "name": "merge",
                "arrivals": {"kind": "closed", "clients": 2},
                "runtime": {"distribution": "lognormal", "median_ms": 1_000.0, "sigma": 0.5},
                "operation_types": {"merge": 3.0, "append_after_read": 1.0},
                "read": "partitions",
                "touched_files": {"distribution": "uniform", "min": 1, "max": 20},
            },
            {
                "name": "optimize",
                "arrivals": {"kind": "periodic", "period_ms": 10_000.0},
                "runtime": {"distribution": "fixed", "ms": 2_000.0},
                "operation_types": {"optimize": 1.0},
                "touched_files": "25%",
            },
        ],
    },
    "delta-rs-loop": {
        "simulation": {"duration_ms": 60_000.0, "seed": 15},
        "storage": {"provider": "azure"},
        "table": {"format": "delta"},
        "delta": {"client": "delta_rs", "initial_version": 250, "log_retention_ms": 20_000.0},
        "failures": {"throttle_rate": 0.01},
        "source": [
            {
                "name": "writers",
                "arrivals": {"kind": "closed", "clients": 6, "think_ms": 100.0},
                "runtime": {"distribution": "fixed", "ms": 60.0},
                "keeps_table": True,
            },
            {
                "name": "loaders",
                "arrivals": {"kind": "closed", "clients": 2, "think_ms": 500.0},
                "runtime": {"distribution": "fixed", "ms": 200.0},
                "operation_types": {"blind_append": 1.0, "merge": 1.0},
                "read": "files",
            },
        ],
    },
    "delta-dynamodb": {
        "simulation": {"duration_ms": 60_000.0, "seed": 16},
        "storage": {"provider": "s3"},
        "catalog": {"type": "dynamodb", "num_tables": 2},
        "table": {"format": "delta"},
        "source": [
            {
                "name": "writers",
                "arrivals": {"kind": "closed", "clients": 6, "think_ms": 100.0},
                "runtime": {"distribution": "fixed", "ms": 60.0},
            },
        ],
    },
}
