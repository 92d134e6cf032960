"""Files that cannot be read, or that nobody can mean: refused at once, in little memory, by name."""

import os
import time

import pytest

from endive.config import load_simulation_config, parse_config
from endive.config.reading.document import document_of
from endive.config.reading.overrides import parse_overrides
from endive.errors import ConfigError

SECONDS_MAX = 1.0


def problems_of(path):
    """What loading the file says."""
    with pytest.raises(ConfigError) as caught:
        load_simulation_config(path)
    return caught.value.problems


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("none.toml", None, "does not exist. Give the path of a TOML file."),
        (".", None, "is a folder. Give the path of a TOML file."),
        ("file/a.toml", None, "cannot be read: Not a directory."),
        ("pipe.toml", None, "is not a regular file but a pipe or a device. Give the path of a TOML file."),
        ("/dev/zero", None, "is not a regular file but a pipe or a device. Give the path of a TOML file."),
        ("a\0b.toml", None, "cannot be read: embedded null byte."),
        ("a.toml", b'a = "\xe9"', "is not UTF-8 text (byte 5)."),
        ("a.toml", b"[catalog]\nscope = table\n", "is not valid TOML: Invalid value (at line 2, column 9)."),
        ("a.toml", b"[a]\nb = 1\nb = 2\n", "is not valid TOML: Cannot overwrite a value (at line 3, column 6)."),
        ("a.toml", b"x = 0x" + b"f" * 5_000, "has a whole number of more than 300 digits."),
        ("a.toml", b"#" * 2_000_000, "has 2,000,000 bytes; a TOML file may have 1,048,576."),
    ],
)
def test_a_file_that_is_no_toml_is_told_with_the_place(tmp_path, name, content, problem):
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe.toml")
    if content is not None:
        (tmp_path / name).write_bytes(content)

    assert (f"'{tmp_path / name}' {problem}",) == problems_of(tmp_path / name)


TEXTS = {
    "a dotted key of 20,000 parts": (".".join(["a"] * 20_000) + " = 0", "has a key of more than 32 parts."),
    "500 levels of lists": ("a = " + "[" * 500 + "]" * 500, "is nested more than 32 levels deep."),
    "40 levels of tables": ("a = " + "{a = " * 40 + "0" + "}" * 40, "is nested more than 32 levels deep."),
    "a header of 40 parts": ("[" + ".".join(["a"] * 40) + "]", "is nested more than 32 levels deep."),
    "a whole number of 5,000 digits": (
        "a = " + "9" * 5_000,
        "is not valid TOML: Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits; "
        "use sys.set_int_max_str_digits() to increase the limit.",
    ),
    "more text than a megabyte": ("#" * (2**20 + 1), "has 1,048,577 characters; 1,048,576 are allowed."),
}


@pytest.mark.parametrize(("text", "reason"), TEXTS.values(), ids=TEXTS)
def test_a_text_that_explodes_is_refused_at_once(text, reason):
    start_s = time.process_time()

    assert reason == document_of(text)
    assert time.process_time() - start_s < SECONDS_MAX


def test_a_mapping_of_hundreds_of_levels_is_refused():
    deep = 0
    for _ in range(500):
        deep = {"a": deep}

    with pytest.raises(ConfigError, match="The configuration is nested more than 32 levels deep"):
        parse_config({"catalog": deep})


@pytest.mark.parametrize("head", ["", "[table]\n", "[catalog.partitions]\n"])
def test_twenty_thousand_unknown_keys_are_refused_in_a_second(tmp_path, head):
    path = tmp_path / "a.toml"
    path.write_text(head + "\n".join(f"k{i} = 0" for i in range(20_000)))
    start_s = time.process_time()

    assert 51 == len(problems_of(path))
    assert time.process_time() - start_s < SECONDS_MAX


def test_an_override_with_a_key_of_20_000_parts_is_refused():
    with pytest.raises(ConfigError) as caught:
        parse_overrides([".".join(["a"] * 20_000) + "=1"])

    quoted = ".".join(["a"] * 29)
    assert f"'{quoted}...' is not a key. Write names joined by dots, as in catalog.num_tables." == str(caught.value)


@pytest.mark.parametrize("value", [[], "catalog", None, 5])
def test_what_is_no_mapping_is_no_configuration(value):
    with pytest.raises(ConfigError, match="is not a configuration"):
        parse_config(value)


def test_a_key_that_is_no_text_is_told():
    with pytest.raises(ConfigError) as caught:
        parse_config({"catalog": {3: 4}})

    assert ("catalog.3 is not a key. Keys are texts.",) == caught.value.problems


CAPABILITIES = (
    "must list its operations as capabilities = [...]; known are: read, write, cas, append, tail_append, create."
)
ADVICE = "Give the path of a profile (.toml) or the name of a built-in provider."


@pytest.mark.parametrize(
    ("provider", "profile", "problem"),
    [
        ("/dev/zero", None, f"is not a regular file but a pipe or a device. {ADVICE}"),
        ("./", None, f"is a folder. {ADVICE}"),
        ("p.toml", "name = 'x'", CAPABILITIES),
        ("p.toml", "capabilities = ['read', 'swap']", CAPABILITIES),
        ("p.toml", "capabilities = [", "is not valid TOML: Invalid value (at end of document)."),
        (
            "p.toml",
            "capabilities = ['read', 'tail_append']",
            "cannot be simulated: it cannot write, and every commit does. It is there for "
            "programs that call tail_append on the provider itself. "
            "Choose one of: s3, s3x, azure, azurex, gcp, instant, constant.",
        ),
    ],
)
def test_a_profile_that_cannot_be_used_is_told(tmp_path, provider, profile, problem):
    if profile is not None:
        (tmp_path / "p.toml").write_text(profile)
    (tmp_path / "a.toml").write_text(f'[storage]\nprovider = "{provider}"')

    assert (f"storage.provider = '{provider}' {problem}",) == problems_of(tmp_path / "a.toml")


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
        assert catalog == load_simulation_config(str(tmp_path / "a.toml")).catalog.type
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


def test_a_study_is_told_from_a_configuration(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text('seeds = 3\n[study]\nname = "a"\n[axes]\n"catalog.num_tables" = [1, 2]\n')

    (problem,) = problems_of(path)

    assert problem.startswith(f"'{path}' is a study, not a configuration: it has the section 'study'. Run it with")
