"""Mutate whatever Endive reads of others: each is read, or refused with an error of ours.

Configurations, studies, profiles and a trace are here; tables, folders and questions of the page in
``verification.fuzz_strangers``.

Whatever else happens to a reader, an exception of another kind or more time than a case may take, is a failure, and its
text is kept. Cases are numbered: the same seed makes the same cases.

    python -m verification.fuzz_config --cases 20000
    python -m verification.fuzz_config --cases 500 --seed 7 --keep out/fuzz-config
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from endive import simulate
from endive.config import load_simulation_config, parse_config
from endive.config.study import load_study
from endive.errors import EndiveError
from endive.simulation.build import OwnParts, build_parts
from endive.storage.profile_file import load_profile
from endive.workload.trace import read_trace

ROOT = Path(__file__).parents[1]
SECONDS_MAX = 20.0  # of CPU, for one case
TOLD_EVERY = 500  # cases
STRANGERS = 3  # how often a stranger's text comes for one of the project's own
COMBINATIONS_READ_MAX = 40  # of a study; larger grids are read but not expanded
TRACE = "submit_ms,kind,runtime_ms,table\n" + "".join(f"{10 * i},fast_append,{i}.5,{i % 3}\n" for i in range(20))

NASTY = (
    "0", "-0.0", "-1", "1e308", "-1e308", "5e-324", "1e-308", "1e15", "nan", "inf", "-inf", "9223372036854775808",
    "9007199254740993", "9" * 40, "9" * 5_000, "0x" + "f" * 2_000, "true", '""', "''", '"\\u001b[2J"', '"\\u0000"',
    '"a.b"', '"../../x"', '"/dev/zero"', '"x.toml"', "[]", "[[]]", "{}", "{a = 1}", "[1, 2, 3]", "[1, 'a']",
    "[{}]", "{range = [0, 1, 5e-324]}", "{log = [5e-324, 1, 3]}", "{range = []}", "2026-01-01", "07:32:00",
    '{distribution = "fixed"}', '{distribution = "lognormal", mean_ms = 1e9, sigma = 8}', '"' + "x" * 2_000 + '"',
    '{kind = "poisson", per_s = 1e-12}', "'" + "-" * 990 + "1'", "'round(5, -999999999)'", "'a' * 9", "1_000_000",
    "[" * 400 + "]" * 400, '{distribution = "mixture", components = []}', '"default"', '"*"', '"\\ud800"',
)  # fmt: skip

Reader = Callable[[Path], None]
Mutation = Callable[[random.Random, str], str]


@dataclass(frozen=True, slots=True)
class Subject:
    """A text that ships with the project, and what reads it."""

    name: str
    text: str
    reader: Reader
    ending: str = ".toml"
    mutations: tuple[Mutation, ...] | None = None  # those of texts, if none
    encoding: str = "utf-8"


@dataclass(slots=True)
class Outcome:
    """What came of all cases."""

    read: int = 0
    refused: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)  # case, and what happened
    slowest_s: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)


class TooSlowError(BaseException):
    """A case took more time than it may; nothing of a reader may catch this."""


# ---- readers -----------------------------------------------------------------------------------------


def read_config(path: Path) -> None:
    """As ``endive run`` does, up to the first event; and what was read means the same when it is read again."""
    config = load_simulation_config(path)
    again = parse_config(config.to_dict(), source=str(path))
    assert config.config_hash() == again.config_hash(), "a resolved configuration reads back as another"
    if config.catalog.num_tables * config.catalog.partitions.num_partitions <= 100_000:
        build_parts(config, config.simulation.seed, OwnParts())


def read_study(path: Path) -> None:
    """As ``endive sweep --dry-run`` does."""
    study = load_study(path)
    if study.combination_count() <= COMBINATIONS_READ_MAX:
        study.expand()


def read_profile(path: Path) -> None:
    """As a configuration that names it does."""
    load_profile(path)


def read_a_trace(path: Path) -> None:
    """As a source that names it does."""
    read_trace(path, total_tables=3)


def subjects() -> list[Subject]:
    """Everything that is mutated."""
    found = []
    for path in sorted((ROOT / "experiments").rglob("*.toml")):
        text = path.read_text(encoding="utf-8")
        reader = read_study if "\n[study]" in f"\n{text}" or "\n[axes]" in text else read_config
        found.append(Subject(str(path.relative_to(ROOT)), text, reader))
    for path in sorted((ROOT / "src/endive/storage/profiles").rglob("*.toml")):
        found.append(Subject(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"), read_profile))
    found.append(Subject("a trace", TRACE, read_a_trace, ".csv"))
    return found


def all_subjects() -> list[Subject]:
    """The project's own texts, and each of a stranger's several times: they are fewer."""
    from verification.fuzz_strangers import stranger_subjects

    return [*subjects(), *STRANGERS * stranger_subjects()]


# ---- mutations ---------------------------------------------------------------------------------------


def with_nasty_value(chance: random.Random, text: str) -> str:
    """The value of one key becomes one that few expect."""
    lines = text.splitlines()
    places = [i for i, line in enumerate(lines) if "=" in line and not line.lstrip().startswith("#")]
    if not places:
        return text
    at = chance.choice(places)
    lines[at] = f"{lines[at].partition('=')[0]}= {chance.choice(NASTY)}"
    return "\n".join(lines) + "\n"


def with_nasty_cell(chance: random.Random, text: str) -> str:
    """One cell of a list or a row."""
    cells = text.split(",")
    cells[chance.randrange(len(cells))] = chance.choice(NASTY).strip("\"'")
    return ",".join(cells)


def with_line_moved(chance: random.Random, text: str) -> str:
    """A line is lost, doubled, or stands elsewhere."""
    lines = text.splitlines() or [""]
    line = lines.pop(chance.randrange(len(lines))) if chance.random() < 0.7 else chance.choice(lines)
    if chance.random() < 0.7:
        lines.insert(chance.randrange(len(lines) + 1), line)
    return "\n".join(lines) + "\n"


def with_other_key(chance: random.Random, text: str) -> str:
    """A key is misspelt, or a new one is there."""
    lines = text.splitlines() or [""]
    at = chance.randrange(len(lines))
    key = chance.choice(["x", "retry", "a.b.c", '"quoted key"', "'source.0.x'", ".".join("a" * 40), "\u00fc", "\x00"])
    lines.insert(at, f"{key} = {chance.choice(NASTY)}")
    return "\n".join(lines) + "\n"


def with_character(chance: random.Random, text: str) -> str:
    """One character is another."""
    at = chance.randrange(len(text) or 1)
    return text[:at] + chance.choice("[]{}=\"'.,#\\\n\t\x00\x1b0-e\u202e") + text[at + chance.randrange(3) :]


def cut_off(chance: random.Random, text: str) -> str:
    """The end is missing."""
    return text[: chance.randrange(len(text) or 1)]


MUTATIONS: tuple[Mutation, ...] = (
    with_nasty_value, with_nasty_value, with_nasty_value, with_nasty_cell, with_line_moved, with_other_key,
    with_character, cut_off,
)  # fmt: skip


# ---- cases -------------------------------------------------------------------------------------------


def fuzz(cases: int, seed: int = 1, keep: Path | None = None, seconds_max: float = float("inf")) -> Outcome:
    """Read so many mutated texts, or as many as there is time for."""
    found = Outcome()
    known = all_subjects()
    simulate({"simulation": {"duration_ms": 1000.0}}, engine="compiled")  # no case pays for compiling the engine
    end_s = time.monotonic() + seconds_max
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(cases):
            if time.monotonic() > end_s:
                break
            if number and number % TOLD_EVERY == 0:  # stays behind if the process is ended
                print(f"{number:,} cases: {found.read:,} read, {len(found.failures):,} failed", flush=True)
            chance = random.Random(f"{seed}/{number}")
            subject = known[number % len(known)]
            text = subject.text
            for _ in range(chance.choice((1, 1, 1, 2, 3))):
                text = chance.choice(subject.mutations or MUTATIONS)(chance, text)
            path = Path(scratch) / f"case{subject.ending}"
            path.write_bytes(
                text.encode(subject.encoding, "replace" if subject.encoding != "utf-8" else "surrogatepass")
            )
            try:
                _read(found, subject, path, f"{seed}/{number} {subject.name}", keep)
            except KeyboardInterrupt:  # what was read until now counts
                break
    return found


def _read(found: Outcome, subject: Subject, path: Path, case: str, keep: Path | None) -> None:
    start_s = time.process_time()
    try:
        with _time_limit():
            subject.reader(path)
        found.read += 1
    except EndiveError as error:
        found.refused += 1
        found.kinds[type(error).__name__] += 1
    except TooSlowError:
        found.failures.append((case, f"took more than {SECONDS_MAX:g} s"))
    except Exception:
        found.failures.append((case, traceback.format_exc(limit=-3)))
    found.slowest_s = max(found.slowest_s, time.process_time() - start_s)
    if keep is not None and found.failures and found.failures[-1][0] == case:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{len(found.failures):04d}{subject.ending}").write_bytes(path.read_bytes())


@contextmanager
def _time_limit() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS_MAX)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, help="how long, instead of how many; with a new seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("out/fuzz-config"), help="folder for texts that failed")
    options = parser.parse_args()
    if options.minutes is not None:
        options.cases, options.seed = sys.maxsize, int(time.time())
    found = fuzz(options.cases, options.seed, options.keep, 60.0 * (options.minutes or float("inf")))
    for case, told in found.failures:
        print(f"FAILED {case}\n{told}")
    cases = found.read + found.refused + len(found.failures)
    kinds = ", ".join(f"{count:,} {name}" for name, count in found.kinds.most_common())
    print(
        f"{cases:,} cases of seed {options.seed}: {found.read:,} read, {found.refused:,} refused ({kinds}), "
        f"{len(found.failures):,} failed; the slowest took {found.slowest_s:.1f} s of CPU"
    )
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())
