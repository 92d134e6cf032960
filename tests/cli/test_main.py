"""The command itself."""

import shlex

import typer
import typer.core
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


def test_every_command_and_option_is_described_by_a_sentence_and_arguments_are_capitals():
    for name, command in _leaves(typer.main.get_command(app)):
        assert _is_sentence(command.help.split("\n\n")[0]), name
        for parameter in command.params:
            if isinstance(parameter, typer.core.TyperArgument):
                assert parameter.metavar.isupper(), name
            else:
                assert _is_sentence(parameter.help), f"{name}: {parameter.opts[-1]}"


def _is_sentence(text: str) -> bool:
    return text[0].isupper() and text[-1] in ".?"


def test_the_example_of_a_command_uses_what_the_command_has():
    group = typer.main.get_command(app)
    for name, command in group.commands.items():
        words = shlex.split(command.epilog.removeprefix("Example: "))
        assert ["endive", name] == words[:2]
        leaf = command.commands[words[2]] if hasattr(command, "commands") else command
        known = {option for parameter in leaf.params for option in parameter.opts}
        assert set() == {word for word in words if word.startswith("--")} - known


def _leaves(group):
    for name, command in group.commands.items():
        yield from _leaves(command) if hasattr(command, "commands") else ((name, command),)
