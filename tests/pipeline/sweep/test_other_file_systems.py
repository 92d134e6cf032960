"""Sweeps into HDFS and into Azure's blobs: the files of a folder, whatever dies."""

from __future__ import annotations

import pytest
from tests.pipeline.contents import contents
from tests.pipeline.file_systems import azure_endpoint, azure_place, hdfs_address, hdfs_place
from tests.pipeline.in_process import InProcessSpark

from endive.pipeline import run_sweep
from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.dataset.check import check_dataset

pytestmark = [pytest.mark.slow]
__all__ = ["azure_endpoint", "azure_place", "hdfs_address", "hdfs_place"]


@pytest.fixture(params=["azure_place", "hdfs_place"])
def place(request):
    return request.getfixturevalue(request.param)


def test_a_sweep_that_lost_its_driver_goes_on_to_the_files_of_a_folder(planned, place, whole):
    lost = InProcessSpark()
    lost.dies_after = 1
    with pytest.raises(KeyboardInterrupt):
        run_sweep(planned(), place, lambda: lost)

    again = run_sweep(planned(), place, InProcessSpark)

    assert (0, 12) == (again.kept, again.simulated)
    assert contents(whole) == contents(place)
    assert () == check_dataset(place).damages
    assert 12 == open_dataset(place).runs.num_rows


def test_files_are_written_read_and_removed(place):
    place.mkdir()
    (place / "a.txt").write(b"one")
    (place / "a.txt").write(b"two")

    assert b"two" == (place / "a.txt").read_bytes()
    assert {place / "a.txt": 3} == place.sizes()
    (place / "a.txt").unlink()
    (place / "a.txt").unlink()
    place.remove_tree()
    assert {} == place.sizes()
