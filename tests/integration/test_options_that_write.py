"""Options that few give, through the command: a bill without prices, files of read sets and of a timeline."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from endive.cli.main import app


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.toml"
    path.write_text(
        """
        storage = { provider = "constant", latency_ms = 20.0 }
        simulation = { duration_ms = 20_000, warmup_ms = 0, cooldown_ms = 0 }

        [[source]]
        name = "writers"
        arrivals = { kind = "closed", clients = 3 }
        runtime = { distribution = "fixed", ms = 100.0 }
        """
    )
    return path


def ask(*words: object) -> tuple[int, str, str]:
    answer = CliRunner().invoke(app, [str(word) for word in words])
    return answer.exit_code, answer.stdout, answer.stderr


def test_a_store_without_list_prices_gives_no_bill(table):
    code, _, told = ask("run", table, "--seeds", 1, "--bill")

    assert 2 == code
    assert "storage.provider = 'constant' has no list prices, so there is no bill. Choose one that has" in told


def test_read_sets_are_those_of_txns_that_came_to_commit_and_replace_no_file_of_somebody_else(table, tmp_path):
    place = tmp_path / "read_sets.parquet"
    place.write_text("mine")
    refused = ask("run", table, "--seeds", 1, "--read-sets", place)
    assert "mine" == place.read_text()
    done = ask("run", table, "--seeds", 1, "--read-sets", place, "--force", "--json")

    assert (2, 0) == (refused[0], done[0])
    assert "read_sets.parquet" in refused[2]
    txns = json.loads(done[1])["summary"]["txns"]
    assert txns["committed"] + txns["in_flight"]["committing"] == len(set(pq.read_table(place)["txn_id"].to_pylist()))


def test_a_trace_is_a_timeline_of_the_run(table, tmp_path):
    place = tmp_path / "timeline.json"
    code, _, _ = ask("explain", table, "--worst", 1, "--trace", place)

    events = json.loads(place.read_text())["traceEvents"]
    assert 0 == code
    assert {"ph", "name", "pid"} <= set(events[0])


def test_a_limit_under_each_format_is_a_row_or_a_sentence_on_why_there_is_none(table):
    keys = ("--vary", "table.format", "--vary", "source.writers.arrivals.clients", "--to", 400, "--seeds", 2)
    code, printed, _ = ask("limit", table, *keys, "--slo", "writers.success_rate >= 90 %")

    assert 0 == code
    rows = [line.split()[0] for line in printed.splitlines() if "between" in line or "exactly" in line]
    assert {"Iceberg", "delta-rs"} == set(rows)
    sentence = "Delta Spark: No value of source.writers.arrivals.clients from 1 to 400 surely fails the objective."
    assert sentence in " ".join(printed.split())
