"""Files that must load as they are written, and what they mean."""

from pathlib import Path

import pytest

import endive
from endive.config.reading.former_names import ConfigNote
from endive.config.sections.distribution import TruncatedNormal
from endive.simulation import Simulation

GOOD = Path(__file__).parent / "good"
SPECIFICATION, APPEND_DESIGN = (
    (GOOD / f"{name}.toml").read_text(encoding="utf-8") for name in ("specification", "append_design")
)


def test_the_file_of_the_specification_gives_a_sensible_result(parse):
    result = Simulation(parse(SPECIFICATION)).run()
    txns = result.transactions.select(["status", "kind"]).to_pylist()

    # 10 txns/s on a hundred partitions: only overwrites have a history to read, and some of them never catch up.
    assert {"validated_overwrite"} == {txn["kind"] for txn in txns if txn["status"] == "aborted"}
    assert 0.98 < result.summary()["success_rate"] < 1.0


@pytest.mark.filterwarnings("ignore::endive.config.reading.former_names.ConfigNote")
def test_the_file_of_the_append_design_gives_a_sensible_result(parse):
    summary = Simulation(parse(APPEND_DESIGN)).run().summary()

    assert 1.0 == summary["success_rate"]
    # One append to the list and one to the log, 50 ms each, and the catalog read twice: about 115 ms.
    assert 100.0 < summary["commit_latency_ms"]["p50"] < 130.0


def test_the_file_of_the_append_design_loads_as_printed(parse):
    with pytest.warns(ConfigNote, match=r"append_preset = 'append_design': storage\.T_LOG_ENTRY_READ$"):
        config = parse(APPEND_DESIGN)

    expected = {"type": "append", "append_preset": "append_design", "scope": "table", "compaction_max_entries": 0}
    assert expected.items() <= vars(config.catalog).items()
    assert "append" == config.transaction.manifest_list_mode
    assert config.storage.T_LOG_ENTRY_READ is None
    appended = TruncatedNormal(mean_ms=50.0, stddev_ms=5.0, min_ms=1.0)
    assert appended == config.storage.objects.log.append == config.storage.objects.manifest_list.append
    assert TruncatedNormal(mean_ms=200.0, stddev_ms=20.0, min_ms=1.0) == config.storage.objects.log.cas


def test_the_design_accepts_a_log_entry_latency_and_does_not_charge_it(parse, recwarn):
    design = parse(
        APPEND_DESIGN.replace("T_LOG", "# T_LOG").replace("[catalog]", '[catalog]\nappend_preset = "append_design"')
    )
    stated = parse(APPEND_DESIGN.replace("[catalog]", '[catalog]\nappend_preset = "log"'))

    assert [] == [str(warning.message) for warning in recwarn if "T_LOG" in str(warning.message)]
    assert design.config_hash() == parse(APPEND_DESIGN).config_hash()
    assert design.config_hash() != stated.config_hash()
    assert {"distribution": "truncated_normal", "mean_ms": 5.0, "stddev_ms": 1.0, "min_ms": 1.0} == (
        stated.to_dict()["storage"]["T_LOG_ENTRY_READ"]
    )


def test_a_weight_of_zero_that_is_written_keeps_the_keys_a_sweep_over_it_needs(parse):
    config = parse(
        """
        transaction.isolation = "snapshot"
        transaction.operation_types = {fast_append = 1.0, validated_overwrite = 0.0}
        """
    )

    assert "snapshot" == config.sources[0].isolation
    assert {"fast_append": 1.0} == config.to_dict()["source"][0]["operation_types"]
    assert "isolation" not in config.to_dict()["source"][0]


def test_a_trace_may_name_any_kind_so_the_keys_of_all_kinds_are_read(parse, tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("submit_ms,kind\n0,validated_overwrite\n")

    arrivals = f'{{ kind = "trace", path = "{trace}" }}'
    config = parse(
        f"source = [{{ name = 'a', arrivals = {arrivals}, isolation = 'snapshot', rewritten_manifests = 3 }}]"
    )

    assert ("snapshot", 3) == (config.sources[0].isolation, config.sources[0].rewritten_manifests)


def test_the_largest_sizes_that_are_allowed_give_the_same_rows_in_both_engines(parse):
    config = parse(
        """
        simulation.duration_ms = 20_000
        storage.provider = "instant"
        table = {manifest_bytes = 1_073_741_824, initial_manifests = 1_000, metadata_base_bytes = 1_099_511_627_776}
        transaction.operation_types.rewrite_files = 1.0
        transaction.rewritten_manifests = 1_000
        transaction.inter_arrival.scale = 100.0
        transaction.runtime = {distribution = "fixed", ms = 10.0}
        """
    )
    reference, compiled = (endive.simulate(config, engine=engine) for engine in ("reference", "compiled"))

    assert reference.transactions.equals(compiled.transactions)
    assert 0 <= min(reference.transactions["bytes_read"].to_pylist())
