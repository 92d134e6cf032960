"""Laws that hold for any configuration: it is refused in words, or it means one thing."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from endive.config import apply_overrides, known_keys, parse_config
from endive.config.keys import SECTIONS
from endive.errors import ConfigError

pytestmark = pytest.mark.lengthy

KEYS = [key for key in known_keys() if not key.startswith("source")]
SOURCE = {"name": "w", "arrivals": {"kind": "closed", "clients": 2}}
VALUES = st.one_of(
    st.booleans(),
    st.integers(-2, 12),
    st.sampled_from([10**400, 2**63, 0.5, 1.0, 100.0, -0.0, float("nan"), float("inf"), 1e300]),
    st.sampled_from(["", "table", "append", "service", "instant", "merge", "spec", "s3x", "constant", "zipf"]),
    st.sampled_from(["fixed", "lognormal", "mixture", "partition", "replace_partitions", "none", "group"]),
    st.lists(st.integers(0, 3), max_size=2),
    st.fixed_dictionaries({"distribution": st.just("fixed"), "ms": st.integers(-1, 5)}),
    st.none(),
)
OVERRIDES = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6)
PLAIN = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from([key.rpartition(".")[2] for key in KEYS]), inner, max_size=4),
    ),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(st.sampled_from([*SECTIONS, "source"]), PLAIN, max_size=4)


def parsed_or_refused(document):
    """The configuration, or None if it was refused in words."""
    try:
        return parse_config(document)
    except ConfigError as error:
        problems = error.problems
    assert problems
    assert [] == [line for line in problems if not line.endswith((".", "?")) or "\n" in line]
    return None


@settings(max_examples=300, deadline=None)
@given(OVERRIDES, st.booleans())
def test_any_values_are_refused_in_words_or_survive_a_round_trip(overrides, has_source):
    try:
        document = apply_overrides({"source": [SOURCE]} if has_source else {}, overrides)
    except ConfigError:
        return
    config = parsed_or_refused(document)

    if config is not None:
        again = parse_config(tomllib.loads(config.to_toml()))
        assert config.config_hash() == again.config_hash()
        assert config.to_toml() == again.to_toml()


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS)
def test_no_document_whatever_ends_in_anything_but_an_answer(document):
    parsed_or_refused(document)
