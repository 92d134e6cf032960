"""Studies small enough to sweep in a test, and one Spark session for all tests that need a real one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.pipeline.in_process import InProcessSpark
from tests.pipeline.swept import analysis, dataset, sweep_into, swept

from endive.config.study import load_study
from endive.pipeline import PlannedStudy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# 3 loads x 2 policies x 2 seeds: twelve runs of some tens of txns each.
STUDY = """
[study]
name = "small"
question = "Does a retry policy pay?"
seeds = 2

[study.report]
x = "transaction.inter_arrival.scale"
metrics = ["success_rate"]

[axes]
"transaction.inter_arrival.scale" = [500, 1000, 2000]
"transaction.retry_backoff.policy" = ["none", "iceberg"]

[base.simulation]
duration_ms = 20_000

[base.transaction]
runtime = { mean = 1_000, sigma = 0.5, min = 200 }
"""

__all__ = ["analysis", "dataset", "swept"]

MakeStudy = Callable[..., PlannedStudy]


@pytest.fixture
def study_file(tmp_path: Path) -> Path:
    """The small study as a file."""
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture
def planned(study_file: Path) -> MakeStudy:
    """``planned("key=value", seeds=3)``: the small study, changed and expanded."""

    def make(*overrides: str, seeds: int | None = None, path: Path = study_file) -> PlannedStudy:
        return PlannedStudy.of(load_study(path, overrides, seeds))

    return make


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the small study, swept without a fault. Look, but do not touch."""
    scratch = tmp_path_factory.mktemp("whole")
    sweep_into(scratch / "dataset", STUDY, scratch)
    return scratch / "dataset"


@pytest.fixture
def out(whole: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may damage."""
    return Path(shutil.copytree(whole, tmp_path / "out"))


@pytest.fixture
def in_process() -> InProcessSpark:
    """Stands in for Spark where a test is about what a sweep does with it."""
    return InProcessSpark()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever asks for a session, or for something made with one, is a test of Spark."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One session of two cores for all tests of the process."""
    from endive.pipeline import make_session

    scratch = tmp_path_factory.mktemp("spark")
    conf = {"spark.sql.warehouse.dir": str(scratch / "warehouse"), "spark.local.dir": str(scratch)}
    session = make_session("endive tests", master="local[2]", conf=conf)
    yield session
    session.stop()


class Shared:
    """The session of the tests for a command, which must not stop it for good; what was asked of it."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self.names: list[str] = []
        self.conf_asked: dict[str, str] | None = None
        self.is_stopped = False

    def make(self, name: str, *, conf: dict[str, str] | None = None, **_: object) -> Shared:
        self.names.append(name)
        self.conf_asked = conf
        return self

    def __getattr__(self, name: str) -> object:
        return getattr(self._spark, name)

    def stop(self) -> None:
        self.is_stopped = True


@pytest.fixture
def shared(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Shared:
    """Commands run on the session of the tests."""
    found = Shared(spark)
    monkeypatch.setattr("endive.pipeline.spark.session.make_session", found.make)
    return found
