"""Streams of chance: known values, even spread, and no trace of how keys and counters are numbered."""

from __future__ import annotations

import math
from functools import cache
from types import ModuleType

import numpy as np
import pytest

from endive import rng
from endive.formats.iceberg import draws as iceberg_draws
from endive.kernel import jitted
from endive.rng import slot, stream_key, substream, uniform

WORD = (1 << 64) - 1
COUNT = 100_000
SIGMAS = 4.5  # fixed seeds: a bound that a sound generator keeps


def mixed(bits: int) -> int:
    """The mixer in whole numbers of any size, as it is published."""

    def rotated(x: int, by: int) -> int:
        return (x >> by | x << (64 - by)) & WORD

    bits ^= rotated(bits, 25) ^ rotated(bits, 47)
    bits = bits * 0x9E6C63D0676A9A99 & WORD
    bits ^= bits >> 23 ^ bits >> 51
    bits = bits * 0x9E6D62D06F6A9A9B & WORD
    return bits ^ bits >> 23 ^ bits >> 51


@jitted
def uniforms(key: int, first: int, stride: int, count: int) -> np.ndarray:
    drawn = np.empty(count)
    for index in range(count):
        drawn[index] = uniform(key, first + index * stride)
    return drawn


@jitted
def over_keys(key: int, is_substream: bool, counter: int, count: int) -> np.ndarray:
    drawn = np.empty(count)
    for index in range(count):
        own = substream(key, index) if is_substream else key + index
        drawn[index] = uniform(own, counter)
    return drawn


SEQUENCES = {
    "consecutive counters": (uniforms, stream_key(42, "a"), 0, 1),
    "counters of consecutive slots": (uniforms, stream_key(42, "a"), slot(1, 2, 0), 1 << 24),
    "counters of consecutive attempts": (uniforms, stream_key(42, "a"), 0, slot(1, 0, 0)),
    "a key of zero": (uniforms, 0, 0, 1),
    "a negative key": (uniforms, -1, 0, 1),
    "negative counters": (uniforms, 7, -COUNT, 1),
    "neighbouring keys": (over_keys, 0, False, 0),
    "substreams": (over_keys, stream_key(42, "a"), True, slot(1, rng.COMMIT, 0)),
    "substreams of key zero": (over_keys, 0, True, 0),
}


@cache
def sequence(name: str) -> np.ndarray:
    """Drawn when it is asked for, and not by whoever only collects the tests."""
    draw, *arguments = SEQUENCES[name]
    return draw(*arguments, COUNT)


def test_known_answers_never_change() -> None:
    assert -5_441_960_021_133_939_703 == stream_key(42, "txn")
    assert 4_000_402_369_364_599_422 == substream(1, 1)
    assert 0.868507579945227 == uniform(1, 1)


@pytest.mark.parametrize("key", [0, 1, -1, 1 << 62, -(1 << 63), (1 << 63) - 1, 123_456_789])
@pytest.mark.parametrize("index", [0, 1, -1, 5, 1 << 24, 1 << 50])
def test_keys_and_draws_follow_the_published_mixer(key: int, index: int) -> None:
    stride = 0x9E3779B97F4A7C15
    draw = mixed((key + index * stride) & WORD)
    child = mixed((mixed(key & WORD ^ 0xD1B54A32D192ED03) + index * stride) & WORD)

    assert ((draw >> 12) + 0.5) * 2.0**-52 == uniform(key, index)
    assert (child ^ 1 << 63) - (1 << 63) == substream(key, index)


def test_a_stream_key_depends_on_the_seed_and_on_the_name() -> None:
    keys = {stream_key(seed, name) for seed in range(100) for name in ("a", "b", "1/a")}

    assert 300 == len(keys)
    assert all(-(1 << 63) <= key < 1 << 63 for key in keys)


def test_a_slot_has_room_for_its_draws_and_meets_no_other() -> None:
    assert ((3 * 64 + 27) * 256 + 5) * 2**24 == slot(3, rng.COMMIT, 5)
    assert rng.DRAWS_PER_SLOT == slot(0, 0, 1) - slot(0, 0, 0)
    assert rng.POSITIONS_MAX * rng.DRAWS_PER_SLOT == slot(0, 1, 0)
    assert rng.STEPS_MAX * slot(0, 1, 0) == slot(1, 0, 0)
    assert slot(1 << 24, 63, 255) < 1 << 63


def steps_of(module: ModuleType) -> list[int]:
    not_steps = {"STEPS_MAX", "POSITIONS_MAX", "DRAWS_PER_SLOT"}
    names = [name for name in vars(module) if name.isupper() and name[0] != "_" and name not in not_steps]
    return [getattr(module, name) for name in names]


def test_every_step_of_the_engines_and_of_a_format_has_a_number_of_its_own() -> None:
    assert [*range(49), *range(50, 59)] == sorted([*steps_of(rng), *steps_of(iceberg_draws)])


@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize("bits", [0, 8, 20])
def test_draws_spread_evenly_in_their_leading_and_in_their_later_bits(name: str, bits: int) -> None:
    cells = 256
    drawn = sequence(name)
    assert 0.0 < drawn.min() < drawn.max() < 1.0
    place = np.floor(np.ldexp(drawn, bits) % 1.0 * cells).astype(int)
    observed = np.bincount(place, minlength=cells)

    chi_square = float(((observed - COUNT / cells) ** 2).sum() / (COUNT / cells))

    assert abs(chi_square - (cells - 1)) < SIGMAS * math.sqrt(2 * (cells - 1))


@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize("lag", [1, 2, 3, 64, 256])
def test_a_draw_says_nothing_about_a_later_one(name: str, lag: int) -> None:
    centred = sequence(name) - 0.5

    correlation = 12.0 * float((centred[:-lag] * centred[lag:]).mean())

    assert abs(correlation) < SIGMAS / math.sqrt(COUNT - lag)


@pytest.mark.parametrize("bit", range(0, 63, 3))
def test_one_bit_of_key_or_counter_changes_the_draw_wholly(bit: int) -> None:
    keys = [stream_key(1, str(index)) for index in range(2_000)]
    flip = 1 << bit
    pairs = [(uniform(key, 9), uniform(key ^ flip, 9)) for key in keys]
    pairs += [(uniform(key, 9), uniform(key, 9 ^ flip)) for key in keys]

    correlation = 12.0 * sum((a - 0.5) * (b - 0.5) for a, b in pairs) / len(pairs)

    assert abs(correlation) < SIGMAS / math.sqrt(len(pairs))
