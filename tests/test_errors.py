"""The exception tree: one root, and problems that stay apart."""

import pickle

import pytest

from endive import errors
from endive.errors import ConfigError, ConfigurationError, EndiveError


def test_every_exception_has_the_one_root():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and kind.__module__ == errors.__name__]

    assert 11 == len(set(kinds))
    assert [] == [kind for kind in kinds if not issubclass(kind, EndiveError)]


def test_every_exception_is_drawn_in_the_tree():
    kinds = [name for name, kind in vars(errors).items() if isinstance(kind, type) and kind.__name__ == name]

    assert [] == [name for name in kinds if name.endswith("Error") and f"─ {name} " not in errors.__doc__]


def test_problems_stay_apart_are_printed_one_a_line_and_survive_the_trip_back_from_another_process():
    error = pickle.loads(pickle.dumps(ConfigError(["first.", "second."])))

    assert ("first.", "second.") == error.problems
    assert "first.\nsecond." == str(error)
    assert ("only.",) == ConfigError("only.").problems


def test_the_name_of_the_specification_is_an_alias():
    with pytest.raises(ConfigError):
        raise ConfigurationError("x.")
