"""Names that were changed: the former ones give the same configuration, study and suite, and a note."""

import pytest

from endive.config import parse_config
from endive.config.reading.former_names import ConfigNote, present_path
from endive.verification import find_suite


@pytest.mark.parametrize(
    ("section", "key", "former", "present"),
    [("storage", "vintage", "seeds", "original"), ("catalog", "append_preset", "seed004", "append_design")],
)
def test_a_former_value_is_the_present_one_and_says_so(section, key, former, present):
    document = {"storage": {"provider": "s3x"}, "catalog": {"type": "append"}}
    document[section][key] = present
    expected = parse_config(document)
    document[section][key] = former

    with pytest.warns(ConfigNote, match=rf"^{section}\.{key} = '{former}' is now called '{present}'; use that\.$"):
        found = parse_config(document)

    assert expected.config_hash() == found.config_hash()


def test_a_study_is_found_at_its_former_path(tmp_path):
    study = tmp_path / "original" / "exp.toml"
    study.parent.mkdir()
    study.touch()

    with pytest.warns(ConfigNote, match="use that"):
        found = present_path(tmp_path / "appendix" / "exp.toml")

    assert study == found


def test_a_folder_of_ones_own_with_the_former_name_is_left_alone(tmp_path):
    (tmp_path / "appendix").mkdir()
    own = tmp_path / "appendix" / "exp.toml"
    own.touch()

    assert own == present_path(own)


def test_the_suite_of_claims_answers_to_its_former_name():
    with pytest.warns(ConfigNote, match="suite 'seeds' is now called 'claims'"):
        assert "claims" == find_suite("seeds").name
