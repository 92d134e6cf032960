"""Names that were changed: the former ones give the same configuration, study and suite, and a note."""

import pytest

from endive.config import parse_config
from endive.config.reading.former_names import FormerNameWarning, present_path
from endive.errors import ConfigError
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

    with pytest.warns(
        FormerNameWarning, match=rf"^{section}\.{key} = '{former}' is now called '{present}'; use that\.$"
    ):
        found = parse_config(document)

    assert expected.config_hash() == found.config_hash()


def test_a_key_with_its_unit_and_without_must_agree():
    with pytest.raises(ConfigError, match=r"catalog.log_entry_size = 1 and catalog.log_entry_bytes = 2 disagree"):
        parse_config({"catalog": {"type": "append", "log_entry_size": 1, "log_entry_bytes": 2}})


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"append_rate": 50}, "append_rate is not known. Give source.<name>.arrivals.per_s of the source that appends"),
        ({"transaction": {"overwrite_runtime": 5}}, "Give source.<name>.runtime of the source that overwrites."),
        ({"transaction": {"overwrite_interval": 5}}, "Give source.<name>.arrivals.period_ms of the source that"),
        ({"conflict": {"validation_overlap": 0.1}}, "Give source.<name>.real_conflict_probability of the source that"),
        (
            {"transaction": {"data_overlap_probability": 0.1}},
            "transaction.data_overlap_probability is not known. Give real_conflict_probability, of [transaction] or",
        ),
    ],
)
def test_names_of_the_fidelity_report_are_answered_with_the_present_key(document, problem):
    with pytest.raises(ConfigError) as refused:
        parse_config(document)

    assert problem in str(refused.value)


def test_a_study_is_found_at_its_former_path(tmp_path):
    study = tmp_path / "original" / "exp.toml"
    study.parent.mkdir()
    study.touch()

    with pytest.warns(FormerNameWarning, match="use that"):
        found = present_path(tmp_path / "appendix" / "exp.toml")

    assert study == found


def test_a_folder_of_ones_own_with_the_former_name_is_left_alone(tmp_path):
    (tmp_path / "appendix").mkdir()
    own = tmp_path / "appendix" / "exp.toml"
    own.touch()

    assert own == present_path(own)


def test_the_suite_of_claims_answers_to_its_former_name():
    with pytest.warns(FormerNameWarning, match="suite 'seeds' is now called 'claims'"):
        assert "claims" == find_suite("seeds").name
