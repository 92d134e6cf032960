"""Expressions of a study file: what they compute, and that they are no way into Python."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from endive.config.expression import Expression, code_of, value_of
from endive.errors import ConfigError

VALUES = {"catalog.num_tables": 10, "load": 2.5, "commit.protocol": "merge", "on": True}


def value(text: str) -> object:
    return Expression.parse(text, "derived: x").evaluate(VALUES, "derived: x")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4 * load", 10.0),
        ("catalog.num_tables // 3", 3),
        ("catalog.num_tables % 3", 1),
        ("catalog.num_tables / 4", 2.5),
        ("-load + 1", -1.5),
        ("min(catalog.num_tables, 4)", 4),
        ("max(1, load, 2)", 2.5),
        ("round(load)", 2),
        ("int(load)", 2),
        ("abs(-3)", 3),
        ("1000 if commit.protocol == 'merge' else 1", 1000),
        ("commit.protocol in ['spec', 'merge']", True),
        ("commit.protocol not in ['spec', 'merge']", False),
        ("1 < load <= 2.5", True),
        ("1 < load < 2.5", False),
        ("not on or load > 3", False),
        ("on == true and commit.protocol != 'spec'", True),
        ("'table'", "table"),
        ("7", 7),
    ],
)
def test_an_expression_has_the_value_python_would_give_it(text, expected):
    assert (expected, type(expected)) == (value(text), type(value(text)))


def test_names_are_the_axes_it_reads():
    expression = Expression.parse("catalog.num_tables * load + min(load, 1)", "derived: x")

    assert expression.names == ("catalog.num_tables", "load")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("__import__('os').system('true')", "is not known"),
        ("catalog.__class__.__bases__[0]", "is not known"),
        ("[x for x in (1, 2)]", "is not known"),
        ("(lambda: 1)()", "is not known"),
        ("2 ** 8", "is not known"),
        ("f'{load}'", "is not known"),
        ("open('x')", "is not known"),
        ("min", "'min' is a function"),
        ("load is 3", "write =="),
        ("load +", "is not an expression"),
        ("load; 1", "is not an expression"),
        ("", "is not an expression"),
    ],
)
def test_what_the_language_lacks_is_refused_before_anything_is_computed(text, problem):
    with pytest.raises(ConfigError, match=r"^derived: x = '.*' (cannot be used|is not an expression)") as caught:
        Expression.parse(text, "derived: x")
    assert problem in str(caught.value)


def test_nothing_of_python_can_be_called_even_by_what_was_not_checked():
    with pytest.raises(NameError, match="open"):
        value_of(code_of("open(1)"), {})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("load / 0", "divides by zero"),
        ("commit.protocol * 3", "'commit.protocol' is 'merge', not a number"),
        ("on + 1", "'on' is True, not a number"),
        ("1e308 * 10", "is not a finite number"),
        ("lod + 1", "reads 'lod', which is no axis here. Did you mean 'load'?"),
        ("commit.protocol > 3", "cannot be computed"),
    ],
)
def test_what_cannot_be_computed_is_told_with_the_expression(text, problem):
    with pytest.raises(ConfigError) as caught:
        value(text)
    assert problem in str(caught.value)


def test_an_expression_may_be_a_plain_number_but_not_a_table():
    assert Expression.parse(5, "derived: x").evaluate({}, "") == 5
    with pytest.raises(ConfigError, match="must be an expression in quotes"):
        Expression.parse([1], "derived: x")


@pytest.mark.lengthy
@given(st.text(max_size=60))
def test_no_text_does_anything_but_compute_or_be_refused(text):
    try:
        Expression.parse(text, "x").evaluate(VALUES, "x")
    except ConfigError:
        pass


@given(st.integers(-1000, 1000), st.integers(1, 1000))
def test_whole_numbers_stay_whole(left, right):
    expression = Expression.parse("a * 2 - b // 3", "x")

    assert left * 2 - right // 3 == expression.evaluate({"a": left, "b": right}, "x")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("-" * 990 + "1", "is nested more than 50 levels deep"),
        ("(" * 100 + "1" + ")" * 100 + "+ x" * 60, "is nested more than 50 levels deep"),
        ("round(5, -999999999)", "round() takes from -15 to 15 digits"),
        ("*".join(["catalog.num_tables"] * 40), "a whole number on the way is beyond 9223372036854775808"),
        ("4294967296 * 4294967296", "is beyond 9223372036854775808"),
        ("\ud800", "is not an expression"),
    ],
)
def test_an_expression_that_explodes_is_refused_at_once(text: str, told: str) -> None:
    start_s = time.process_time()

    with pytest.raises(ConfigError) as caught:
        value(text)

    assert told in str(caught.value)
    assert time.process_time() - start_s < 1.0
