"""What every test shares: Hypothesis runs that can be repeated, and how the tests are dealt to processes.

Fixtures of the domain live beside the tests that use them.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import settings

# The same examples on every run and every machine; a failure prints what reproduces it.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
# New examples on every run, to go looking for trouble: HYPOTHESIS_PROFILE=explore make test
settings.register_profile("explore", deadline=None, print_blob=True, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# One process has the Spark session and the analysis of the tests' dataset: to make them takes longer than most tests.
ON_ONE_SESSION = (
    "tests/pipeline/analysis/",
    "tests/pipeline/dataset/test_previous_format.py",
    "tests/pipeline/sweep/test_simulate.py",
    "tests/pipeline/sweep/test_sweep_on_spark.py",
    "tests/pipeline/spark/test_table_history.py",
    "tests/pipeline/spark/test_spark_connect.py",
    "tests/pipeline/test_study_command.py",
)
# One process tries the laws: every run that they look at is made once in it.
LAWS = tuple(f"tests/properties/test_{name}.py" for name in ("data_conserved", "history_and_conflicts", "invariants"))
# Begun first, so that no process is left alone with them at the end.
LONGEST = (
    *ON_ONE_SESSION,
    *LAWS,
    "tests/integration/",
    "tests/explore/test_browser",
    "tests/pipeline/",
    "tests/report/test_browser",
    "tests/properties/",
    "tests/config/test_hostile_files.py",
    "tests/verification/",
    "tests/answers/",
    "tests/explore/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first; otherwise as they are found. Whoever asks for the session is among those that share it."""
    alone = {item.path.name for item in items if "spark" in getattr(item, "fixturenames", ())}
    alone -= {item.path.name for item in items if item.nodeid.startswith(ON_ONE_SESSION)}
    if alone:
        raise pytest.UsageError(f"a second Spark session would start for {sorted(alone)}: name them in ON_ONE_SESSION")
    items.sort(key=lambda item: next((at for at, name in enumerate(LONGEST) if item.nodeid.startswith(name)), 99))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``-n``: a file to a process, in the order of above, and one process for all that share something dear."""
    from xdist.scheduler import LoadScopeScheduling

    class Shared(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            together = {"session": ON_ONE_SESSION, "laws": LAWS}
            return next(
                (name for name, files in together.items() if nodeid.startswith(files)), nodeid.partition("::")[0]
            )

    config.option.loadscopereorder = False
    return Shared(config, log)
