"""Elementary functions with the same bits on every machine.

The C library's ``exp`` and ``log`` differ between platforms in the last bit, and one bit decides which of two
txns comes first. These use only + - * / sqrt, comparisons and exact scaling by powers of two, so that the
interpreter, the compiler and every processor agree. Errors stay within a few units of the last place.
"""

from __future__ import annotations

import math

import numpy as np

from endive.kernel import jitted

# ln 2 in two parts: the first has so few bits that its product with any exponent is exact.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_ONE_OVER_LN2 = 1.4426950408889634

# A float64 is 52 bits of mantissa under 11 bits of exponent, which counts from 1023.
_MANTISSA_BITS = 52
_EXPONENT_OF_ONE = 1023
_MANTISSA = (1 << 52) - 1
_BITS_OF_ONE = 1023 << 52
_HALF_OCTAVE = 0x6A09E667F3BCD  # mantissa of sqrt(2)

EXP_ARGUMENT_MAX = 709.0
EXP_ARGUMENT_MIN = -708.0

_HALF_LN_TWO_PI = 0.9189385332046728
_STIRLING = (-691.0 / 360360.0, 1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0)
_TERMS_MAX = 100_000
_NEWTON_STEPS_MAX = 200
_ULP = 2.0**-52

# Of the normal quantile: polynomials near the median, further out and far out, the highest power first.
_CENTRAL_TOP = (
    2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
    1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0,
)  # fmt: skip
_CENTRAL_BOTTOM = (
    5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
    5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0,
)  # fmt: skip
_OUTER_TOP = (
    7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
    3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0,
)  # fmt: skip
_OUTER_BOTTOM = (
    1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
    6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0,
)  # fmt: skip
_FAR_TOP = (
    2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
    2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0,
)  # fmt: skip
_FAR_BOTTOM = (
    2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
    1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0,
)  # fmt: skip


@jitted
def polynomial(coefficients: tuple[float, ...], x: float) -> float:
    """By Horner's scheme, the highest power first."""
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


@jitted
def log(x: float) -> float:
    """Natural logarithm of a positive, finite and normal ``x`` (from 2.3e-308)."""
    bits = np.float64(x).view(np.int64)
    mantissa_bits = bits & _MANTISSA
    lift = 1 if mantissa_bits > _HALF_OCTAVE else 0
    exponent = (bits >> _MANTISSA_BITS) - _EXPONENT_OF_ONE + lift
    mantissa = np.int64(mantissa_bits + _BITS_OF_ONE - (lift << _MANTISSA_BITS)).view(np.float64)
    # ln m = 2 atanh(s), |s| < 0.1716: twelve terms of the series reach the last place. Odd and even terms
    # make two chains, because a processor can then work on both at once.
    s = (mantissa - 1.0) / (mantissa + 1.0)
    w = s * s
    v = w * w
    even = 1.0 / 3.0 + v * (1.0 / 7.0 + v * (1.0 / 11.0 + v * (1.0 / 15.0 + v * (1.0 / 19.0 + v / 23.0))))
    odd = 1.0 / 5.0 + v * (1.0 / 9.0 + v * (1.0 / 13.0 + v * (1.0 / 17.0 + v / 21.0)))
    rest = 2.0 * s * (w * (even + w * odd)) + exponent * _LN2_LOW
    return float(exponent * _LN2_HIGH + (2.0 * s + rest))


@jitted
def log1p(x: float) -> float:
    """ln(1 + x) for ``x`` > -1, accurate where ``x`` is small."""
    whole = 1.0 + x
    return log(whole) + (x - (whole - 1.0)) / whole


@jitted
def _expm1_near_zero(x: float) -> float:
    """exp(x) - 1 for |x| <= 0.35: its series to the 12th power, the terms beyond x**2 / 2 in two chains."""
    w = x * x
    odd = 1.0 / 6.0 + w * (1.0 / 120.0 + w * (1.0 / 5040.0 + w * (1.0 / 362880.0 + w / 39916800.0)))
    even = 1.0 / 24.0 + w * (1.0 / 720.0 + w * (1.0 / 40320.0 + w * (1.0 / 3628800.0 + w / 479001600.0)))
    return x + (0.5 * w + w * x * (odd + x * even))


@jitted
def exp(x: float) -> float:
    """e to the ``x``; infinite above 709, zero below -708."""
    if x > EXP_ARGUMENT_MAX:
        return math.inf
    if x < EXP_ARGUMENT_MIN:
        return 0.0
    exponent = math.floor(x * _ONE_OVER_LN2 + 0.5)
    rest = (x - exponent * _LN2_HIGH) - exponent * _LN2_LOW
    power_of_two = np.int64((exponent + _EXPONENT_OF_ONE) << _MANTISSA_BITS).view(np.float64)
    return float((1.0 + _expm1_near_zero(rest)) * power_of_two)


@jitted
def expm1(x: float) -> float:
    """exp(x) - 1, accurate where ``x`` is small."""
    if -0.35 <= x <= 0.35:
        return _expm1_near_zero(x)
    return exp(x) - 1.0


@jitted
def normal_tail_quantile(tail: float) -> float:
    """The z that a standard normal exceeds with probability ``tail``, 0 < tail <= 1/2; so z >= 0.

    M. J. Wichura, Algorithm AS 241 (PPND16), Applied Statistics 37 (1988): about 1 part in 10**16.
    """
    distance = 0.5 - tail
    if distance <= 0.425:
        r = 0.180625 - distance * distance
        return distance * polynomial(_CENTRAL_TOP, r) / polynomial(_CENTRAL_BOTTOM, r)
    r = math.sqrt(-log(tail))
    if r <= 5.0:
        return polynomial(_OUTER_TOP, r - 1.6) / polynomial(_OUTER_BOTTOM, r - 1.6)
    return polynomial(_FAR_TOP, r - 5.0) / polynomial(_FAR_BOTTOM, r - 5.0)


# ---- the incomplete gamma function, for arguments that a latency can have -----------------------------------------


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
