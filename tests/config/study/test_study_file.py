"""Study files that cannot be used: every problem in one go, each saying what to do."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from endive.config.study import load_study
from endive.errors import ConfigError

AXIS = "[axes]\ntransaction.retry = [1, 2]\n"
FILES, OVERRIDES = (
    tomllib.loads((Path(__file__).parent / f"refused_{what}.toml").read_text(encoding="utf-8"))
    for what in ("files", "overrides")
)


@pytest.fixture
def problems(tmp_path: Path):
    """``problems(text, "key=value")``: what is wrong with a study file of that text."""

    def read(text: str, *overrides: str) -> list[str]:
        path = tmp_path / "study.toml"
        path.write_text(text)
        with pytest.raises(ConfigError) as caught:
            load_study(path, overrides)
        return list(caught.value.problems)

    return read


@pytest.mark.parametrize(("text", "problem"), FILES.items())
def test_a_problem_is_one_line_that_says_what_and_where(problems, text, problem):
    assert [problem] == problems(text.replace("AXIS\n", AXIS))


def test_all_problems_of_a_file_are_told_at_once(problems):
    found = problems("sedes = 3\n[axes]\ncatalog.num_table = [1]\nload = [1, 2]\n[study]\nname = 'a b'\n")

    assert [line.split(" ")[0] for line in found] == ["sedes", "axes:", "axes:", "study.name"]


@pytest.mark.parametrize(("override", "problem"), OVERRIDES.items())
def test_the_command_line_cannot_set_what_the_study_decides(problems, override, problem):
    text = AXIS + (
        "[[linked]]\ncatalog.num_tables = [1, 2]\ncatalog.object_base_bytes = [1, 2]\n"
        "[derived]\n'table.manifest_bytes' = 'transaction.retry * 100'\n"
    )

    assert [problem] == problems(text, override)


def test_a_base_that_is_not_there_is_told_with_its_path(problems, tmp_path):
    assert problems("base = 'no.toml'\n" + AXIS) == [
        f"'{tmp_path / 'no.toml'}' does not exist. Give the path of a TOML file."
    ]


def test_a_study_that_is_not_toml_is_told(problems):
    (line,) = problems("[axes\n")

    assert "is not valid TOML" in line
