"""A replay begins every commit when it was seen to begin, and compares durations as the history counts them."""

import itertools
import json
from dataclasses import replace

import pytest

from endive.config import parse_config, read_toml
from endive.errors import ConfigError
from endive.observation.folder import TraceRow, read_findings, read_trace, write_folder
from endive.observation.folder_memory import given_document
from endive.observation.history import Commit, TableHistory, TableShape
from endive.observation.observe import observe
from endive.observation.replay.replay import replay, scale_writers
from endive.observation.replay.stage import Stage
from endive.observation.replay.trace import as_observed, client_numbers, loading_ms
from endive.simulation import Simulation

START_US = 1_772_366_400_000_000
STORE = ("storage.provider=constant", "storage.latency_ms=100", "catalog.latency_ms=20")
ATTEMPT_MS = 20 + 100 + 100 + 100 + 100 + 20 + 20  # pointer, list, manifest, list, metadata, pointer, swap
LOAD_MS = 20 + 100  # pointer and metadata
SLOW = {"storage": {"provider": "constant", "latency_ms": 100.0}, "catalog": {"type": "service", "latency_ms": 20.0}}


def appends(count: int = 12, *, is_submission: bool, duration_ms: float = ATTEMPT_MS, **shape) -> TableHistory:
    """One every ten seconds."""
    commits = tuple(
        Commit(
            time_us=START_US + 10_000_000 * n,
            operation="append",
            kind="fast_append",
            duration_ms=duration_ms,
            attempts=1,
            is_submission=is_submission,
            changed_partitions=2,
        )
        for n in range(count)
    )
    return TableHistory(name="t", commits=commits, shape=TableShape(snapshots=count, **shape))


def p50_ms(tmp_path, history: TableHistory) -> float:
    (folder,) = write_folder(tmp_path / "seen", [observe(history)])
    found = replay(folder, assumed=(*STORE, 'source."unknown".operation_types={fast_append=1.0}'), seeds=2)
    return next(figure.model for _, figure in found.figures if figure.name == "commit P50")


def test_a_logs_duration_is_the_whole_commit(tmp_path):
    assert ATTEMPT_MS + LOAD_MS == pytest.approx(p50_ms(tmp_path, appends(is_submission=True)))


def test_a_reports_duration_ends_before_the_table_is_read_back(tmp_path):
    assert pytest.approx(ATTEMPT_MS) == p50_ms(tmp_path, appends(is_submission=False))
    assert "reports" == json.loads((tmp_path / "seen" / "observation.json").read_text())["durations_from"]


def test_a_source_that_works_is_submitted_earlier_so_that_its_commit_begins_when_it_did(tmp_path):
    (folder,) = write_folder(tmp_path / "seen", [observe(appends(is_submission=True))])
    document = read_toml(folder / "endive.toml") | SLOW
    document["source"][0]["runtime"] = {"distribution": "fixed", "ms": 3_000.0}
    observed = as_observed(document, read_trace(folder), tmp_path / "trace.csv").document

    starts_ms = Simulation(parse_config(observed)).run(0).transactions["commit_start_ms"].to_pylist()

    assert [3_000.0 + LOAD_MS + 10_000.0 * n for n in range(12)] == starts_ms
    assert {"unknown": float(LOAD_MS)} == loading_ms(observed)


def test_a_statement_commits_after_the_work_that_its_log_tells_of(tmp_path):
    """Its work begins with loading the table; what the log tells of it is neither doubled nor taken for loading."""
    (folder,) = write_folder(tmp_path / "seen", [observe(appends(is_submission=True))])
    document = read_toml(folder / "endive.toml") | SLOW
    rows = [replace(row, runtime_ms=3_000.0) for row in read_trace(folder)]

    observed = as_observed(document, rows, tmp_path / "trace.csv", statements={"unknown"}).document

    txns = Simulation(parse_config(observed)).run(0).transactions
    worked_ms = [
        begun - submitted
        for begun, submitted in zip(txns["commit_start_ms"].to_pylist(), txns["submit_ms"].to_pylist(), strict=True)
    ]
    assert [3_000.0] * 12 == worked_ms
    assert {"unknown": float(LOAD_MS)} == loading_ms(observed)


def test_a_measured_catalog_leaves_a_partitioned_table_partitioned(tmp_path):
    (folder,) = write_folder(
        tmp_path / "seen", [observe(appends(is_submission=True, data_files=600, partitions=12, partition_fields=1))]
    )
    profile = tmp_path / "catalog.toml"
    profile.write_text('[catalog]\ntype = "service"\nlatency_ms = 20.0\n')

    found = replay(folder, catalog_profile=profile, assumed=STORE[:2], seeds=2)

    assert ["unknown"] == list(found.sources)
    profile.write_text("[store]\n")
    with pytest.raises(ConfigError, match=r"catalog.toml' has no \[catalog\]. Give the file that endive measure"):
        replay(folder, catalog_profile=profile, seeds=2)


def test_a_client_that_waited_for_its_statements_does_so_in_the_replay(tmp_path):
    """Every statement took all of the ten seconds to the next; on a slower store they may not overlap."""
    (folder,) = write_folder(tmp_path / "seen", [observe(appends(is_submission=True, duration_ms=10_000.0))])
    waited = _submissions_ms(folder, tmp_path)
    (folder,) = write_folder(tmp_path / "seen", [observe(appends(is_submission=True, duration_ms=12_000.0))])
    overlapped = _submissions_ms(folder, tmp_path)

    assert [10_000.0] * 11 == pytest.approx([after - before for before, after in itertools.pairwise(overlapped)])
    assert all(after - before > 20_000.0 for before, after in itertools.pairwise(waited))


def test_clients_that_keep_their_table_load_it_once_each(tmp_path):
    """Two clients under one name, whose statements overlap: every other one is of the same client."""
    (folder,) = write_folder(tmp_path / "seen", [observe(appends(is_submission=True, duration_ms=12_000.0))])
    document = read_toml(folder / "endive.toml") | SLOW
    closed = {"kind": "closed", "clients": 2, "think_ms": {"distribution": "fixed", "ms": 8_000.0}}
    document["source"][0] |= {"runtime": {"distribution": "fixed", "ms": 0.0}, "arrivals": closed, "keeps_table": True}
    seen = read_trace(folder)

    observed = as_observed(document, seen, tmp_path / "trace.csv", statements={"unknown"}).document

    table = Simulation(parse_config(observed)).run(0).transactions.sort_by("submit_ms")
    rows = zip(*(table[key].to_pylist() for key in ("source", "submit_ms", "commit_start_ms")), strict=True)
    assert [(("unknown", "unknown~2")[n % 2], 10_000.0 * n, float(LOAD_MS if n < 2 else 0)) for n in range(12)] == [
        (name, submitted, begun - submitted) for name, submitted, begun in rows
    ]
    stage = Stage(seen, read_findings(folder))
    assert ["unknown"] == [*stage.run(document, 2, tmp_path)]


def test_whoever_has_waited_longest_is_the_client_of_the_next_statement():
    known = {"operation": "append", "runtime_ms": None, "attempts": None, "is_committed": True, "reason": ""}
    told = ((0, "a", 5_000.0), (1, "a", 2_000.0), (2, "b", None), (9, "a", 1_000.0), (10, "a", 3_000.0))
    rows = [TraceRow(begin_us=10**6 * at_s, source=name, duration_ms=ms, **known) for at_s, name, ms in told]

    assert [0, 1, 0, 1, 0] == client_numbers(rows, {"a": 2})
    assert [0, 0, 0, 0, 0] == client_numbers(rows, {})


def _submissions_ms(folder, tmp_path) -> list[float]:
    document = read_toml(folder / "endive.toml")
    document["storage"] = {"provider": "constant", "latency_ms": 5_000.0}
    document["source"][0]["runtime"] = {"distribution": "fixed", "ms": 0.0}
    observed = as_observed(document, read_trace(folder), tmp_path / "trace.csv").document
    simulation = Simulation(parse_config(observed))
    results = [simulation.run(0, engine=engine) for engine in ("reference", "compiled")]
    assert results[0].fingerprint == results[1].fingerprint
    return sorted(results[0].transactions["submit_ms"].to_pylist())


def test_a_part_of_a_history_in_which_a_source_does_nothing_is_run_without_it(tmp_path):
    """Of a long history the first part is searched for a cause; who began later is not in it."""
    early = appends(is_submission=True)
    late = tuple(
        replace(each, time_us=each.time_us + 1_000_000_000, writer="late", engine="spark", kind="merge_append")
        for each in early.commits
    )
    (folder,) = write_folder(tmp_path / "seen", [observe(replace(early, commits=(*early.commits, *late)))])
    document = given_document(folder, profile=None, catalog_profile=None, assumed=STORE)
    stage = Stage(read_trace(folder), read_findings(folder))

    assert {"unknown", "late"} == set(stage.run(document, 2, tmp_path))
    assert {"unknown"} == set(stage.first_rows(12).run(document, 2, tmp_path))


# ---- twice the writers ---------------------------------------------------------------------------------


def sources(*arrivals):
    return {"source": [{"name": f"s{index}", "arrivals": each} for index, each in enumerate(arrivals)]}


def test_clients_are_multiplied_and_clocks_are_copied_out_of_step():
    document = sources({"kind": "closed", "clients": 3}, {"kind": "periodic", "period_ms": 1000.0})

    assert [
        ("s0", {"kind": "closed", "clients": 6}),
        ("s1", {"kind": "periodic", "period_ms": 1000.0}),
        ("s1~2", {"kind": "periodic", "period_ms": 1000.0, "offset_ms": 500.0}),
    ] == [(each["name"], each["arrivals"]) for each in scale_writers(document, 2.0)["source"]]


def test_half_a_writer_submits_half_as_often():
    found = scale_writers(sources({"kind": "poisson", "mean_ms": 10.0}), 1.5)["source"]

    assert [10.0, 20.0] == [each["arrivals"]["mean_ms"] for each in found]


def test_a_scale_out_of_range_is_refused():
    with pytest.raises(ConfigError, match=r"--scale 0 is not allowed. Give a number from 0.01 to 1000."):
        scale_writers(sources(), 0.0)
