"""A short fixed round of ``make chaos``: whatever happens to a sweep, going on gives what it would have given."""

from __future__ import annotations

import os
import random
import resource
import signal
import time
from pathlib import Path

import pytest
from tests.pipeline.in_process import InProcessSpark
from tests.waiting import PATIENCE_S

from endive.cli.console import _answer_signals
from endive.config.study import load_study
from endive.errors import EndiveError
from endive.pipeline import PlannedStudy, run_sweep
from verification.chaos import FILE_BYTES_MAX, LOCAL_FAULTS, Arena, play

pytestmark = pytest.mark.lengthy

SEED = 17
SWEEP_S = 1.0
STUDY = """
[study]
name = "chaos"
seeds = 2

[axes]
"transaction.inter_arrival.scale" = [500, 1000, 2000]

[base.simulation]
duration_ms = 10_000

[base.transaction]
runtime = { mean = 1_000, sigma = 0.5, min = 200 }
"""


class Forked:
    """A sweep in a copy of this process: quicker to start than a new one, and as easy to kill."""

    def __init__(self, study: Path, folder: Path, *, repair: bool = False, full_disk: bool = False) -> None:
        self.pid = os.fork()
        if self.pid == 0:
            os._exit(self._sweep(study, folder, repair, full_disk))

    @staticmethod
    def _sweep(study: Path, folder: Path, repair: bool, full_disk: bool) -> int:
        if full_disk:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, FILE_BYTES_MAX))
        try:
            with _answer_signals():
                planned = PlannedStudy.of(load_study(study))
                run_sweep(planned, folder, InProcessSpark, engine="reference", repairs=repair)
        except EndiveError:
            return 2
        except KeyboardInterrupt:
            return 130
        except BaseException:
            return 70
        return 0

    def wait(self, timeout: float | None = None) -> int:
        deadline_s = time.monotonic() + (timeout or PATIENCE_S)
        while time.monotonic() < deadline_s:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        raise TimeoutError


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    scratch = tmp_path_factory.mktemp("chaos")
    (scratch / "chaos.toml").write_text(STUDY)
    run_sweep(PlannedStudy.of(load_study(scratch / "chaos.toml")), scratch / "out", InProcessSpark, engine="reference")
    return scratch / "chaos.toml", scratch / "out"


@pytest.mark.parametrize("name", LOCAL_FAULTS)
def test_a_sweep_that_was_broken_goes_on_to_the_same_dataset(
    undisturbed: tuple[Path, Path], tmp_path: Path, name: str
) -> None:
    study, expected = undisturbed
    arena = Arena(
        tmp_path / "out",
        lambda folder, **how: Forked(study, folder, **how),
        random.Random(f"{SEED}/{name}"),
        longest_s=SWEEP_S,
    )

    assert None is play(name, LOCAL_FAULTS[name], arena, expected)
