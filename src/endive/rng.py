"""Named counter-based streams: the only source of chance.

A draw is a pure function of (key, counter), so it never depends on the order in which events happen
nor on what else was drawn. A key names a stream (seed and stream name), then one txn or client of it;
a counter names one draw by attempt, step and position. Keys and counters are signed 64-bit integers.

What is made of a draw is ``endive.distributions``'s.
"""

from __future__ import annotations

import hashlib

import numpy as np

from endive.kernel import jitted, rule

# What a draw is for. A number, once given, is never given again: it is part of every result. The numbers that are left
# out belong to formats (their ``draws``).
RUNTIME = 0
OPERATION = 1
TABLE_COUNT = 2
TABLES = 3
WRITES = 4
PARTITION_COUNT = 5
PARTITIONS = 6
ARRIVAL = 7
THINK = 8
START_READ = 9
BACKOFF = 11
REFRESH = 12
CONFLICT = 17
METADATA_WRITE = 26
COMMIT = 27
COMMIT_FAILURE = 28
DISCOVERY = 29
LOG_HEAD = 30
COMPACTION = 31
SERVICE = 32
LOG_ENTRIES = 35
PENALTY = 36
POINTER_READ = 37
RESTART = 38
READ_BACK = 39
TOUCHED_FILES = 43
FILES = 44
LOST_ANSWER = 50
STATUS_READ = 51
STATUS_WAIT = 53
BASE_READ = 54
LOOK_READ = 55
SERVER_LIST = 57
TABLE_LOCK = 58

STEPS_MAX = 64
POSITIONS_MAX = 256
DRAWS_PER_SLOT = 1 << 24

# Odd, with the bits of the golden ratio: neighbouring counters land far apart before mixing.
_STRIDE = np.uint64(0x9E3779B97F4A7C15)
# Separates the keys of substreams from the draws of the stream itself.
_SUBSTREAM = np.uint64(0xD1B54A32D192ED03)

# The mixer is NASAM (Pelle Evensen, 2020), made for inputs that differ in few bits, wherever those bits are.
_FIRST_FACTOR = np.uint64(0x9E6C63D0676A9A99)
_SECOND_FACTOR = np.uint64(0x9E6D62D06F6A9A9B)
_12 = np.uint64(12)
_17 = np.uint64(17)
_23 = np.uint64(23)
_25 = np.uint64(25)
_39 = np.uint64(39)
_47 = np.uint64(47)
_51 = np.uint64(51)


def stream_key(seed: int, name: str) -> int:
    """The key of the stream ``name`` under ``seed``: the same on every machine, in every process."""
    digest = hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


@rule
def slot(attempt: int, step: int, position: int) -> int:
    """The counter of the first draw of one step of one attempt; its draws are ``slot + 0, 1, 2, ...``.

    ``step`` is one of the constants above, ``position`` (below 256) tells repeated steps of an attempt
    apart, and a slot has room for 2**24 draws.
    """
    return ((attempt * 64 + step) * 256 + position) << 24


@jitted
def _mix(bits: np.uint64) -> np.uint64:
    """A fixed permutation of 64-bit words after which equal-looking inputs look unrelated."""
    bits ^= ((bits >> _25) | (bits << _39)) ^ ((bits >> _47) | (bits << _17))
    bits *= _FIRST_FACTOR
    bits ^= (bits >> _23) ^ (bits >> _51)
    bits *= _SECOND_FACTOR
    bits ^= (bits >> _23) ^ (bits >> _51)
    return bits


@jitted
def substream(key: int, index: int) -> int:
    """The key of the ``index``-th txn, client or table of a stream."""
    bits = _mix(_mix(np.uint64(key) ^ _SUBSTREAM) + np.uint64(index) * _STRIDE)
    return int(np.int64(bits))


@jitted
def uniform(key: int, counter: int) -> float:
    """The draw ``counter`` of the stream ``key``: one of 2**52 evenly spaced numbers, never 0 nor 1."""
    bits = _mix(np.uint64(key) + np.uint64(counter) * _STRIDE)
    return (np.float64(bits >> _12) + 0.5) * 2.0**-52
