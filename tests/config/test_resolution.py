"""What files mean: defaults, short forms and other spellings, in ``resolved.txt``, one paragraph for each file.

A paragraph is its name, the file, after ``->`` what keys hold once it is resolved, and after ``==`` another file that
means the same. Files of ``good/`` say the former in comments.
"""

import tomllib
from pathlib import Path

import pytest

from endive.config import SimulationConfig, load_simulation_config, parse_config
from endive.config.sections.commit import CHOICES, PRESETS
from endive.config.sections.distribution import Spec
from endive.config.values import Table

MEANS = "-> "
HERE = Path(__file__).parent
PARAGRAPHS = [
    pytest.param(paragraph, id=paragraph.partition("\n")[0].removeprefix("# "))
    for paragraph in (HERE / "resolved.txt").read_text(encoding="utf-8").strip().split("\n\n")
]
PARAGRAPHS += [
    pytest.param((HERE / "good" / f"{name}.toml").read_text(encoding="utf-8").replace(f"# {MEANS}", MEANS), id=name)
    for name in ("closed_loop", "specification")
]


def value_at(config: SimulationConfig, key: str) -> object:
    """What a dotted key holds, as plain values; ``hash`` is the configuration's."""
    value: object = config.config_hash() if key == "hash" else config
    for part in key.split(".") if key != "hash" else ():
        if isinstance(value, tuple):
            value = next(source for source in value if source.name == part)
        else:
            value = getattr(value, "sources" if part == "source" else part)
    if isinstance(value, Spec):
        return value.to_table()
    return value.model_dump() if isinstance(value, Table) else value


@pytest.mark.parametrize("paragraph", PARAGRAPHS)
def test_a_file_means_what_its_paragraph_says(paragraph):
    text, _, same = paragraph.partition("\n==")
    lines = text.split("\n")
    config = parse_config(tomllib.loads("\n".join(line for line in lines if not line.startswith(MEANS))))

    for line in (line.removeprefix(MEANS) for line in lines if line.startswith(MEANS)):
        key, _, written = line.partition(" = ")
        expected, value = tomllib.loads(f"value = {written}")["value"], value_at(config, key)
        part = {name: value[name] for name in expected} if isinstance(value, dict) else value
        assert (key, expected) == (key, part)
    others = [config.to_toml(), *([same] if "\n==" in paragraph else [])]
    for other in map(parse_config, map(tomllib.loads, others)):
        assert (config, config.config_hash()) == (other, other.config_hash())


@pytest.mark.parametrize("protocol", PRESETS)
def test_a_protocol_fills_in_every_choice(parse, protocol):
    config = parse(f'[commit]\nprotocol = "{protocol}"')

    assert PRESETS[protocol] == {choice: getattr(config.commit, choice) for choice in CHOICES}


def test_a_relative_profile_starts_at_the_folder_of_the_file(tmp_path):
    (tmp_path / "mine.toml").write_text('capabilities = ["read", "write", "cas"]')
    (tmp_path / "study.toml").write_text('[storage]\nprovider = "mine.toml"')

    config = load_simulation_config(tmp_path / "study.toml")

    assert str(tmp_path / "mine.toml") == config.storage.provider


def test_a_latency_of_a_refusal_is_one_of_its_operation(parse):
    config = parse("storage.objects.catalog = {cas = {mean_ms = 1, stddev_ms = 0}, cas_failure = {mu = 1, sigma = 0}}")

    overrides = [(each.object, each.op, each.is_success) for each in config.storage.latency_overrides()]
    assert [("catalog", "cas", True), ("catalog", "cas", False)] == overrides
