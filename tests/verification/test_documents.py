"""The list of requirements of the first documents: complete, and shown by tests, claims and runs that exist."""

from __future__ import annotations

import re

import pytest

from verification.documents.__main__ import RUNS, describe, write_page
from verification.documents.requirements import (
    DISAGREE,
    DOCUMENTS,
    GROUNDS,
    MEASURED,
    NOTE,
    Document,
    Requirement,
    find_tests,
    read_document,
)
from verification.suites.claims.claims import CLAIMS

LINES_OF_ANOTHER = re.compile(r"\b(internals|plan|specification|report|design) \d+")
RECORDED = "tests/verification/", "tests/transaction/test_retry.py"  # recordings of Iceberg, and pauses of its source


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_requirement_names_evidence_that_exists(name: str) -> None:
    tests, claims = find_tests(), {claim.name for claim in CLAIMS}
    for requirement in read_document(name).requirements:
        assert requirement.tests or requirement.claims, requirement.lines
        assert [] == [test for test in requirement.tests if test not in tests], requirement.lines
        assert [] == [claim for claim in requirement.claims if claim not in claims], requirement.lines
        assert [] == [run for run in requirement.runs if run not in RUNS], requirement.lines


@pytest.mark.parametrize("name", DOCUMENTS)
def test_whatever_differs_was_measured_or_the_documents_disagree(name: str) -> None:
    tests = find_tests()
    for requirement in read_document(name).requirements:
        assert requirement.ground in ("", *GROUNDS), requirement.lines
        if requirement.ground == MEASURED:
            is_recorded = any(tests[test].startswith(RECORDED) for test in requirement.tests)
            assert requirement.claims or is_recorded, requirement.lines
        if requirement.ground == DISAGREE:
            assert LINES_OF_ANOTHER.search(requirement.words), requirement.lines


def test_a_requirement_is_shown_only_if_everything_it_names_passed() -> None:
    requirement = Requirement(lines="1", text="x", tests=("test_a", "test_b"), claims=("c",), runs=("r",))
    passed = {"test_a": True, "test_b": True, "c": True, "r": True}

    assert ("as written", True) == describe(requirement, passed)
    for name in passed:
        assert ("**not shown**", False) == describe(requirement, passed | {name: False})
        assert ("**not shown**", False) == describe(requirement, {key: True for key in passed if key != name})


def test_the_page_counts_what_is_as_written_what_differs_and_what_is_not_shown() -> None:
    same = Requirement(lines="1", text="same", tests=("test_a",), claims=())
    noted = Requirement(lines="2", text="noted", tests=("test_a",), claims=(), ground=NOTE, words="in `merge`")
    other = Requirement(lines="3", text="other", tests=("test_a",), claims=(), ground=MEASURED, words="so")
    lost = Requirement(lines="4", text="lost", tests=("test_b",), claims=(), ground=DISAGREE, words="plan 1")

    page, rows, missing = write_page([Document(title="One", requirements=(same, noted, other, lost))], {"test_a": True})

    assert 1 == missing
    assert (
        "**4 requirements: 2 as written; 1 differ because something was measured and 0 because the documents disagree; "
        "1 not shown.**" in page
    )
    assert ("One", "2", "noted", "as written: in `merge`", "test_a") == rows[1]
    shown = [line for line in page.splitlines() if line.startswith("| One")]
    noted = "| One | 2 | noted | as written: in `merge` |"
    assert [noted, "| One | 3 | other | differs, measured: so |", "| One | 4 | lost | **not shown** |"] == shown
