"""The incomplete gamma function and its inverse, built on ``portable`` alone.

Not a general library: arguments are the ones a latency can have, and callers check them.
"""

from __future__ import annotations

import math

from endive.distributions.portable import exp, log, normal_tail_quantile, polynomial
from endive.kernel import jitted

_HALF_LN_TWO_PI = 0.9189385332046728
_STIRLING = (-691.0 / 360360.0, 1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0)
_TERMS_MAX = 100_000
_NEWTON_STEPS_MAX = 200
_ULP = 2.0**-52


@jitted
def log_gamma(x: float) -> float:
    """ln of the gamma function for ``x`` > 0: Stirling's series, after moving ``x`` beyond 12."""
    product = 1.0
    while x < 12.0:
        product *= x
        x += 1.0
    series = polynomial(_STIRLING, 1.0 / (x * x))
    return (x - 0.5) * log(x) - x + _HALF_LN_TWO_PI + series / x - log(product)


@jitted
def _lower_series(shape: float, x: float) -> float:
    """Lower incomplete gamma without its factor x**shape e**-x / gamma(shape + 1); for x < shape + 1."""
    term = 1.0
    total = 1.0
    for n in range(1, _TERMS_MAX):
        term *= x / (shape + n)
        total += term
        if term < total * _ULP:
            break
    return total


@jitted
def _upper_fraction(shape: float, x: float) -> float:
    """Upper incomplete gamma without its factor x**shape e**-x / gamma(shape); for x >= shape + 1 (Lentz)."""
    b = x + 1.0 - shape
    c = 1.0e300
    d = 1.0 / b
    fraction = d
    for n in range(1, _TERMS_MAX):
        a = -n * (n - shape)
        b += 2.0
        d = a * d + b
        c = b + a / c
        d = 1.0 / d
        change = d * c
        fraction *= change
        if abs(change - 1.0) < 2.0 * _ULP:
            break
    return fraction


@jitted
def log_gamma_tail(shape: float, log_x: float, is_upper: bool) -> float:
    """ln of the probability that a gamma of unit scale lies above (or below) e**log_x."""
    x = exp(log_x)
    if x < shape + 1.0:
        log_lower = shape * log_x - x - log_gamma(shape + 1.0) + log(_lower_series(shape, x))
        if not is_upper:
            return log_lower
        return log(max(1.0 - exp(log_lower), _ULP))
    log_upper = shape * log_x - x - log_gamma(shape) + log(_upper_fraction(shape, x))
    if is_upper:
        return log_upper
    return log(max(1.0 - exp(log_upper), _ULP))


@jitted
def gamma_tail_quantile(shape: float, tail: float, is_upper: bool) -> float:
    """Where a gamma of unit scale has probability ``tail`` <= 1/2 above (or below) it.

    Newton's method on ln tail against ln x. Both tails of a gamma are log-concave in ln x, so it converges
    from the start used here: a lower bound, or the Wilson-Hilferty approximation where that is larger.
    """
    z = normal_tail_quantile(tail)
    root = 1.0 - 1.0 / (9.0 * shape) + (z if is_upper else -z) / (3.0 * math.sqrt(shape))
    log_p = log(1.0 - tail) if is_upper else log(tail)
    log_x = (log_p + log_gamma(shape + 1.0)) / shape
    if root > 0.1 and shape >= 0.5:
        log_x = max(log_x, log(shape * root * root * root))
    target = log(tail)
    norm = log_gamma(shape)
    for _ in range(_NEWTON_STEPS_MAX):
        log_tail = log_gamma_tail(shape, log_x, is_upper)
        slope = exp(shape * log_x - exp(log_x) - norm - log_tail)
        step = (target - log_tail) / (-slope if is_upper else slope)
        log_x += min(max(step, -1.0), 1.0)
        if abs(step) < 1e-14 * max(1.0, abs(log_x)):
            break
    return exp(log_x)


@jitted
def normal_tail(z: float) -> float:
    """The probability that a standard normal exceeds ``z``."""
    if z == 0.0:
        return 0.5
    log_half_square = log(0.5 * z * z)
    if z < 0.0:
        return 1.0 - 0.5 * exp(log_gamma_tail(0.5, log_half_square, True))
    return 0.5 * exp(log_gamma_tail(0.5, log_half_square, True))
