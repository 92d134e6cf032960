"""The command itself."""

from __future__ import annotations

import os
import subprocess
import sys

from endive.results import package_version


def test_version_is_that_of_the_package(endive):
    answer = endive("--version")

    assert (answer.exit_code, answer.stdout) == (0, f"endive {package_version()}\n")


def test_help_names_every_command(endive):
    answer = endive("--help")

    assert answer.exit_code == 0
    assert all(f" {command} " in answer.stdout for command in ("run", "config", "providers"))


def test_an_unknown_command_ends_with_code_two(endive):
    assert endive("simulate").exit_code == 2


def test_loading_the_command_loads_neither_arrow_nor_numba():
    program = (
        "import sys, endive.cli.main\n"
        "print([name for name in ('pyarrow', 'numba', 'pyspark') if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )

    assert answer.stdout == "[]\n"
