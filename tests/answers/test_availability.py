"""Every option and every lever says whether it can be had, and what cannot is never recommended first."""

import re
from pathlib import Path
from typing import get_args

import pytest

from endive.answers.advice.availability_page import availability_page
from endive.answers.advice.levers import HYPOTHETICAL, LEVERS, changes_of
from endive.answers.replicate import run_sample
from endive.answers.variation import base_of
from endive.answers.warnings import collect, from_texts
from endive.config import parse_config
from endive.config.availability import ANY, AVAILABLE, NEEDS, OPTIONS, PROPOSED, hypothetical_notes
from endive.config.sections.catalog import CatalogConfig, ServiceConfig, TableLock
from endive.config.sections.commit import CommitConfig
from endive.config.sections.source import TransactionConfig

ROOT = Path(__file__).resolve().parents[2]
CHOSEN = {
    "catalog.type": CatalogConfig,
    "catalog.scope": CatalogConfig,
    "catalog.service.flavour": ServiceConfig,
    "catalog.service.lock.kind": TableLock,
    "commit.protocol": CommitConfig,
    "transaction.manifest_list_mode": TransactionConfig,
}
WRITERS = [{"name": "w", "arrivals": {"kind": "jobs", "jobs": 4, "period_ms": 10_000.0}}]


@pytest.mark.parametrize(("key", "table"), CHOSEN.items())
def test_every_value_of_an_option_says_whether_it_can_be_had(key, table):
    allowed = set(get_args(table.model_fields[key.rpartition(".")[2]].annotation))

    assert allowed == {option.value for option in OPTIONS if option.key == key}


def test_what_can_be_had_is_one_of_four_words_and_names_a_release_or_a_reason():
    assert {option.had for option in OPTIONS} == {AVAILABLE, NEEDS, HYPOTHETICAL, PROPOSED}
    assert {lever.had for lever in LEVERS} == {AVAILABLE, NEEDS, HYPOTHETICAL}
    assert all(len(option.how) > 10 for option in OPTIONS)


def test_the_page_says_what_the_tables_say():
    assert availability_page() == (ROOT / "docs/reference/availability.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"flavour": "rest", "server_retries": 3}, "server_retries = 3 is hypothetical"),
        ({"flavour": "rest", "batch_ms": 50.0}, "batch_ms = 50.0 is hypothetical"),
    ],
)
def test_an_answer_that_rests_on_what_nobody_has_says_so(keys, says):
    times = {"duration_ms": 60_000.0}
    config = parse_config({"simulation": times, "catalog": {"type": "service", "service": keys}, "source": WRITERS})

    assert any(says in note for note in hypothetical_notes(config))
    assert any(says in warned.text for warned in collect(config, [run_sample(config, 1)]))


@pytest.mark.parametrize(
    ("service", "kept", "is_said"),
    [
        ({"flavour": "rest"}, 1000, True),
        ({"flavour": "rest"}, 0, True),  # all of them: a day of four jobs, every ten seconds
        ({"flavour": "rest"}, 100, False),
        ({"flavour": "rest", "answer_ms_per_mib": 60.0}, 1000, False),
        ({"flavour": "pointer"}, 1000, False),
    ],
)
def test_a_rest_server_whose_long_answers_cost_nothing_is_said_to_be_one(service, kept, is_said):
    catalog = {"type": "service", "service": service}
    table = {"snapshots_kept_max": kept}
    times = {"duration_ms": 86_400_000.0}
    config = parse_config({"simulation": times, "catalog": catalog, "table": table, "source": WRITERS})

    told = dict(from_texts(config)).get("uncharged_answers", "")

    assert is_said == ("up to 0.7 MiB here" in told if kept else "up to 24.1 MiB here" in told)
    assert is_said == bool(told)


@pytest.mark.parametrize(("flavour", "paid"), [("pointer", 60.0), ("rest", None)])
def test_a_rest_catalog_that_is_offered_pays_for_its_answers_and_one_that_is_there_stays_as_it_is(flavour, paid):
    base = base_of({"catalog": {"type": "service", "service": {"flavour": flavour}}, "source": WRITERS})
    names = {"catalog", "rebasing", "grouping"} if flavour == "pointer" else {"rebasing", "grouping"}

    offered = {each.lever.name: each.config for each in changes_of(base, ("catalog", "rebasing", "grouping"))}

    assert dict.fromkeys(names, paid) == {
        name: config.catalog.service.answer_ms_per_mib for name, config in offered.items()
    }


DECISIONS = sorted({*ROOT.glob("docs/guides/*.md")})


def rows_with_availability(page: str) -> list[str]:
    """The last cell of every row below a heading that ends with the question."""
    tables = re.findall(r"^\|.*available\? \|\n\|[-|: ]+\|\n((?:\|.*\n)+)", page, re.MULTILINE)
    return [row.strip("| ").rsplit(" | ", 1)[1] for table in tables for row in table.splitlines()]


def test_every_row_of_a_guides_decision_says_whether_it_can_be_had_and_the_hypothetical_come_last():
    told = {page.stem: rows_with_availability(page.read_text(encoding="utf-8")) for page in DECISIONS}
    told = {name: rows for name, rows in told.items() if rows}
    words = (AVAILABLE, NEEDS, HYPOTHETICAL, "no change")

    assert {"nightly-merge", "twenty-writers", "who-orders-commits"} <= told.keys()
    assert [] == [(name, row) for name, rows in told.items() for row in rows if not row.startswith(words)]
    for rows in told.values():
        had = [row.startswith(HYPOTHETICAL) for row in rows]
        assert sorted(had) == had


def test_a_proposal_is_named():
    proposed = parse_config({"commit": {"protocol": "v4"}, "source": WRITERS})
    assert any("is proposed" in note for note in hypothetical_notes(proposed))
    assert not any(option.value is ANY and option.had == PROPOSED for option in OPTIONS)
