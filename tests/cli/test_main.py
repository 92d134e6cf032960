"""The command itself."""

from __future__ import annotations

from typer.testing import CliRunner

import endive as package
from endive.cli.main import app


def test_version_is_that_of_the_package(endive):
    answer = endive("--version")

    assert (answer.exit_code, answer.stdout) == (0, f"endive {package.__version__}\n")


def test_help_names_every_command(endive):
    answer = endive("--help")

    assert answer.exit_code == 0
    assert all(f" {command} " in answer.stdout for command in ("run", "config", "providers"))


def test_a_shell_can_complete_commands():
    asked = {"_ENDIVE_COMPLETE": "complete_bash", "COMP_WORDS": "endive an", "COMP_CWORD": "1"}
    answer = CliRunner().invoke(app, [], env=asked, prog_name="endive")

    assert (0, "analyze\n") == (answer.exit_code, answer.stdout)


def test_an_unknown_command_ends_with_code_two(endive):
    assert endive("simulate").exit_code == 2
