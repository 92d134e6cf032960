"""The page *Extending Endive*: every example runs; and classes that no engine could call are rejected by name."""

import re
from pathlib import Path

import pytest

import endive
from endive import first_names as documents
from endive.distributions import LatencyDistribution
from endive.errors import EngineError
from endive.storage import S3StorageProvider, StorageProvider, StorageResult
from endive.transaction import FastAppendTransaction

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "extending.md"
SMALL = {"simulation": {"duration_ms": 10_000, "warmup_ms": 0, "cooldown_ms": 0}, "transaction": {"runtime": "100ms"}}


def test_every_example_of_the_page_runs():
    namespace: dict[str, object] = {"__name__": "example"}

    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), namespace)


@pytest.mark.parametrize("value", [float("nan"), "5", -1.0, None])
def test_a_sample_that_is_no_latency_is_rejected(value):
    class Wrong(LatencyDistribution):
        def sample(self):
            return value

    with pytest.raises(EngineError, match=r"Wrong\.sample returned .*; it must return a number of milliseconds"):
        S3StorageProvider(read_latency=Wrong())


def test_a_distribution_without_sample_or_quantile_is_rejected():
    with pytest.raises(EngineError, match=r"Empty cannot be drawn from: give it sample\(\)"):
        type("Empty", (LatencyDistribution,), {})()


def test_a_provider_without_write_is_rejected():
    def read(self, key, expected_size_bytes):
        yield 1.0
        return StorageResult(True, 1.0, expected_size_bytes)

    with pytest.raises(EngineError, match=r"Half has no write: a provider needs read\(key, expected_size_bytes\)"):
        type("Half", (StorageProvider,), {"read": read})


@pytest.mark.parametrize(
    ("methods", "problem"),
    [
        ({}, r"Mine has no read\(\)"),
        ({"read": lambda self: iter(())}, r"Mine\.read must be a generator: it yields milliseconds"),
    ],
)
def test_a_catalog_that_cannot_be_asked_is_rejected(methods, problem):
    with pytest.raises(EngineError, match=problem):
        endive.Simulation(SMALL, catalog=type("Mine", (), methods)())


def test_a_commit_that_is_no_generator_is_rejected():
    class Mine:
        def read(self):
            yield 1.0

        def commit(self, expected_seq, writes, intention=None):
            return None

    with pytest.raises(EngineError, match=r"Mine\.commit must be a generator: .* returns a CommitResult"):
        endive.Simulation(SMALL, catalog=Mine())


def test_a_catalog_that_claims_a_commit_it_did_not_make_is_rejected():
    class Liar:
        def read(self):
            yield 1.0
            return documents.CatalogSnapshot(seq=0, tables=(), timestamp_ms=0.0)

        def commit(self, expected_seq, writes, intention=None):
            yield 1.0
            return documents.CommitResult(success=True, snapshot=None, latency_ms=1.0)

    with pytest.raises(EngineError, match=r"Liar\.commit returned .*, and the sequence number .* has not moved"):
        endive.Simulation({**SMALL, "catalog": {"type": "instant"}}, catalog=Liar()).run()


def test_a_transaction_with_a_commit_loop_of_its_own_is_rejected():
    own = type("Mine", (FastAppendTransaction,), {"_commit_loop": lambda self: None})

    with pytest.raises(EngineError, match="Mine overrides the commit loop itself"):
        endive.Simulation(SMALL, transaction_types={"fast_append": own})


def test_a_workload_that_overrides_generate_is_rejected():
    own = type("Mine", (documents.Workload,), {"generate": lambda self, sim: iter(())})

    with pytest.raises(EngineError, match="Mine overrides generate, which an engine does not call"):
        own(None)


def test_partitions_per_table_show_up_in_every_snapshot():
    catalog = documents.InstantCatalog(3, (2, 0, 9))
    process = catalog.read()
    next(process), next(process)  # the two legs of the request
    with pytest.raises(StopIteration) as ended:
        next(process)

    assert [2, 0, 9] == [table.num_partitions for table in ended.value.value.tables]
    assert [2, 0, 9] == [len(table.partition_versions) for table in ended.value.value.tables]
