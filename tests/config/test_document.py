"""Documents are read with limits: what nobody can mean is refused at once, in little memory, with the reason."""

import os
import time
from pathlib import Path

import pytest

from endive.config import load_simulation_config
from endive.config.reading.document import document_in, document_of
from endive.config.reading.overrides import parse_overrides
from endive.errors import ConfigError

SECONDS_MAX = 1.0

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


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_that_explodes_is_refused_at_once(name: str) -> None:
    text, reason = TEXTS[name]
    start_s = time.process_time()

    found = document_of(text)

    assert reason == found
    assert time.process_time() - start_s < SECONDS_MAX


def test_a_pipe_and_a_device_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")

    for path in (tmp_path / "pipe.toml", "/dev/zero"):
        expected = "is not a regular file but a pipe or a device. Give the path of a TOML file."
        assert expected == document_in(path)


def test_a_path_with_a_zero_byte_is_told() -> None:
    assert "cannot be read: embedded null byte." == document_in("a\0b.toml")


@pytest.mark.parametrize(
    ("provider", "what"),
    [
        ("/dev/zero", "not a regular file but a pipe or a device"),
        ("pipe.toml", "not a regular file but a pipe or a device"),
        ("./", "a folder"),
    ],
)
def test_a_profile_that_is_no_file_is_refused(tmp_path: Path, provider: str, what: str) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "a.toml").write_text(f'[storage]\nprovider = "{provider}"')

    with pytest.raises(ConfigError) as caught:
        load_simulation_config(tmp_path / "a.toml")

    advice = "Give the path of a profile (.toml) or the name of a built-in provider."
    assert (f"storage.provider = '{provider}' is {what}. {advice}",) == caught.value.problems


@pytest.mark.parametrize("head", ["", "[table]\n", "[catalog.partitions]\n"])
def test_twenty_thousand_unknown_keys_are_refused_in_a_second(tmp_path: Path, head: str) -> None:
    path = tmp_path / "a.toml"
    path.write_text(head + "\n".join(f"k{i} = 0" for i in range(20_000)))
    start_s = time.process_time()

    with pytest.raises(ConfigError) as caught:
        load_simulation_config(path)

    assert 51 == len(caught.value.problems)
    assert time.process_time() - start_s < SECONDS_MAX


def test_half_a_million_keys_are_too_large_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("\n".join(f"k{i} = 0" for i in range(500_000)))

    with pytest.raises(ConfigError) as caught:
        load_simulation_config(path)

    assert f"'{path}' has 5,888,889 bytes; a TOML file may have 1,048,576." == str(caught.value)


def test_an_override_with_a_key_of_20_000_parts_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_overrides([".".join(["a"] * 20_000) + "=1"])

    quoted = ".".join(["a"] * 29)
    assert f"'{quoted}...' is not a key. Write names joined by dots, as in catalog.num_tables." == str(caught.value)
