"""Every option and every lever says whether it can be had, and what cannot is never recommended first."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from endive.answers.advice.availability_page import availability_page
from endive.answers.advice.levers import HYPOTHETICAL, LEVERS, changes_of
from endive.answers.caveats import caveats_of
from endive.answers.replicate import run_sample
from endive.answers.variation import base_of
from endive.config import parse_config
from endive.config.availability import ANY, AVAILABLE, NEEDS, OPTIONS, PROPOSED, hypothetical_notes
from endive.config.sections.catalog import CatalogConfig, ServiceConfig, TableLock
from endive.config.sections.commit import CommitConfig
from endive.config.sections.source import TransactionConfig

ROOT = Path(__file__).resolve().parents[2]
CHOSEN = (
    ("catalog.type", CatalogConfig, "type"),
    ("catalog.scope", CatalogConfig, "scope"),
    ("catalog.service.flavour", ServiceConfig, "flavour"),
    ("catalog.service.lock.kind", TableLock, "kind"),
    ("commit.protocol", CommitConfig, "protocol"),
    ("transaction.manifest_list_mode", TransactionConfig, "manifest_list_mode"),
)
WRITERS = [{"name": "w", "arrivals": {"kind": "jobs", "jobs": 4, "period_ms": 10_000.0}}]


@pytest.mark.parametrize(("key", "table", "name"), CHOSEN)
def test_every_value_of_an_option_says_whether_it_can_be_had(key, table, name):
    allowed = set(get_args(table.model_fields[name].annotation))

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
    assert any(says in caveat for caveat in caveats_of(config, [run_sample(config, 1)]))


def test_what_is_hypothetical_is_offered_on_request_only_and_a_proposal_is_named():
    base = base_of({"catalog": {"type": "service"}, "source": WRITERS})
    had = [change.lever.had for change in changes_of(base)]

    assert HYPOTHETICAL not in had
    assert HYPOTHETICAL in [change.lever.had for change in changes_of(base, with_hypothetical=True)]
    proposed = parse_config({"commit": {"protocol": "v4"}, "source": WRITERS})
    assert any("is proposed" in note for note in hypothetical_notes(proposed))
    assert not any(option.value is ANY and option.had == PROPOSED for option in OPTIONS)
