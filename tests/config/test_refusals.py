"""Files that are refused, each with every line of its answer: ``refused/*.txt``, one paragraph for each.

A paragraph is its name, the file, and after ``->`` the answer. Rules between keys are tables
(``endive.config.rules``); a row that no paragraph meets fails a test.
"""

import re
import tomllib
from pathlib import Path

import pytest

from endive.config import known_keys, parse_config
from endive.config.rules.contradictions import contradiction_rows
from endive.config.rules.key_effects import keys_of_format, readings, source_readings
from endive.errors import ConfigError

ANSWER = "-> "
PARAGRAPHS = [
    pytest.param(paragraph, id=paragraph.partition("\n")[0].removeprefix("# "))
    for file in sorted((Path(__file__).parent / "refused").glob("*.txt"))
    for paragraph in file.read_text(encoding="utf-8").strip().split("\n\n")
]
ANSWERS = [line for case in PARAGRAPHS for line in case.values[0].split("\n") if line.startswith(ANSWER)]
SENTENCES = [row.says for rows in contradiction_rows() for row in rows]
SENTENCES += [
    row.why
    for row in (*readings(), *source_readings())
    if row.why and not row.is_always_tolerated and not row.table_format
]
PAIR = re.compile(r"no \w+ request goes to a \w+ object")  # one sentence, for every pair that is never sent


@pytest.mark.parametrize("paragraph", PARAGRAPHS)
def test_a_file_is_refused_with_every_line_of_its_answer(paragraph):
    lines = paragraph.split("\n")
    answer = tuple(line.removeprefix(ANSWER) for line in lines if line.startswith(ANSWER))

    with pytest.raises(ConfigError) as refused:
        parse_config(tomllib.loads("\n".join(line for line in lines if not line.startswith(ANSWER))))

    assert answer == refused.value.problems


@pytest.mark.parametrize(
    "sentence", sorted({PAIR.sub("no cas request goes to a manifest object", text) for text in SENTENCES})
)
def test_every_rule_between_keys_has_a_file_that_meets_it(sentence):
    words = [re.escape(part) for part in re.split(r"(?<!\{)\{[^{}]+\}(?!\})", sentence)]
    pattern = re.compile(".+?".join(words).replace(r"\{\{", r"\{").replace(r"\}\}", r"\}"))

    assert [] != [line for line in ANSWERS if pattern.search(line)]


def test_every_key_of_a_rule_is_a_known_key():
    known = set(known_keys())
    keys = [key for row in readings() for key in row.keys if key not in ("commit", "delta")]
    keys += [f"source.*.{key}" for row in source_readings() for key in row.keys]

    assert [] == [key for key in keys if key not in known]


def test_a_format_reads_the_keys_that_the_reference_lists_for_it():
    known = set(known_keys())

    assert "source.<name>.rewritten_manifests" in keys_of_format("iceberg")
    assert "delta" in keys_of_format("delta")
    assert [] == [key for key in keys_of_format("iceberg") if key.replace("<name>", "*") not in {*known, "commit"}]
