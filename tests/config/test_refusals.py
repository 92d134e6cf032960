"""Files that are refused, each with every line of its answer, and files that are accepted with notes.

A paragraph of ``refused/*.txt`` or ``noted.txt`` is its name, the file, and the answer: problems after ``->``, notes
after ``~>``.
"""

import tomllib
import warnings
from pathlib import Path

import pytest

from endive.config import parse_config
from endive.config.effects import keys_of_format
from endive.config.keys import known_keys
from endive.errors import ConfigError

FOLDER = Path(__file__).parent


def paragraphs(*files):
    return [
        pytest.param(paragraph, id=paragraph.partition("\n")[0].removeprefix("# "))
        for file in files
        for paragraph in file.read_text(encoding="utf-8").strip().split("\n\n")
    ]


def read(paragraph, mark):
    lines = paragraph.split("\n")
    answer = [line.removeprefix(mark) for line in lines if line.startswith(mark)]
    return tomllib.loads("\n".join(line for line in lines if not line.startswith(mark))), answer


@pytest.mark.parametrize("paragraph", paragraphs(*sorted((FOLDER / "refused").glob("*.txt"))))
def test_a_file_is_refused_with_every_line_of_its_answer(paragraph):
    document, answer = read(paragraph, "-> ")

    with pytest.raises(ConfigError) as refused:
        parse_config(document)

    assert answer == list(refused.value.problems)


@pytest.mark.parametrize("paragraph", paragraphs(FOLDER / "noted.txt"))
def test_keys_without_effect_are_accepted_with_one_note_for_each_switch(paragraph):
    document, answer = read(paragraph, "~> ")

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        parse_config(document)

    assert answer == [str(warning.message) for warning in told]


def test_a_format_reads_the_keys_that_the_reference_lists_for_it():
    known = set(known_keys())

    assert "source.<name>.rewritten_manifests" in keys_of_format("iceberg")
    assert "delta" in keys_of_format("delta")
    assert [] == [key for key in keys_of_format("iceberg") if key.replace("<name>", "*") not in {*known, "commit"}]
