"""Study files that cannot be used: every problem in one go, each saying what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from endive.config.study import load_study
from endive.errors import ConfigError

AXIS = "[axes]\ntransaction.retry = [1, 2]\n"


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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "The grid is empty: give [axes], [[linked]] or [[point]]. For one run: endive run."),
        ("axis = 1\n" + AXIS, "axis is not known in a study. Did you mean 'axes'?"),
        ("[study]\nnmae = 'x'\n" + AXIS, "study.nmae is not known in a study. Did you mean 'study.name'?"),
        ("study = 5\n" + AXIS, "study = 5 must be a table."),
        (
            "[study]\nname = 'a/b'\n" + AXIS,
            "study.name = 'a/b' names a folder: it must be a letter, then letters, digits, '_', '-' or '.'.",
        ),
        ("[study]\nname = ''\n" + AXIS, "study.name = '' must be a text that is not empty."),
        ("base = 3\n" + AXIS, "base = 3 must be a table, or the path of a TOML file."),
        ("seeds = 0\n" + AXIS, "seeds = 0 must be a count from 1 to 100,000, or a list of different whole numbers."),
        (
            "seeds = [1, 1]\n" + AXIS,
            "seeds = [1, 1] must be a count from 1 to 100,000, or a list of different whole numbers.",
        ),
        ("seeds = []\n" + AXIS, "seeds = [] must be a count from 1 to 100,000, or a list of different whole numbers."),
        (
            "seeds = true\n" + AXIS,
            "seeds = true must be a count from 1 to 100,000, or a list of different whole numbers.",
        ),
        ("seeds = 2\n[study]\nseeds = 3\n" + AXIS, "seeds is given twice, at the top and as study.seeds; keep one."),
        ("axes = 5\n[[point]]\ntransaction.retry = 1", "axes = 5 must be a table."),
        ("linked = 5\n" + AXIS, "linked must be tables, each headed [[linked]]."),
        ("[[linked]]\n" + AXIS, "linked 1 is empty."),
        ("[[point]]\n" + AXIS, "[[point]] is empty; give it the value of at least one key."),
        (
            AXIS + "catalog.num_table = [1]",
            "axes: 'catalog.num_table' is not a key of a configuration. Did you mean 'catalog.num_tables'?",
        ),
        (
            AXIS + "simulation.seed = [1, 2]",
            "axes: 'simulation.seed' cannot be set here: repetitions are set by seeds = .. (a count or a list).",
        ),
        (AXIS + "load = [1, 2]", "axes: 'load' is not a key of a configuration, and no [derived] key uses it."),
        (
            AXIS + "[[linked]]\nload = [1, 2]",
            "axes: 'load' is not a key of a configuration, and no [derived] key uses it.",
        ),
        (AXIS + "catalog.num_tables = [1, 1]", "axes: catalog.num_tables has the value 1 twice."),
        (AXIS + "catalog.num_tables = []", "axes: catalog.num_tables has no values, so the grid would be empty."),
        (AXIS + "[[linked]]\ntransaction.retry = [1]", "axes: transaction.retry is given twice."),
        (AXIS + "[derived]\n'transaction.retry' = '1'", "derived: transaction.retry is given twice."),
        (
            AXIS + "transaction.runtime.mean = [1]\n'transaction.runtime' = [{}]",
            "transaction.runtime.mean lies inside transaction.runtime; give one of them.",
        ),
        (
            AXIS + "[derived]\n'table.manifest_bytes' = 'load'",
            "'load' reads 'load', which is no axis. Known are: transaction.retry, table.manifest_bytes.",
        ),
        (AXIS + "[[drop]]\nwhen = 'x > 1'", "'x > 1' reads 'x', which is no axis. Known are: transaction.retry."),
        (AXIS + "[[drop]]\nbecause = 'x'", '[[drop]] needs when = "..", a condition on the axes.'),
        (
            AXIS + "[set]\ncatalog.nothing = 1",
            "set: 'catalog.nothing' is not a key of a configuration. 'endive config schema' lists them.",
        ),
        (
            AXIS + "[base.simulation]\noutput_path = 'x'",
            "base: simulation.output_path has no effect here; a sweep writes into --out.",
        ),
        (
            AXIS + "[study.report]\nx = 'catalog.type'",
            "study.report.x = 'catalog.type' is no axis. Known are: transaction.retry.",
        ),
        (AXIS + "[study.report]\nmetrics = 'all'", "study.report.metrics = 'all' must be a list of names of figures."),
    ],
)
def test_a_problem_is_one_line_that_says_what_and_where(problems, text, problem):
    assert [problem] == problems(text)


def test_linked_axes_of_different_length_are_refused(problems):
    found = problems("[[linked]]\ntransaction.retry = [1, 2]\ncatalog.num_tables = [1, 2, 3]\n")

    assert found == [
        "linked 1: linked axes need equally many values, but transaction.retry has 2, catalog.num_tables has 3."
    ]


def test_all_problems_of_a_file_are_told_at_once(problems):
    found = problems("sedes = 3\n[axes]\ncatalog.num_table = [1]\nload = [1, 2]\n[study]\nname = 'a b'\n")

    assert [line.split(" ")[0] for line in found] == ["sedes", "axes:", "axes:", "study.name"]


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        (
            "catalog.num_tables=3",
            "--set catalog.num_tables: it is linked with other axes; change the study file instead.",
        ),
        (
            "table.manifest_bytes=3",
            "--set table.manifest_bytes: it is derived with other axes; change the study file instead.",
        ),
        ("transaction.retry=[]", "--set: transaction.retry has no values, so the grid would be empty."),
        (
            "catalog.num_table=3",
            "--set: 'catalog.num_table' is not a key of a configuration. Did you mean 'catalog.num_tables'?",
        ),
        (
            "simulation.seed=3",
            "--set: 'simulation.seed' cannot be set here: repetitions are set by seeds = .. (a count or a list).",
        ),
    ],
)
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
