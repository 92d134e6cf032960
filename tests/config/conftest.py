"""What the configuration's tests share: a file given as text, parsed."""

import textwrap
import tomllib
from collections.abc import Callable

import pytest

from endive.config import SimulationConfig, parse_config


@pytest.fixture
def parse() -> Callable[[str], SimulationConfig]:
    """The configuration that a TOML text describes."""

    def parse_text(text: str) -> SimulationConfig:
        return parse_config(tomllib.loads(textwrap.dedent(text)))

    return parse_text
