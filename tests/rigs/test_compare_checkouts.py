"""The comparison of two checkouts: what counts as a difference, and what is refused."""

import sys
from pathlib import Path

import pytest

from verification import compare_checkouts

ROOT = Path(__file__).parents[2]


def test_a_figure_that_differs_is_told_with_its_path_and_both_values():
    before = {"txns": {"committed": 7, "aborted": 1}, "fingerprint": "a"}
    after = {"txns": {"committed": 8, "aborted": 1}, "fingerprint": "a"}

    assert ["txns.committed: 7 became 8"] == list(compare_checkouts.differences(before, after))


def test_a_column_that_only_one_checkout_has_is_not_compared():
    assert [] == list(compare_checkouts.differences({"requests": {"log_cas": 0, "read": 1}}, {"requests": {"read": 1}}))


@pytest.mark.lengthy
def test_the_shipped_configurations_are_all_there_and_a_study_stands_for_two_of_its_points():
    names = [name for name, _ in compare_checkouts.configurations(ROOT)]
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "experiments").rglob("*.toml")}

    assert files - {"experiments/growth/s3_sized.toml"} == {name.split(" point ")[0] for name in names}
    assert len(names) == len(set(names))
    assert max(sum(name.split(" point ")[0] == file for name in names) for file in files) == 2


def test_a_folder_without_a_checkout_is_refused(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "argv", ["compare_checkouts", "--before", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        compare_checkouts.main()

    assert 2 == ended.value.code
    assert "--before must name a checkout with src/endive in it" in capsys.readouterr().err
