"""Files that cannot be read as TOML: one line each, naming the file."""

import pytest

from endive.config import load_simulation_config, parse_config
from endive.errors import ConfigError


def problems_of(path):
    """What loading the file says."""
    with pytest.raises(ConfigError) as caught:
        load_simulation_config(path)
    return caught.value.problems


CAPABILITIES = (
    "must list its operations as capabilities = [...]; known are: read, write, cas, append, tail_append, create."
)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("none.toml", None, "does not exist. Give the path of a TOML file."),
        (".", None, "is a folder. Give the path of a TOML file."),
        ("file/a.toml", None, "cannot be read: Not a directory."),
        ("a.toml", b'a = "\xe9"', "is not UTF-8 text (byte 5)."),
        ("a.toml", b"[catalog]\nscope = table\n", "is not valid TOML: Invalid value (at line 2, column 9)."),
        ("a.toml", b"[a]\nb = 1\nb = 2\n", "is not valid TOML: Cannot overwrite a value (at line 3, column 6)."),
    ],
)
def test_a_file_that_is_no_toml_is_told_with_the_place(tmp_path, name, content, problem):
    (tmp_path / "file").write_text("")
    if content is not None:
        (tmp_path / name).write_bytes(content)

    assert (f"'{tmp_path / name}' {problem}",) == problems_of(tmp_path / name)


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
        ("name = 'x'", CAPABILITIES),
        ("capabilities = ['read', 'swap']", CAPABILITIES),
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


@pytest.mark.parametrize(
    ("catalog", "needed", "providers"),
    [
        ("cas", "compare-and-swap", "s3, s3x, azure, azurex, gcp, instant, constant"),
        ("append", "compare-and-swap (to compact)", "s3x, azure, azurex, instant, constant"),
        ("service", None, None),
    ],
)
def test_a_profile_without_swaps_cannot_carry_a_catalog_that_swaps(tmp_path, catalog, needed, providers):
    (tmp_path / "p.toml").write_text("capabilities = ['read', 'write', 'append']")
    (tmp_path / "a.toml").write_text(f'[storage]\nprovider = "p.toml"\n[catalog]\ntype = "{catalog}"')

    if needed is None:
        assert catalog == load_simulation_config(tmp_path / "a.toml").catalog.type
    else:
        assert (
            f"catalog.type = '{catalog}' needs a storage provider with {needed}; 'p.toml' has none. "
            f"Choose one of: {providers}.",
        ) == problems_of(tmp_path / "a.toml")


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
