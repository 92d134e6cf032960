"""Random configurations of Delta Lake, and of either format: what the engines are compared on."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from tests.properties.order_strategies import ordered_configs
from tests.properties.section_strategies import SWAPPABLE, Mapping, distributions, failures, maybe, ms
from tests.properties.strategies import arrivals

READING = ("append_after_read", "merge")
COMMIT_POINTS: dict[str, tuple[str, ...]] = {
    "spark": ("put_if_absent", "dynamodb", "single_driver", "service"),
    "delta_rs": ("put_if_absent", "dynamodb", "service"),
}


@st.composite
def delta_sources(draw: Any, name: str, client: str, is_partitioned: bool, has_files: bool) -> Mapping:
    """A source of Delta's operations."""
    kinds = ("blind_append", *READING, "optimize")
    weights = {kind: draw(st.sampled_from((0.0, 0.0, 1.0, 3.0))) for kind in kinds}
    if not any(weights.values()):
        weights["blind_append"] = 1.0
    made: Mapping = {
        "name": name,
        "arrivals": draw(arrivals().filter(lambda table: table["kind"] != "trace")),
        "runtime": draw(distributions(high=400.0)),
        "operation_types": weights,
    }
    if client == "spark":  # delta-rs reads no level
        maybe(made, draw, "isolation", st.sampled_from(("serializable", "write_serializable", "snapshot")))
    places: tuple[str, ...] = ("table", "files", "partitions") if is_partitioned else ("table", "files")
    places += () if weights["append_after_read"] else ("nothing",)
    maybe(made, draw, "read", st.sampled_from(places))
    if weights["merge"]:
        maybe(made, draw, "adds_rows", st.booleans())
    maybe(made, draw, "retry", st.integers(0, 9))
    if has_files:
        maybe(made, draw, "touched_files", st.sampled_from((0, 1, 5, "30%")))
    if is_partitioned:
        maybe(made, draw, "partitions", st.sampled_from(({"count": 1}, {"count": 2, "write_fraction": 0.5})))
    if made["arrivals"]["kind"] in ("closed", "jobs"):
        maybe(made, draw, "keeps_table", st.booleans())
    return made


@st.composite
def delta_configs(draw: Any) -> Mapping:
    """A whole configuration of tables in Delta Lake."""
    delta: Mapping = {"client": draw(st.sampled_from(("spark", "delta_rs")))}
    maybe(delta, draw, "checkpoint_interval", st.sampled_from((1, 2, 7, 10)))
    maybe(delta, draw, "initial_version", st.sampled_from((0, 1, 25)))
    maybe(delta, draw, "log_retention_ms", ms(200.0, 3_000.0))
    maybe(delta, draw, "log_replay_ms", ms(1.0, 50.0))
    for key in ("commit_bytes", "checkpoint_base_bytes", "checkpoint_bytes_per_commit"):
        maybe(delta, draw, key, st.sampled_from((0, 3_000_000)))
    catalog: Mapping = {"type": draw(st.sampled_from(COMMIT_POINTS[delta["client"]]))}
    maybe(catalog, draw, "num_tables", st.integers(1, 3))
    if catalog["type"] in ("dynamodb", "service"):
        maybe(catalog, draw, "latency", distributions())
    is_partitioned = draw(st.booleans())
    if is_partitioned:
        catalog["partitions"] = {"enabled": True, "num_partitions": draw(st.integers(2, 5))}
    table: Mapping = {"format": "delta"}
    maybe(table, draw, "data_files", st.sampled_from((8, 40)))
    names = ("first", "second", "third")[: draw(st.integers(1, 3))]
    provider = draw(st.sampled_from(SWAPPABLE))
    return {
        "simulation": {"duration_ms": draw(ms(3_000.0, 8_000.0)), "seed": draw(st.integers(0, 1_000))},
        "storage": {"provider": provider, **({"latency_ms": draw(ms(0.5, 40.0))} if provider == "constant" else {})},
        "catalog": catalog,
        "table": table,
        "delta": delta,
        "source": [draw(delta_sources(name, delta["client"], is_partitioned, "data_files" in table)) for name in names],
        **({"failures": draw(failures())} if draw(st.booleans()) else {}),
    }


@st.composite
def any_configs(draw: Any) -> Mapping:
    """A configuration of either format, every fourth of Delta's; now and then Spark looks at its table once more."""
    drawn: Mapping = draw(delta_configs() if draw(st.integers(0, 3)) == 0 else ordered_configs())
    commit = drawn.get("commit", {})
    if commit.get("protocol") == "iceberg" and not {"base", "io"} & set(commit):
        _add_looks(draw, drawn)
    return drawn


def _add_looks(draw: Any, config: Mapping) -> None:
    """Epochs of a stream."""
    can_stream = config["transaction"].get("manifest_list_mode") == "rewrite" and len(config["source"]) < 3
    if can_stream and draw(st.booleans()):
        stream: Mapping = {"name": "stream", "operation_types": {"fast_append": 1.0}, "commit_path": "epoch"}
        stream["arrivals"] = draw(arrivals().filter(lambda table: table["kind"] != "trace"))
        if stream["arrivals"]["kind"] in ("closed", "jobs") and config["catalog"]["type"] != "append":
            maybe(stream, draw, "keeps_table", st.booleans())
        config["source"].append(stream)
