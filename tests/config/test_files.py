"""Files that cannot be read as TOML: one line each, naming the file."""

import pytest

from endive.config import load_simulation_config, parse_config
from endive.errors import ConfigError


def problems_of(path):
    """What loading the file says."""
    with pytest.raises(ConfigError) as caught:
        load_simulation_config(path)
    return caught.value.problems


def test_a_file_that_does_not_exist_is_told(tmp_path):
    path = tmp_path / "none.toml"

    assert (f"'{path}' does not exist. Give the path of a TOML file.",) == problems_of(path)


def test_a_folder_is_no_file(tmp_path):
    assert (f"'{tmp_path}' is a folder. Give the path of a TOML file.",) == problems_of(tmp_path)


def test_a_file_below_a_file_cannot_be_read(tmp_path):
    (tmp_path / "a.toml").write_text("")
    path = tmp_path / "a.toml" / "b.toml"

    assert (f"'{path}' cannot be read: Not a directory.",) == problems_of(path)


def test_a_file_that_is_not_utf_8_is_told_with_the_byte(tmp_path):
    path = tmp_path / "latin.toml"
    path.write_bytes(b'a = "\xe9"')

    assert (f"'{path}' is not UTF-8 text (byte 5).",) == problems_of(path)


def test_a_slip_of_syntax_is_told_with_line_and_column(tmp_path):
    path = tmp_path / "slip.toml"
    path.write_text("[catalog]\nscope = table\n")

    assert (f"'{path}' is not valid TOML: Invalid value (at line 2, column 9).",) == problems_of(path)


def test_a_key_given_twice_is_told_with_its_place(tmp_path):
    path = tmp_path / "twice.toml"
    path.write_text("[catalog]\nnum_tables = 1\nnum_tables = 2\n")

    assert (f"'{path}' is not valid TOML: Cannot overwrite a value (at line 3, column 15).",) == problems_of(path)


def test_a_path_may_be_a_text(tmp_path):
    path = tmp_path / "empty.toml"
    path.write_text("")

    assert parse_config({}) == load_simulation_config(str(path))


@pytest.mark.parametrize("value", [[], "catalog", None, 5])
def test_what_is_no_mapping_is_no_configuration(value):
    with pytest.raises(ConfigError, match="is not a configuration"):
        parse_config(value)


def test_a_key_that_is_no_text_is_told():
    with pytest.raises(ConfigError) as caught:
        parse_config({"catalog": {3: 4}})

    assert ("catalog.3 is not a key. Keys are texts.",) == caught.value.problems


@pytest.mark.parametrize(
    ("profile", "problem"),
    [
        (
            "name = 'x'",
            "must list its operations as capabilities = [...]; known are: read, write, cas, append, tail_append, "
            "create.",
        ),
        (
            "capabilities = ['read', 'swap']",
            "must list its operations as capabilities = [...]; known are: read, write, cas, append, tail_append, "
            "create.",
        ),
        ("capabilities = [", "is not valid TOML: Invalid value (at end of document)."),
        (
            "capabilities = ['read', 'tail_append']",
            "cannot be simulated: it cannot write, and every commit does. It is there for "
            "programs that call tail_append on the provider itself. "
            "Choose one of: s3, s3x, azure, azurex, gcp, instant, constant.",
        ),
    ],
)
def test_a_profile_that_cannot_be_used_is_told(tmp_path, profile, problem):
    (tmp_path / "p.toml").write_text(profile)
    (tmp_path / "a.toml").write_text('[storage]\nprovider = "p.toml"')

    assert (f"storage.provider = 'p.toml' {problem}",) == problems_of(tmp_path / "a.toml")


def test_a_profile_that_is_a_folder_is_told(tmp_path):
    (tmp_path / "a.toml").write_text('[storage]\nprovider = "./"')

    expected = (
        "storage.provider = './' is a folder. Give the path of a profile (.toml) or the name of a built-in provider."
    )
    assert (expected,) == problems_of(tmp_path / "a.toml")


def test_a_profile_without_swaps_cannot_carry_a_catalog_that_swaps(tmp_path):
    (tmp_path / "p.toml").write_text("capabilities = ['read', 'write', 'append']")
    (tmp_path / "a.toml").write_text('[storage]\nprovider = "p.toml"')
    (tmp_path / "b.toml").write_text('[storage]\nprovider = "p.toml"\n[catalog]\ntype = "append"')
    (tmp_path / "c.toml").write_text('[storage]\nprovider = "p.toml"\n[catalog]\ntype = "service"')

    assert (
        "catalog.type = 'cas' needs a storage provider with compare-and-swap; 'p.toml' has none. "
        "Choose one of: s3, s3x, azure, azurex, gcp, instant, constant.",
    ) == problems_of(tmp_path / "a.toml")
    assert (
        "catalog.type = 'append' needs a storage provider with compare-and-swap (to compact); 'p.toml' has "
        "none. Choose one of: s3x, azure, azurex, instant, constant.",
    ) == problems_of(tmp_path / "b.toml")
    assert "service" == load_simulation_config(tmp_path / "c.toml").catalog.type


def test_a_folder_that_observe_wrote_stands_for_the_configuration_in_it(tmp_path):
    arrivals = '{ kind = "trace", path = "./trace.csv" }'
    (tmp_path / "endive.toml").write_text(f'[simulation]\nseed = 7\n[[source]]\nname = "a"\narrivals = {arrivals}\n')

    (tmp_path / "trace.csv").write_text("submit_ms\n0\n")

    config = load_simulation_config(tmp_path)

    assert (7, str(tmp_path / "trace.csv")) == (config.simulation.seed, config.sources[0].arrivals.path)


def test_a_whole_number_of_thousands_of_digits_is_refused_in_words(tmp_path):
    path = tmp_path / "huge.toml"
    path.write_text(f"[catalog]\nnum_tables = 0x{'f' * 5_000}\n")

    with pytest.raises(ConfigError, match="has a whole number of more than 300 digits"):
        load_simulation_config(path)


def test_a_study_is_told_from_a_configuration(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text('seeds = 3\n[study]\nname = "a"\n[axes]\n"catalog.num_tables" = [1, 2]\n')

    (problem,) = problems_of(path)

    assert problem.startswith(f"'{path}' is a study, not a configuration: it has the section 'study'. Run it with")
