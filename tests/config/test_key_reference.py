"""The names of all keys, the reference of them, and the page that is this reference."""

import re
from pathlib import Path

import pytest

from endive.config import known_keys, nearest_key, reference_markdown
from endive.config.key_page import NAMED_ONLY, PHRASES
from endive.config.key_reference import KEY_COLUMNS, reference, reference_csv
from endive.config.keys import SECTIONS
from endive.config.sections.source import SourceKeys

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "configuration.md"


def test_the_page_is_what_the_command_prints():
    assert reference_markdown() == PAGE.read_text(encoding="utf-8"), (
        "run: endive config schema --markdown > docs/reference/configuration.md"
    )


def test_the_file_beside_the_page_has_every_word():
    assert reference_csv() == PAGE.with_suffix(".csv").read_text(encoding="utf-8"), (
        "run: endive config schema --csv > docs/reference/configuration.csv"
    )


@pytest.mark.parametrize("name", SECTIONS)
def test_every_key_of_a_section_has_a_row_or_stands_below_one(name):
    (section,) = [section for section in reference() if section.title == f"[{name}]"]
    rows = [row[0].strip("`") for row in section.rows]
    objects = re.compile(
        r"storage\.objects\.(catalog|metadata|manifest_list|manifest|log|commit_file|checkpoint|last_checkpoint|checksum)"
    )
    spelt = [row[0].strip("`") for section in reference() if section.title == "Other spellings" for row in section.rows]
    shared = [f"transaction.{key}" for key in SourceKeys.model_fields]  # said in words
    rows += spelt + shared
    missing = []
    for key in known_keys():
        spoken = objects.sub("storage.objects.<object>", key)
        is_said = any(spoken == row or spoken.startswith(f"{row}.") or row.startswith(f"{spoken}.") for row in rows)
        if key.startswith(f"{name}.") and not is_said:
            missing.append(key)

    assert [] == missing


def test_every_row_says_what_is_allowed_and_what_it_means():
    incomplete = [
        row
        for section in reference()
        if section.columns[0] == "key"
        for row in section.rows
        if not row[3] and not row[0].startswith("**")
    ]

    assert [] == incomplete


def test_the_page_has_every_key_in_a_line_or_by_name():
    page = reference_markdown()
    keys = {row[0].strip("`") for section in reference() if section.columns == KEY_COLUMNS for row in section.rows}
    dotted = {key for key in keys if "." in key and "=" not in key and not key.startswith("**")}
    grouped = ("storage.objects.<object>.", "source.<name>.operation_types.")

    assert [] == sorted(key for key in dotted if f"`{key}`" not in page and not key.startswith(grouped))
    assert set() == (NAMED_ONLY | PHRASES.keys()) - keys


def test_the_page_names_no_part_that_no_file_spells_out():
    assert [] == re.findall(r"<(?:success|component|table|short)>", reference_markdown())


def test_keys_of_every_depth_are_known():
    assert {
        "simulation.seed",
        "catalog.mode",
        "catalog.service.time.median_ms",
        "storage.T_CAS.failure.mu",
        "storage.objects.log.append_failure.ms",
        "transaction.retry_backoff.base_ms",
        "source.*.arrivals.think_ms.mean_ms",
        "source.*.tables.count_zipf",
    } <= set(known_keys())


def test_no_known_key_is_listed_twice_or_holds_a_part_that_no_file_spells_out():
    assert len(set(known_keys())) == len(known_keys())
    assert [] == [key for key in known_keys() if "<" in key]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("catalog.num_table", "catalog.num_tables"),
        ("num_tables", "catalog.num_tables"),
        ("simulation.num_groups", "catalog.num_groups"),
        ("transaction.backoff.base_ms", "transaction.retry_backoff.base_ms"),
        ("source.writers.retri", "source.writers.retry"),
        ("entirely.different.thing", None),
    ],
)
def test_a_misspelt_key_has_a_nearest_one(name, meant):
    assert meant == nearest_key(name)
