"""A study whose dataset lies in an object store, with a real Spark: swept by its workers, read over s3a."""

import pytest
from tests.integration.command import ran
from tests.pipeline.contents import contents
from tests.pipeline.object_store import s3_endpoint, s3_store

pytestmark = [pytest.mark.spark, pytest.mark.slow]
__all__ = ["s3_endpoint", "s3_store"]


def test_dataset_analysis_and_report_of_a_store_are_those_of_a_folder(study_file, s3_store, tmp_path):
    """Workers read and write the store themselves, so Spark needs no way of its own to S3."""
    here = ran("study", study_file, "--out", tmp_path / "out", "--master", "local[2]")

    there = ran("study", study_file, "--out", s3_store, "--master", "local[2]")

    assert (0, 0) == (here.returncode, there.returncode), there.stderr
    assert contents(tmp_path / "out") == contents(str(s3_store))
