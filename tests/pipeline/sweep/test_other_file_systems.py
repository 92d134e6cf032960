"""Sweeps into HDFS and into Azure's blobs: the files of a folder, whatever is killed, and whoever else writes there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from tests.pipeline.file_systems import azure_endpoint, azure_place, hdfs_address, hdfs_place
from tests.pipeline.in_process import InProcessSpark
from tests.pipeline.sweep.test_sweep_to_store import files, objects
from tests.waiting import wait_until

from endive.errors import OutputError
from endive.pipeline import run_sweep
from endive.pipeline.dataset.check import check_dataset
from endive.pipeline.dataset.places import has_lock
from endive.pipeline.dataset.sweep_folder import SweepFolder

pytestmark = [pytest.mark.spark, pytest.mark.slow]
__all__ = ["azure_endpoint", "azure_place", "hdfs_address", "hdfs_place"]

LOCK = "_endive.lock"


@pytest.fixture(params=["azure_place", "hdfs_place"])
def place(request):
    return request.getfixturevalue(request.param)


def without_lock(found):
    return {name: content for name, content in found.items() if name != LOCK}


def study(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "endive.cli.main", "study", *map(str, arguments), "--master", "local[2]"]


def test_a_sweep_that_lost_its_driver_goes_on_to_the_files_of_a_folder(planned, place, whole):
    lost = InProcessSpark()
    lost.dies_after = 5
    with pytest.raises(KeyboardInterrupt):
        run_sweep(planned(), place, lambda: lost)

    again = run_sweep(planned(), place, InProcessSpark)

    assert (5, 7) == (again.kept, again.simulated)
    assert files(whole) == without_lock(objects(place))
    assert () == check_dataset(place).damages


def test_what_is_not_there_may_be_taken_away(place):
    (place / "there").write(b"1")
    for name in ("there", "not-there"):
        (place / name).unlink(missing_ok=True)

    assert {} == objects(place)


def test_two_sweeps_into_one_place_do_not_mix(planned, place):
    with SweepFolder.locked(place) as first:
        if has_lock(place):
            with pytest.raises(OutputError, match=r"^Another sweep is writing into hdfs://"):
                run_sweep(planned(), place, InProcessSpark)
            first.write_manifest()
        else:
            run_sweep(planned(), place, InProcessSpark)
            with pytest.raises(OutputError, match=r"^Another sweep has written abfss://"):
                first.write_manifest()

    outcome = run_sweep(planned(), place, InProcessSpark)

    assert 12 == outcome.kept + outcome.simulated
    assert () == check_dataset(place).damages


def test_a_plan_whose_writer_died_while_hdfs_replaced_it_comes_back(planned, hdfs_place):
    run_sweep(planned(seeds=1), hdfs_place, InProcessSpark)
    plan = hdfs_place / "_endive.json"
    plan.move_to(hdfs_place / "._endive.json.0000.tmp")
    (hdfs_place / "._endive.json.ffff.tmp").write(b"{half")

    outcome = run_sweep(planned(), hdfs_place, InProcessSpark)

    assert (6, 6) == (outcome.kept, outcome.simulated)
    assert [] == [name for name in objects(hdfs_place) if name.endswith(".tmp")]


def test_a_study_whose_process_is_killed_on_spark_ends_with_the_files_of_a_folder(
    study_file, place, tmp_path, monkeypatch
):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    longer = ("--set", "simulation.duration_ms=200000")
    here = subprocess.run(study(study_file, "--out", tmp_path / "out", *longer), capture_output=True, timeout=900)
    killed = subprocess.Popen(
        study(study_file, "--out", place, *longer), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    wait_until(lambda: killed.poll() is not None or any(place.glob("**/part-*")), "a part")
    killed.send_signal(signal.SIGKILL)
    killed.wait()

    def goes_on() -> bool:
        there = subprocess.run(study(study_file, "--out", place, *longer), capture_output=True, text=True, timeout=900)
        assert 0 == there.returncode or "was killed there less than" in there.stderr, there.stderr
        return there.returncode == 0

    wait_until(goes_on, "a sweep that goes on")

    assert 0 == here.returncode, here.stderr
    assert files(tmp_path / "out") == without_lock(objects(place))
    assert () == check_dataset(place).damages
