"""The calls of the refactoring specification, made as it makes them."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from itertools import islice
from types import SimpleNamespace
from typing import Any

import pytest

from endive import first_names as first
from endive.errors import EngineError, UnsupportedOperationError

FIXED = first.LognormalLatency(mu=3.0, sigma=0.0)  # e**3 = 20.0855 ms, always
FIXED_MS = pytest.approx(20.0855, abs=0.001)


def drive(process: Generator[float, None, Any]) -> tuple[list[float], Any]:
    """The delays a process asks for, and what it returns."""
    delays = []
    while True:
        try:
            delays.append(next(process))
        except StopIteration as ended:
            return delays, ended.value


def s3() -> first.S3StorageProvider:
    return first.S3StorageProvider(
        read_latency=FIXED,
        write_latency=first.SizeBasedLatency(30.0, 20.0, 0.0),
        cas_success_latency=first.LognormalLatency(mu=4.0, sigma=0.0),
        cas_failure_latency=first.LognormalLatency(mu=5.0, sigma=0.0),
    )


# ---- 1. storage --------------------------------------------------------------------------------------


def test_a_sample_is_the_next_draw_and_seeds_begin_anew() -> None:
    latency = first.LognormalLatency(mu=3.0, sigma=0.5)
    first.seed(1)
    draws = [latency.sample() for _ in range(3)]
    first.seed(1)
    assert draws == [latency.sample() for _ in range(3)]
    assert 3 == len(set(draws))


def test_no_sample_is_below_1_ms() -> None:
    assert 1.0 == first.LognormalLatency(mu=-9.0, sigma=0.1).sample()
    assert 1.0 == first.SizeBasedLatency(0.1, 0.0, 0.0).sample()


def test_a_sample_grows_with_its_size() -> None:
    latency = first.SizeBasedLatency(30.0, 20.0, 0.0)
    assert [30.0, 50.0] == [latency.with_size(size).sample() for size in (0, 1 << 20)]


def test_requests_of_a_store_made_of_distributions_take_what_these_say() -> None:
    storage = s3()
    delays, result = drive(storage.read("table/list", 100))
    assert ([FIXED_MS], True, FIXED_MS, 100) == (delays, result.success, result.latency_ms, result.data_size_bytes)
    delays, result = drive(storage.write("table/list", 1 << 20))
    assert (50.0, 50.0) == (sum(delays), result.latency_ms)
    _, result = drive(storage.cas("catalog", 3, 100))
    assert (True, pytest.approx(54.598, abs=0.001)) == (result.success, result.latency_ms)


def test_a_store_refuses_what_it_has_not() -> None:
    storage = s3()
    assert (True, False, False) == (storage.supports_cas, storage.supports_append, storage.supports_tail_append)
    with pytest.raises(UnsupportedOperationError, match="'s3' has no 'append'"):
        storage.append("log", 0, 100)
    assert first.InstantStorageProvider().supports_tail_append


# ---- 2. catalogs -------------------------------------------------------------------------------------


def test_of_two_commits_on_one_sequence_number_the_second_is_told_the_state() -> None:
    catalog = first.CASCatalog(s3(), 2, (0, 0))
    _, snapshot = drive(catalog.read())
    assert (0, [0, 0]) == (snapshot.seq, [table.version for table in snapshot.tables])

    delays, won = drive(catalog.commit(0, {0: 1}))
    assert (True, None) == (won.success, won.snapshot)
    assert won.latency_ms == pytest.approx(sum(delays)) == pytest.approx(54.598, abs=0.001)
    _, lost = drive(catalog.commit(0, {1: 1}))
    versions = [lost.snapshot.get_table(table).version for table in (0, 1)]
    assert (False, 1, [1, 0]) == (lost.success, lost.snapshot.seq, versions)
    assert pytest.approx(148.413, abs=0.001) == lost.latency_ms


def test_a_commit_writes_the_version_after_the_present_one() -> None:
    with pytest.raises(EngineError, match="table 0 is at version 0"):
        drive(first.CASCatalog(s3(), 1, ()).commit(0, {0: 7}))


def test_in_a_log_tables_decide() -> None:
    catalog = first.AppendCatalog(first.S3ExpressStorageProvider(), 2, ())

    def commit(txn_id: int, table: int) -> Any:
        intention = first.IntentionRecord(txn_id, tables_written={table: 1}, tables_read={table: 0})
        return drive(catalog.commit(0, {table: 1}, intention))[1]

    assert [True, True, False] == [commit(1, 0).success, commit(2, 1).success, commit(3, 0).success]


def test_values_have_the_fields_of_the_specification() -> None:
    table = first.TableMetadata(0, 3, 250, 2, (1, 2))
    snapshot = first.CatalogSnapshot(seq=3, tables=(table,), timestamp_ms=12.5)
    assert (table, 2, 250) == (snapshot.get_table(0), snapshot.get_partition_version(0, 1), table.manifest_list_offset)
    assert first.CommitResult(success=False, snapshot=snapshot, latency_ms=1.0) == (False, snapshot, 1.0)

    shown = drive(first.InstantCatalog(2, (3, 3)).read())[1]
    assert (0, 0.5) == (shown.seq, shown.timestamp_ms)
    assert first.TableMetadata(1, 0, 0, 3, (0, 0, 0)) == shown.get_table(1)


def test_an_instant_catalog_takes_a_millisecond() -> None:
    assert 1.0 == sum(drive(first.InstantCatalog(1, ()).read())[0])
    assert 5.0 == sum(drive(first.InstantCatalog(1, (), latency_ms=5.0).commit(0, {0: 1}))[0])


def test_a_catalog_of_counts_refuses_a_store_that_cannot_carry_it() -> None:
    with pytest.raises(ValueError, match="AppendCatalog needs a store with supports_append; 's3' does not have it"):
        first.AppendCatalog(s3(), 1, ())


# ---- 3. txns -----------------------------------------------------------------------------------------

TOUCHES = {"tables_read": frozenset({0}), "tables_written": frozenset({0})}
TXN = {"txn_id": 1, "submit_time_ms": 0.0, "runtime_ms": 1_000.0, **TOUCHES}
PARTITION_1 = {"partitions_read": {0: frozenset({1})}, "partitions_written": {0: frozenset({1})}}
NEVER = first.ProbabilisticConflictDetector(0.0)


@pytest.mark.parametrize(
    ("make", "rest", "can_conflict"),
    [
        (first.FastAppendTransaction, {}, False),
        (first.MergeAppendTransaction, {"manifest_file_reads": 7, "manifest_file_writes": 7}, False),
        (first.ValidatedOverwriteTransaction, {"historical_ml_reads": 5}, True),
    ],
)
def test_a_txn_says_what_a_conflict_costs_and_means(make: Any, rest: dict[str, int], can_conflict: bool) -> None:
    txn = make(**TXN)
    for is_appended in (False, True):
        cost = first.ConflictCost(
            metadata_reads=1, manifest_list_reads=1, manifest_list_writes=0 if is_appended else 1, **rest
        )
        assert cost == txn.get_conflict_cost(5, is_appended)
    assert (can_conflict, can_conflict) == (txn.can_have_real_conflict(), txn.should_abort_on_real_conflict())


def test_manifests_per_concurrent_commit_is_an_argument() -> None:
    txn = first.MergeAppendTransaction(**TXN, manifests_per_concurrent_commit=3.0)

    assert 15 == txn.get_conflict_cost(5, False).manifest_file_reads


def test_a_txn_runs_against_a_catalog_and_moves_it() -> None:
    storage = first.InstantStorageProvider()
    catalog = first.CASCatalog(storage, 1, ())
    drive(catalog.commit(0, {0: 1}))

    txn = first.FastAppendTransaction(**TXN | {"submit_time_ms": 1.0})
    delays, result = drive(txn.execute(None, catalog, storage, NEVER, 10))

    assert (first.TransactionStatus.COMMITTED, 0) == (result.status, result.total_retries)
    assert result.total_latency_ms == pytest.approx(sum(delays))
    assert result.commit_latency_ms < 100.0 < 1_000.0 < result.total_latency_ms
    assert 2 == drive(catalog.read())[1].get_table(0).version


def test_a_txn_overtaken_while_it_works_tries_again() -> None:
    result = overtaken(first.FastAppendTransaction(**TXN), NEVER)

    assert (first.TransactionStatus.COMMITTED, 1) == (result.status, result.total_retries)


def overtaken(txn: Any, detector: Any) -> Any:
    """The result of a txn that another one overtakes on a table of four partitions."""
    storage = first.InstantStorageProvider()
    catalog = first.CASCatalog(storage, 1, (4,))
    process = txn.execute(None, catalog, storage, detector, 10)
    next(process)
    next(process)  # it has read the catalog, and works
    rival = first.FastAppendTransaction(**TXN | {"txn_id": 2}, **PARTITION_1)
    drive(rival.execute(None, catalog, storage, NEVER, 10))
    return drive(process)[1]


@pytest.mark.parametrize(("written", "reason"), [(None, None), ({0}, None), ({1}, "validation_exception")])
def test_partitions_written_decide_and_a_txn_that_names_none_overlaps_nobody(written: Any, reason: str | None) -> None:
    named = {} if written is None else {0: frozenset(written)}
    txn = first.ValidatedOverwriteTransaction(**TXN, partitions_read=named, partitions_written=named)

    assert reason == overtaken(txn, first.PartitionOverlapConflictDetector()).abort_reason


def test_an_overwrite_asks_the_detector_it_was_made_with() -> None:
    txn = first.ValidatedOverwriteTransaction(**TXN, real_conflict_detector=first.ProbabilisticConflictDetector(1.0))

    assert "validation_exception" == overtaken(txn, NEVER).abort_reason


def test_statistics_count_the_txns_they_are_told_of(tmp_path: Any) -> None:
    statistics = first.Statistics()
    for probability in (0.0, 1.0):
        txn = first.ValidatedOverwriteTransaction(**TXN)
        statistics.record_transaction(txn, overtaken(txn, first.ProbabilisticConflictDetector(probability)))

    assert (1, 1, 1) == (statistics.committed, statistics.aborted, statistics.validation_exceptions)
    assert (1, 1) == (statistics.false_conflicts, statistics.real_conflicts)
    assert statistics.manifest_list_reads == sum(txn.manifest_list_reads for txn in statistics.transactions) > 0
    assert ["committed", "aborted"] == list(statistics.to_dataframe()["status"])
    statistics.export_parquet(str(tmp_path / "txns.parquet"))
    assert (tmp_path / "txns.parquet").exists()


def test_time_is_the_callers_if_it_has_one() -> None:
    sim = SimpleNamespace(now=5_000.0)
    storage = first.InstantStorageProvider()
    catalog = first.CASCatalog(storage, 1, ())
    drive(first.FastAppendTransaction(**TXN).execute(sim, catalog, storage, NEVER, 10))

    assert 5_000.0 == drive(catalog.read())[1].timestamp_ms


# ---- 4 and 5. workload, conflicts --------------------------------------------------------------------


def workload_config(**rest: Any) -> first.WorkloadConfig:
    return first.WorkloadConfig(
        inter_arrival=first.LognormalLatency(mu=5.0, sigma=0.5),
        runtime=first.LognormalLatency(mu=7.0, sigma=0.2),
        num_tables=4,
        partitions_per_table=(8, 8, 8, 8),
        tables_per_txn=first.LognormalLatency(mu=1.0, sigma=0.0),  # int(2.718) = 2
        table_selection=first.ZipfTableSelector(),
        partitions_per_txn=first.LognormalLatency(mu=1.2, sigma=0.0),  # int(3.32) = 3
        partition_selection=first.ZipfPartitionSelector(),
        **rest,
    )


def test_a_selector_needs_only_counts() -> None:
    for selector in (first.ZipfTableSelector(), first.ZipfPartitionSelector(), first.UniformPartitionSelector()):
        read, written = selector.select(4, 10)
        assert (4, 2) == (len(read), len(written))
        assert written <= read <= set(range(10))
    assert 4 == len(first.ZipfTableSelector().select(total_tables=10, n_tables=4)[0])
    assert 4 == len(first.UniformPartitionSelector().select(n_partitions=4, total_partitions=10)[0])


def test_a_selector_of_ones_own_is_told_counts_only() -> None:
    class Last(first.TableSelector):
        def select(self, n_tables: int, total_tables: int) -> Any:  # type: ignore[override]
            return {total_tables - 1, total_tables - n_tables}, {total_tables - 1}

    config = replace(workload_config(), table_selection=Last())
    txn = next(first.Workload(config, seed=3).generate())

    assert ({2, 3}, {3}) == (txn.tables_read, txn.tables_written)


def test_a_workload_generates_txns_of_its_distributions() -> None:
    txns = list(islice(first.Workload(workload_config(), seed=3).generate(), 200))

    assert {2} == {len(txn.tables_read) for txn in txns}
    assert {1} == {len(txn.tables_written) for txn in txns}
    assert {3} == {len(parts) for txn in txns for parts in txn.partitions_read.values()}
    assert set(txns[0].partitions_written) == set(txns[0].tables_written)
    times = [txn.submit_time for txn in txns]
    assert sorted(times) == times
    kinds = {kind: sum(type(txn) is kind for txn in txns) for kind in {type(txn) for txn in txns}}
    assert kinds[first.FastAppendTransaction] > kinds[first.MergeAppendTransaction]
    again = list(islice(first.Workload(workload_config(), seed=3).generate(), 200))
    assert times == [txn.submit_time for txn in again]


def test_detectors_answer_as_written() -> None:
    catalog = first.InstantCatalog(1, (4,))
    _, start = drive(catalog.read())
    overwrite = first.ValidatedOverwriteTransaction(**TXN, **PARTITION_1)
    append = first.FastAppendTransaction(**TXN, **PARTITION_1)
    table = start.tables[0]._replace(version=1, partition_versions=(0, 1, 0, 0))
    moved = start._replace(seq=1, tables=(table,))
    elsewhere = start._replace(seq=1, tables=(table._replace(partition_versions=(1, 0, 0, 0)),))

    overlap = first.PartitionOverlapConflictDetector()
    assert [True, False] == [overlap.is_real_conflict(overwrite, now, start) for now in (moved, elsewhere)]
    assert not overlap.is_real_conflict(append, moved, start)
    assert first.ProbabilisticConflictDetector(1.0).is_real_conflict(overwrite, moved, start)
    assert not first.ProbabilisticConflictDetector(1.0).is_real_conflict(append, moved, start)


# ---- 6. simulation -----------------------------------------------------------------------------------


def simulation(detector: Any, seed: int | None = 1, **rest: Any) -> first.SimulationConfig:
    storage = first.S3ExpressStorageProvider()
    return first.SimulationConfig(
        duration_ms=30_000.0,
        seed=seed,
        storage_provider=storage,
        catalog=first.CASCatalog(storage, 4, (8, 8, 8, 8)),
        workload=first.Workload(workload_config(), seed=1),
        conflict_detector=detector,
        **rest,
    )


def test_a_simulation_of_parts_runs_and_counts(tmp_path: Any) -> None:
    statistics = first.Simulation(simulation(NEVER, backoff_enabled=True)).run()

    assert len(statistics.transactions) == statistics.committed + statistics.aborted
    assert 0 == statistics.validation_exceptions == statistics.real_conflicts
    assert statistics.committed > 100
    assert statistics.manifest_list_writes == sum(txn.manifest_list_writes for txn in statistics.transactions)
    assert len(statistics.to_dataframe()) >= len(statistics.transactions)
    statistics.export_parquet(str(tmp_path / "txns.parquet"))
    assert (tmp_path / "txns.parquet").stat().st_size > 1_000
    assert "compiled" == statistics.result.provenance.engine


def test_what_is_certain_to_overlap_aborts() -> None:
    always = first.Simulation(simulation(first.ProbabilisticConflictDetector(1.0))).run()
    overlap = first.Simulation(simulation(first.PartitionOverlapConflictDetector())).run()

    assert always.validation_exceptions > overlap.validation_exceptions > 0


def test_the_seed_decides() -> None:
    one, again, other = (first.Simulation(simulation(NEVER, seed)).run().result.fingerprint for seed in (1, 1, 2))

    assert one == again != other


class Overlap(first.ConflictDetector):
    """Lines 1322 to 1334 of the specification."""

    def is_real_conflict(self, txn: Any, current: Any, start: Any) -> bool:
        if not txn.can_have_real_conflict():
            return False
        for table_id, partitions in txn.partitions_written.items():
            for partition_id in partitions:
                start_ver = start.get_partition_version(table_id, partition_id)
                current_ver = current.get_partition_version(table_id, partition_id)
                if current_ver != start_ver:
                    return True
        return False


def test_a_detector_of_ones_own_is_asked_in_the_specifications_words() -> None:
    own = first.Simulation(simulation(Overlap())).run()
    built_in = first.Simulation(simulation(first.PartitionOverlapConflictDetector())).run()

    assert ("reference", "compiled") == (own.result.provenance.engine, built_in.result.provenance.engine)
    assert own.result.fingerprint == built_in.result.fingerprint
    assert own.validation_exceptions == built_in.validation_exceptions == 3


def test_txns_that_choose_no_partitions_overlap_nobody() -> None:
    config = simulation(first.PartitionOverlapConflictDetector())
    config.workload = first.Workload(replace(workload_config(), partitions_per_txn=None), seed=1)

    assert 0 == first.Simulation(config).run().real_conflicts


def test_a_counter_that_is_none_is_no_attribute() -> None:
    with pytest.raises(AttributeError):
        first.Simulation(simulation(NEVER)).run().lost  # noqa: B018
