"""One declaration serves the interpreter and compiled code."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pytest

from endive.kernel import element_of, fill, jitted, layout_of, overwrite, records, rule
from endive.record import Float, Int8, Int32, Int64, Record, copied, names_of, record


@record
class Part(Record):
    """A record within another."""

    small: Int8
    large: Int64 = 5


@record
class Whole(Record):
    """Everything a record may hold."""

    count: Int32
    part: Part
    several: Annotated[list[int], "i8", 3]
    share: Float = 0.5


@rule
def change(whole: Whole) -> int:
    """The same text in both worlds."""
    whole.part.large += whole.count
    whole.several[2] = whole.part.large * 2
    return whole.several[2]


whole_at = element_of(Whole)


@jitted
def change_second(address: int) -> int:
    overwrite(whole_at(address, 1), whole_at(address, 0))
    return change(whole_at(address, 1))


def test_a_field_is_zero_unless_the_declaration_says_otherwise():
    assert Whole(0, Part(0, 5), [0, 0, 0], 0.5) == Whole()
    assert ("count", "part", "several", "share") == names_of(Whole)


def test_two_records_share_no_parts():
    first, second = Whole(), Whole()
    first.part.large = 9
    first.several[0] = 9

    assert Whole() == second


def test_a_copy_does_not_follow_the_original():
    part = Part(1, 2)
    other = copied(part)
    part.large = 3

    assert Part(1, 2) == other


def test_a_misspelt_field_fails_in_both_worlds():
    with pytest.raises(AttributeError):
        Part().laarge = 1
    with pytest.raises(ValueError, match="laarge"):
        records(Part, 1)["laarge"] = 1


def test_memory_holds_the_fields_at_their_widths_and_what_they_are_at_first():
    made = records(Whole, 2)

    assert {"count": 4, "part": 16, "several": 24, "share": 8} == {
        name: made.dtype[name].itemsize for name in names_of(Whole)
    }
    assert [5, 5] == list(made["part"]["large"])
    assert layout_of(Whole) == made.dtype


def test_a_rule_gives_the_same_on_an_object_and_in_memory():
    whole = Whole(count=3, several=[1, 2, 0])
    made = records(Whole, 2)
    fill(made[0], whole)

    assert 16 == change(whole) == change_second(made.ctypes.data)
    assert [5, 8] == list(made["part"]["large"])
    np.testing.assert_array_equal([1, 2, 16], made["several"][1])
