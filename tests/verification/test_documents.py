"""The list of requirements of the first documents: complete, and shown by tests and claims that exist."""

from __future__ import annotations

import pytest

from endive.verification.claims.claims import CLAIMS
from verification.documents.__main__ import describe, write_page
from verification.documents.requirements import DOCUMENTS, Document, Requirement, find_tests, read_document


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_requirement_names_evidence_that_exists(name: str) -> None:
    tests, claims = find_tests(), {claim.name for claim in CLAIMS}
    for requirement in read_document(name).requirements:
        assert requirement.tests or requirement.claims, requirement.lines
        assert [] == [test for test in requirement.tests if test not in tests], requirement.lines
        assert [] == [claim for claim in requirement.claims if claim not in claims], requirement.lines


def test_a_requirement_is_shown_only_if_everything_it_names_passed() -> None:
    requirement = Requirement(lines="1", text="x", tests=("test_a", "test_b"), claims=("c",), difference="")

    assert ("as written", True) == describe(requirement, {"test_a": True, "test_b": True}, {"c": True})
    assert ("**not shown**", False) == describe(requirement, {"test_a": True, "test_b": False}, {"c": True})
    assert ("**not shown**", False) == describe(requirement, {"test_a": True}, {"c": True})
    assert ("**not shown**", False) == describe(requirement, {"test_a": True, "test_b": True}, {"c": False})


def test_the_page_counts_what_is_as_written_what_differs_and_what_is_not_shown() -> None:
    same = Requirement(lines="1", text="same", tests=("test_a",), claims=(), difference="")
    other = Requirement(lines="2", text="other", tests=("test_a",), claims=(), difference="measured")
    lost = Requirement(lines="3", text="lost", tests=("test_b",), claims=(), difference="")

    page, missing = write_page([Document(title="One", requirements=(same, other, lost))], {"test_a": True}, {})

    assert 1 == missing
    assert "**3 requirements: 1 as written, 1 differ and say why, 1 not shown.**" in page
    assert "| 2 | other | differs: measured | `test_a` |" in page
