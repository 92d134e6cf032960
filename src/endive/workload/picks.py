"""Weighted picks without replacement, and a random subset of them to write.

The classes a user sees are in ``endive.workload.selectors``; what a source picks, and under which names its draws go,
is in ``endive.workload.choice``.

Weights travel as *tails*: ``tails[i]`` is the sum of the weights of ``i`` and of everything after it. A
steep Zipf keeps its small weights that way, where ``cumulative[i] - cumulative[i - 1]`` would lose them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import frexp, ldexp
from typing import Final

from endive.distributions.portable import exp, log
from endive.kernel import Floats, Ints, MutableInts, rule
from endive.rng import uniform

TINY: Final = 1e-290
TRIES_MAX: Final = 32  # rejections of one pick before the remaining weight is scanned
COUNTERS_PER_PICK: Final = 33  # TRIES_MAX tries and the draw of the scan

# Arrays of a rule: tuples and lists in the interpreter, NumPy arrays in compiled code.


# ---- weights ---------------------------------------------------------------------------------------


def tails_of(weights: Sequence[float]) -> tuple[float, ...]:
    """Return the tails of weights, summed from the last one up; weights near the smallest float are scaled up first."""
    tails = [0.0] * len(weights)
    mass = 0.0
    most = max(weights, default=0.0)
    exponent = -frexp(most)[1] if most < TINY else 0  # of a power of two, so that nothing is rounded
    for index in range(len(weights) - 1, -1, -1):
        mass += ldexp(weights[index], exponent)
        tails[index] = mass
    return tuple(tails)


@lru_cache(maxsize=64)
def zipf_tails(total: int, alpha: float) -> tuple[float, ...]:
    """Tails of the weights ``rank ** -alpha``, rank 1 to ``total``; uniform for ``alpha = 0``."""
    return tails_of([exp(-alpha * log(float(rank))) for rank in range(1, total + 1)])


def truncated_zipf_pmf(total: int, alpha: float) -> tuple[float, ...]:
    """Probability of each of ``total`` ranks, proportional to ``rank ** -alpha``."""
    tails = (*zipf_tails(total, alpha), 0.0)
    return tuple((tails[index] - tails[index + 1]) / tails[0] for index in range(total))


# ---- rules -----------------------------------------------------------------------------------------


@rule
def pick_index(tails: Floats, start: int, count: int, u: float) -> int:
    """One of ``count`` indices, by weight: the last whose tail is above ``u`` of the whole.

    An index without weight is never picked: its tail equals the next one's.
    """
    target = u * tails[start]
    low = 0
    high = count - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if tails[start + middle] > target:
            low = middle
        else:
            high = middle - 1
    return low


@rule
def pick_count(fixed_count: int, tails: Floats, start: int, total: int, key: int, counter: int) -> int:
    """How many of ``total``: ``fixed_count``, or by the tails over 1..total if that is 0."""
    if fixed_count > 0:
        return fixed_count
    if total == 1:
        return 1
    return 1 + pick_index(tails, start, total, uniform(key, counter))


@rule
def written_count(count: int, write_fraction: float) -> int:
    """How many of ``count`` are written as well as read: at least one (refactoring specification section 4.2)."""
    return max(1, int(count * write_fraction))


@rule
def rank_in(out: Ints, out_start: int, filled: int, item: int) -> int:
    """Position of the first of ``filled`` ascending items that is not below ``item``."""
    low = 0
    high = filled
    while low < high:
        middle = (low + high) >> 1
        if out[out_start + middle] < item:
            low = middle + 1
        else:
            high = middle
    return low


@rule
def scan_remaining(
    tails: Floats, start: int, total: int, out: Ints, out_start: int, filled: int, target: float
) -> tuple[float, int]:
    """Add the weights not yet picked, last index first, until their sum is above ``target``.

    Returns the sum and the index it stopped at; with an infinite target, the whole remaining weight.
    """
    mass = 0.0
    after = 0.0
    item = -1
    picked = filled - 1
    for index in range(total - 1, -1, -1):
        tail = tails[start + index]
        if picked >= 0 and out[out_start + picked] == index:
            picked -= 1
        else:
            item = index
            mass += tail - after
            if mass > target:
                break
        after = tail
    return mass, item


@rule
def pick_another(
    tails: Floats, start: int, total: int, key: int, counter: int, out: Ints, out_start: int, filled: int
) -> int:
    """One index, by weight among those not yet picked: exact, however little weight is left."""
    for attempt in range(TRIES_MAX):
        item = pick_index(tails, start, total, uniform(key, counter + attempt))
        rank = rank_in(out, out_start, filled, item)
        if rank == filled or out[out_start + rank] != item:
            return item
    whole, _ = scan_remaining(tails, start, total, out, out_start, filled, float("inf"))
    target = uniform(key, counter + TRIES_MAX) * whole
    _, item = scan_remaining(tails, start, total, out, out_start, filled, target)
    return item


@rule
def pick_distinct(
    tails: Floats, start: int, total: int, count: int, key: int, counter: int, out: MutableInts, out_start: int
) -> None:
    """Pick ``count`` of ``total`` one after another without replacement; leaves them ascending in ``out``.

    Pick number i draws at ``counter + 33 i`` and on; taking all of them draws nothing.
    """
    if count == total:
        for index in range(total):
            out[out_start + index] = index
        return
    for filled in range(count):
        pick_counter = counter + filled * COUNTERS_PER_PICK
        item = pick_another(tails, start, total, key, pick_counter, out, out_start, filled)
        position = out_start + filled
        while position > out_start and out[position - 1] > item:
            out[position] = out[position - 1]
            position -= 1
        out[position] = item


@rule
def sort_range(out: MutableInts, start: int, count: int) -> None:
    """Sort ``count`` items of ``out`` ascending, in place (Shell's sort, Knuth's gaps)."""
    gap = 1
    while 3 * gap + 1 < count:
        gap = 3 * gap + 1
    while gap > 0:
        for first in range(start + gap, start + count):
            item = out[first]
            position = first
            while position - gap >= start and out[position - gap] > item:
                out[position] = out[position - gap]
                position -= gap
            out[position] = item
        gap //= 3


@rule
def split_written(out: MutableInts, start: int, count: int, written: int, key: int, counter: int) -> None:
    """Bring a uniformly random subset of ``written`` items to the front; both parts ascending.

    Expects ``out`` ascending; writing all of them, or none, draws nothing.
    """
    if written == 0 or written == count:
        return
    for index in range(written):
        other = index + int(uniform(key, counter + index) * (count - index))
        item = out[start + index]
        out[start + index] = out[start + other]
        out[start + other] = item
    sort_range(out, start, written)
    sort_range(out, start + written, count - written)
