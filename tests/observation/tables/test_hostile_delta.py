"""The log of a stranger's Delta table: whatever it holds takes bounded memory and time, and ends in words of ours."""

import json
import os
import time

import pytest
from tests.observation.tables.test_delta_log import file, info, write_log

from endive.config import parse_config
from endive.errors import ObservationError
from endive.observation import history
from endive.observation.fitting.delta_configuration import VERSION_MAX
from endive.observation.observe import observe
from endive.observation.tables import delta_log
from endive.observation.tables.delta_log import read_delta_log

START_MS = 1_772_366_400_000


def appends(count, **more):
    return [[info(at=START_MS + 60_000 * number, **more), file("add", f"f{number}")] for number in range(count)]


@pytest.mark.parametrize("name", [f"{5:020d}.json", "_last_checkpoint"])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_only_regular_files_are_read(tmp_path, name, kind):
    place = write_log(tmp_path / "t", appends(5))
    path = tmp_path / "t" / "_delta_log" / name
    {"pipe": os.mkfifo, "device": lambda path: path.symlink_to("/dev/zero"), "folder": os.mkdir}[kind](path)

    with pytest.raises(ObservationError, match="is a folder" if kind == "folder" else "not a regular file"):
        read_delta_log(place)


def test_commits_and_actions_without_end_are_not_read(tmp_path, monkeypatch):
    place = write_log(tmp_path / "t", appends(5))
    monkeypatch.setattr(delta_log, "ACTIONS_MAX", 9)
    with pytest.raises(ObservationError, match="more than 1,073,741,824 bytes or 9 actions"):
        read_delta_log(place)
    monkeypatch.setattr(history, "COMMITS_MAX", 4)
    with pytest.raises(ObservationError, match="more than 4 commits"):
        read_delta_log(place)


def test_a_million_columns_are_read_once_and_not_by_every_statement(tmp_path):
    columns = {"metaData": {"partitionColumns": [f"c{number}" for number in range(200_000)]}}
    merges = [
        [
            info("MERGE", at=START_MS + 60_000 * number, operationParameters={"predicate": "c7 = 1"}),
            file("add", f"f{number}"),
            file("remove", f"f{number - 1}"),
        ]
        for number in range(100)
    ]
    begin_s = time.process_time()

    read = read_delta_log(write_log(tmp_path / "t", [[columns, file("add", "f")], *merges]))

    assert {"partitions"} == {each.read for each in read.commits if each.operation == "overwrite"}
    assert time.process_time() - begin_s < 5.0  # 0.3 s; made anew by each statement, the columns took 8


def test_a_version_is_written_in_ascii_digits(tmp_path):
    place = write_log(tmp_path / "t", appends(3))
    (tmp_path / "t" / "_delta_log" / ("\u0663" * 20 + ".json")).write_text("{")

    assert 3 == len(read_delta_log(place).commits)


def test_a_table_older_than_a_configuration_can_begin_is_still_observed(tmp_path):
    seen = observe(read_delta_log(write_log(tmp_path / "t", appends(5), first=7 * VERSION_MAX + 12_340)))

    assert 12_345 + VERSION_MAX // 2 == parse_config(seen.config).delta.initial_version
    assert any("instead of 7,012,345" in line for line in seen.findings["assumed"])


@pytest.mark.parametrize("key", ["operationMetrics", "operationParameters", "engineInfo", "inCommitTimestamp", "job"])
@pytest.mark.parametrize("value", [None, [], -1, 10**30, 1e308, "\x1b[2J", {"num_retries": 10**15, "jobId": []}])
def test_whatever_a_commit_says_of_itself(tmp_path, key, value):
    found = observe(read_delta_log(write_log(tmp_path / "t", appends(5, **{key: value})))).findings

    assert "\\u001b" not in json.dumps(found)
