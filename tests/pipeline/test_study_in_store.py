"""A study whose dataset lies in an object store, with a real Spark: swept by its workers, read over s3a."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.pipeline.object_store import s3_endpoint, s3_store
from tests.pipeline.sweep.test_sweep_to_store import files, objects

pytestmark = [pytest.mark.spark, pytest.mark.slow]
__all__ = ["s3_endpoint", "s3_store"]


def endive(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "endive.cli.main", *(str(each) for each in arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=900, env=environment)


def test_dataset_analysis_and_report_of_a_store_are_those_of_a_folder(study_file, s3_store, tmp_path):
    """Workers read and write the store themselves, so Spark needs no way of its own to S3."""
    here = endive("study", study_file, "--out", tmp_path / "out", "--master", "local[2]")

    there = endive("study", study_file, "--out", s3_store, "--master", "local[2]")

    assert (0, 0) == (here.returncode, there.returncode), there.stderr
    assert files(tmp_path / "out") == objects(s3_store)
