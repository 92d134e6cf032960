"""Portable functions: as good as the C library's, and the same bits from interpreter and compiler."""

import math
from collections.abc import Callable
from statistics import NormalDist

import pytest

from endive.distributions import portable
from endive.distributions.portable import log_gamma, normal_tail
from endive.kernel import Jitted
from endive.rng import uniform

COUNT = 4_000
RELATIVE_ERROR_MAX = 2e-15


def spread(key: int, low: float, high: float) -> list[float]:
    return [low + (high - low) * uniform(key, index) for index in range(COUNT)]


def powers(key: int, low: float, high: float) -> list[float]:
    """Numbers whose decimal exponent is evenly spread."""
    return [10.0**exponent for exponent in spread(key, low, high)]


def normal_above(tail: float) -> float:
    return -NormalDist().inv_cdf(tail)


CASES: dict[str, tuple[Jitted[[float], float], Callable[[float], float], list[float]]] = {
    "log": (portable.log, math.log, powers(1, -307, 308) + spread(2, 0.5, 2.0)),
    "log near one": (portable.log, math.log, [1.0 + x for x in powers(3, -15, -1)]),
    "log1p": (portable.log1p, math.log1p, spread(4, -0.99, 9.0) + [-x for x in powers(5, -20, -1)]),
    "exp": (portable.exp, math.exp, spread(6, -708.0, 709.0) + spread(7, -1.0, 1.0)),
    "expm1": (portable.expm1, math.expm1, spread(8, -40.0, 40.0) + [-x for x in powers(9, -20, 0)]),
    "normal quantile": (portable.normal_tail_quantile, normal_above, spread(10, 1e-9, 0.5)),
    "normal quantile far out": (portable.normal_tail_quantile, normal_above, powers(11, -300, -1)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_function_agrees_with_the_c_library_to_the_last_places(name: str) -> None:
    ours, theirs, arguments = CASES[name]

    errors = [abs(ours(x) - theirs(x)) / abs(theirs(x)) for x in arguments]

    assert max(errors) < RELATIVE_ERROR_MAX


@pytest.mark.parametrize("name", CASES)
def test_interpreter_and_compiler_give_the_same_bits(name: str) -> None:
    ours, _, arguments = CASES[name]

    assert [ours.py_func(x) for x in arguments] == [ours(x) for x in arguments]


def test_exact_values() -> None:
    assert 0.0 == portable.log(1.0)
    assert 1.0 == portable.exp(0.0)
    assert 0.0 == portable.expm1(0.0)
    assert 0.0 == portable.log1p(0.0)
    assert 0.0 == portable.normal_tail_quantile(0.5)
    assert math.inf == portable.exp(709.5)
    assert 0.0 == portable.exp(-709.0)


def test_log_and_exp_have_known_bits() -> None:
    assert "0x1.26bb1bbb55516p+1" == portable.log(10.0).hex()
    assert "0x1.5bf0a8b145769p+1" == portable.exp(1.0).hex()
    assert "0x1.2a12bdd2e03bep-1" == portable.expm1(0.4588).hex()
    assert "0x1.f5c0331eeff82p+0" == portable.normal_tail_quantile(1.0 - 0.975).hex()


def test_the_normal_tail_is_half_the_complementary_error_function() -> None:
    for z in spread(12, -8.0, 37.0):
        expected = 0.5 * math.erfc(z / math.sqrt(2.0))
        assert abs(normal_tail(z) - expected) < 1e-12 * expected
    assert 0.5 == normal_tail(0.0)


def test_the_normal_quantile_undoes_the_normal_tail() -> None:
    for tail in powers(13, -280, -0.31):
        assert abs(normal_tail(portable.normal_tail_quantile(tail)) / tail - 1.0) < 2e-12


def test_log_gamma_agrees_with_the_c_library() -> None:
    for x in [*spread(14, 0.1, 20.0), *spread(15, 20.0, 20_000.0)]:
        assert abs(log_gamma(x) - math.lgamma(x)) < 1e-14 * max(1.0, abs(math.lgamma(x)))
