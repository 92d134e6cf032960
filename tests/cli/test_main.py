"""The command itself."""

import shlex

import pytest
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


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("simulate", "No such command 'simulate'"),
        ("run DIR/missing.toml", "missing.toml"),
        ("compare DIR/a.toml", "Nothing to compare with"),
        ("check DIR", "is not the folder of a sweep"),
        ("replay DIR", "is not a folder that endive observe wrote"),
        ("measure store memory:/// --out DIR/mine.toml", "Nobody is there to be asked. Give --yes if that may be"),
    ],
)
def test_a_command_that_cannot_be_done_ends_with_code_two_and_writes_nothing(endive, tmp_path, command, told):
    answer = endive(*command.replace("DIR", str(tmp_path)).split())

    assert (2, "") == (answer.exit_code, answer.stdout)
    assert told in answer.stderr
    assert [] == list(tmp_path.iterdir())


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


def test_a_study_is_sent_to_the_command_that_runs_it(endive, tmp_path):
    study = tmp_path / "study.toml"
    study.write_text('[study]\nname = "s"\n[axes]\n"source.w.retry" = [1, 2]\n')
    result = endive("run", study, "--set", "source.w.retry=3")

    assert (2, True) == (result.exit_code, f"Run it with: endive study {study}" in result.stderr)


def test_a_missing_package_is_named_with_the_extra_that_installs_it(endive, tmp_path, monkeypatch):
    def missing(*_):
        raise ModuleNotFoundError("No module named 'pyiceberg'", name="pyiceberg.catalog")

    monkeypatch.setattr("endive.answers.variation.base_of", missing)
    config = tmp_path / "a.toml"
    config.write_text("")
    result = endive("run", config)

    assert 2 == result.exit_code
    assert "This needs pyiceberg.catalog. Install it: pip install 'endive[lake]'" in result.stderr
