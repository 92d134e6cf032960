"""Configuration: TOML in, frozen values out; nothing is built here.

``load_simulation_config`` reads a file, ``parse_config`` a mapping. Both return a ``SimulationConfig`` in
which every default is filled in, or raise a ``ConfigError`` that lists every problem.
"""

from endive.config.key_page import reference_markdown
from endive.config.keys import known_keys, nearest_key
from endive.config.reading.load import configuration_file, load_simulation_config, parse_config, read_toml
from endive.config.reading.overrides import apply_overrides, parse_overrides
from endive.config.reading.recipe import Recipe, recipes
from endive.config.simulation_config import SimulationConfig

__all__ = [
    "Recipe",
    "SimulationConfig",
    "apply_overrides",
    "configuration_file",
    "known_keys",
    "load_simulation_config",
    "nearest_key",
    "parse_config",
    "parse_overrides",
    "read_toml",
    "recipes",
    "reference_markdown",
]
