"""A part of ``make fuzz-config``: mutated files are read, or refused with an error of our own."""

from __future__ import annotations

from verification.fuzz_config import fuzz

CASES = 500  # the rest: make soak
SEED = 11


def test_no_mutated_file_ends_in_an_unknown_error_or_takes_too_long() -> None:
    found = fuzz(CASES, SEED)

    assert [] == found.failures
    assert CASES == found.read + found.refused
