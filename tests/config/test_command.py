"""``endive config``: what each command prints and how it ends."""

import json
import tomllib

import pytest
from typer.testing import CliRunner

from endive.cli.listings.config import app
from endive.config import load_simulation_config, parse_config, reference_markdown
from endive.config.key_reference import reference_csv


@pytest.fixture
def run():
    """Run the command as a shell would: exit code, stdout, stderr."""

    def run_command(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        return result.exit_code, result.stdout, result.stderr

    return run_command


@pytest.fixture
def good(tmp_path):
    """A file without problems."""
    path = tmp_path / "good.toml"
    path.write_text("[catalog]\nnum_tables = 3\n")
    return path


@pytest.fixture
def bad(tmp_path):
    """A file with two problems."""
    path = tmp_path / "bad.toml"
    path.write_text('[simulation]\nseed = -1\n[catalog]\nscope = "tabel"\n')
    return path


def test_check_says_ok_and_the_hash(run, good):
    expected = load_simulation_config(good).config_hash()

    assert (0, f"{good}: OK {expected}\n", "") == run("check", good)


def test_check_tells_every_problem_and_ends_with_2(run, bad):
    problems = (
        f"error: {bad}: simulation.seed = -1 must be a whole number from 0 to 9223372036854775807.\n"
        f"error: {bad}: catalog.scope = 'tabel' is not known. "
        "Choose one of: catalog, group, table, partition. Did you mean 'table'?\n"
    )

    assert (2, "", problems) == run("check", bad)


def test_check_of_several_files_tells_of_each(run, good, bad):
    code, out, err = run("check", bad, good)

    assert 2 == code
    assert out.startswith(f"{good}: OK ")
    assert 2 == err.count(f"error: {bad}: ")


def test_check_takes_overrides(run, good):
    expected = load_simulation_config(good, ["catalog.num_tables=5"]).config_hash()

    assert (0, f"{good}: OK {expected}\n", "") == run("check", good, "--set", "catalog.num_tables=5")


def test_check_of_a_file_that_does_not_exist_is_one_line(run, tmp_path):
    path = tmp_path / "none.toml"

    assert (2, "", f"error: {path}: '{path}' does not exist. Give the path of a TOML file.\n") == run("check", path)


def test_show_prints_a_file_that_means_the_same(run, good):
    code, out, err = run("show", good)

    assert (0, "") == (code, err)
    assert load_simulation_config(good) == parse_config(tomllib.loads(out))
    assert out.startswith(f"# hash {load_simulation_config(good).config_hash()}\n[simulation]\n")


def test_show_prints_json_that_means_the_same(run, good):
    code, out, err = run("show", good, "--json", "--set", "simulation.seed=9")

    assert (0, "") == (code, err)
    assert load_simulation_config(good, ["simulation.seed=9"]) == parse_config(json.loads(out))


def test_show_of_a_bad_file_ends_with_2(run, bad):
    code, out, err = run("show", bad)

    assert (2, "") == (code, out)
    assert 2 == err.count("error: ")


def test_schema_prints_the_page(run):
    assert (0, reference_markdown(), "") == run("schema", "--markdown")
    assert (0, reference_csv(), "") == run("schema", "--csv")


def test_schema_prints_a_key_its_meaning_and_what_it_may_hold(run):
    code, out, err = run("schema", "max_parallel")

    assert (0, "") == (code, err)
    assert (
        "# [storage]\nstorage.max_parallel\n"
        "    Requests one txn sends at once when it reads or writes several objects.\n"
        "    a whole number from 1 to 10000; default: 4\n\n"
    ) == out


def test_schema_finds_a_key_of_a_source_where_transaction_gives_it(run):
    assert "source.<name>.retry\n    Retries after a refused attempt.\n" in run("schema", "transaction.retry")[1]


def test_schema_prints_every_section(run):
    out = run("schema")[1]

    assert 20 == out.count("\n# ") + 1
    assert "catalog.service.workers\n" in out


def test_schema_of_a_key_that_does_not_exist_names_the_nearest(run):
    assert (2, "", "error: No key contains 'catalog.num_table_s'. Did you mean 'catalog.num_tables'?\n") == run(
        "schema", "catalog.num_table_s"
    )
    assert "'endive recipes' lists recipes" in run("schema", "recipe")[2]
