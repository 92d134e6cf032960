"""Break sweeps at random, let them go on, and hold the dataset against that of an undisturbed sweep.

A round starts a sweep, does one thing to it, starts it again with --repair until it is done, and compares. What chance
decides follows from the seed, which is printed; when the fault strikes within a process does not, so a failure is kept
in its folder.

    python -m verification.chaos --rounds 100
    python -m verification.chaos --rounds 10 --seed 7 --only "kill the JVM"
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pyarrow as pa

STUDY = """
[study]
name = "chaos"
seeds = 3

[axes]
"transaction.inter_arrival.scale" = [100, 200, 400]
"transaction.retry_backoff.policy" = ["none", "iceberg"]

[base.simulation]
duration_ms = 60_000

[base.transaction]
runtime = { mean = 1_000, sigma = 0.5, min = 200 }
"""
TRIES_MAX = 4  # of a sweep after its fault
WAIT_MAX_S = 900.0
YEAR_S = 365 * 24 * 3600
FILE_BYTES_MAX = 6_000  # of a disk that is full
LOCAL = "local[2]"
CLUSTER = "local-cluster[2,1,1024]"  # two workers with one core and 1 GB each, executors in processes of their own


class Running(Protocol):
    """A sweep in a process of its own."""

    pid: int

    def wait(self, timeout: float | None = None) -> int: ...


@dataclass(slots=True)
class Arena:
    """Where a round takes place: the folder, and how a sweep into it is started."""

    folder: Path
    launch: Callable[..., Running]  # launch(folder, repair=.., full_disk=.., cache=.., master=..)
    chance: random.Random
    longest_s: float  # a sweep without a fault takes about this long
    told: list[str] = field(default_factory=list)

    def strike_at(self) -> float:
        """A moment of the sweep."""
        return self.chance.uniform(0.05, 1.0) * self.longest_s


# ---- faults ------------------------------------------------------------------------------------------


def _signalled(number: int) -> Callable[[Arena], None]:
    def fault(arena: Arena) -> None:
        process = arena.launch(arena.folder)
        time.sleep(arena.strike_at())
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)
        arena.told.append(f"ended with {process.wait(WAIT_MAX_S)}")

    return fault


def _descendant_killed(*names: str, master: str = LOCAL) -> Callable[[Arena], None]:
    def fault(arena: Arena) -> None:
        process = arena.launch(arena.folder, master=master)
        time.sleep(arena.strike_at())
        victims = [pid for pid, command in descendants(process.pid) if any(name in command for name in names)]
        if victims:
            with suppress(ProcessLookupError):
                os.kill(arena.chance.choice(victims), signal.SIGKILL)
        arena.told.append(f"{len(victims)} there, ended with {process.wait(WAIT_MAX_S)}")

    return fault


def compiling_killed(arena: Arena) -> None:
    """The first process on a machine without compiled code dies while it compiles."""
    with tempfile.TemporaryDirectory() as cache:
        process = arena.launch(arena.folder, cache=cache)
        time.sleep(arena.chance.uniform(1.0, 20.0))
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait(WAIT_MAX_S)


def disk_full(arena: Arena) -> None:
    """No file can grow beyond a few kilobytes."""
    arena.told.append(f"ended with {arena.launch(arena.folder, full_disk=True).wait(WAIT_MAX_S)}")


def bit_flipped(arena: Arena) -> None:
    """One bit of one file of a finished sweep."""
    arena.launch(arena.folder).wait(WAIT_MAX_S)
    victim = arena.chance.choice(
        sorted(path for path in arena.folder.rglob("*") if path.is_file() and path.stat().st_size)
    )
    content = bytearray(victim.read_bytes())
    content[arena.chance.randrange(len(content))] ^= 1 << arena.chance.randrange(8)
    victim.write_bytes(content)
    arena.told.append(str(victim.relative_to(arena.folder)))


def two_at_once(arena: Arena) -> None:
    """Two sweeps into one folder."""
    first, second = arena.launch(arena.folder), arena.launch(arena.folder)
    arena.told.append(f"ended with {first.wait(WAIT_MAX_S)} and {second.wait(WAIT_MAX_S)}")


def clock_jumps(arena: Arena) -> None:
    """Files are a year older or younger than they were."""
    process = arena.launch(arena.folder)
    time.sleep(arena.strike_at())
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    process.wait(WAIT_MAX_S)
    jump_s = arena.chance.choice((-YEAR_S, YEAR_S))
    for path in arena.folder.rglob("*"):
        with suppress(OSError):
            moment_s = path.stat().st_mtime + jump_s
            os.utime(path, (moment_s, moment_s))


Fault = Callable[[Arena], None]
LOCAL_FAULTS: dict[str, Fault] = {
    "kill the driver": _signalled(signal.SIGKILL),
    "interrupt": _signalled(signal.SIGINT),
    "terminate": _signalled(signal.SIGTERM),
    "hang up": _signalled(signal.SIGHUP),
    "flip a bit": bit_flipped,
    "fill the disk": disk_full,
    "two at once": two_at_once,
    "clock jumps": clock_jumps,
}
FAULTS: dict[str, Fault] = {
    **LOCAL_FAULTS,
    "kill the JVM": _descendant_killed("java"),
    "kill a worker": _descendant_killed("pyspark.worker"),
    "kill an executor": _descendant_killed("CoarseGrainedExecutorBackend", master=CLUSTER),
    "kill the compiler": compiling_killed,
}


# ---- a round -----------------------------------------------------------------------------------------


def play(name: str, fault: Fault, arena: Arena, expected: Path) -> str | None:
    """One round; what went wrong, or None."""
    fault(arena)
    for _ in range(TRIES_MAX):
        code = arena.launch(arena.folder, repair=True).wait(WAIT_MAX_S)
        if code == 0:
            return difference(expected, arena.folder)
    return f"{name}: the sweep could not be finished, it ended with {code}"


def difference(expected: Path, found: Path) -> str | None:
    """What differs between two datasets, or None: every row of the table of runs, and every transaction."""
    from endive.pipeline.dataset.check import check_dataset

    if damages := check_dataset(found).damages:
        return damages[0].text
    runs = [_runs(folder) for folder in (expected, found)]
    if not runs[0].equals(runs[1]):
        return f"runs differ: {runs[0].num_rows:,} and {runs[1].num_rows:,}"
    named = sorted({name for name in runs[0]["file"].to_pylist() if name})
    for name in named:
        files = [next((folder / "transactions").rglob(name)) for folder in (expected, found)]
        if files[0].read_bytes() != files[1].read_bytes():
            return f"{name} differs"
    return None


def _runs(folder: Path) -> pa.Table:
    """Every column of every run, in their order."""
    from endive.pipeline.dataset.files import place_of
    from endive.pipeline.dataset.runs_table import NESTED, plain_columns, read_rows, run_objects

    place = place_of(folder)
    with run_objects(place, "chaos")[0].parquet() as file:
        columns = plain_columns(file.schema_arrow)
    table = read_rows(place, "chaos", [*columns, *NESTED, "file", "bytes", "digest"])
    return table.sort_by([("run_id", "ascending")]).combine_chunks()


def descendants(pid: int) -> Iterator[tuple[int, str]]:
    """Every process below ``pid``, with its command line."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError, ValueError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(entry.name))
    waiting = list(parents.get(pid, []))
    while waiting:
        child = waiting.pop()
        waiting += parents.get(child, [])
        with suppress(OSError):
            yield child, Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")


# ---- the command -------------------------------------------------------------------------------------


def launch_sweep(
    study: Path,
    folder: Path,
    *,
    repair: bool = False,
    full_disk: bool = False,
    cache: str | None = None,
    master: str = LOCAL,
) -> subprocess.Popen[bytes]:
    """``endive sweep`` on Spark of this machine."""
    command = [sys.executable, "-m", "endive.cli.main", "sweep", str(study), "--out", str(folder), "--master", master]
    settings = {"ENDIVE_CACHE_DIR": cache} if cache else {}
    if master == CLUSTER:
        settings["SPARK_HOME"] = str(_spark_home(study.parent))
        command += ["--conf", "spark.executor.memory=512m"]

    def limit() -> None:
        if full_disk:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, FILE_BYTES_MAX))

    return subprocess.Popen(
        [*command, "--repair"] if repair else command,
        env={**os.environ, **settings},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=limit,  # no thread of ours is running
    )


def _spark_home(folder: Path) -> Path:
    """Spark as it is installed, with a place of its own for what the workers of a cluster leave behind."""
    home = folder / "spark"
    if not home.exists():
        home.mkdir()
        import pyspark

        for entry in Path(pyspark.__file__).parent.iterdir():
            (home / entry.name).symlink_to(entry)
    return home


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--minutes", type=float, help="how long, instead of how many rounds")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", choices=sorted(FAULTS), help="one kind of fault")
    parser.add_argument("--keep", type=Path, default=Path("out/chaos"), help="folder for datasets that differ")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    names = [options.only] if options.only else sorted(FAULTS)
    played: dict[str, list[str | None]] = {}
    with tempfile.TemporaryDirectory(prefix="endive-chaos-") as scratch:
        study = Path(scratch) / "chaos.toml"
        study.write_text(STUDY, encoding="utf-8")
        expected = Path(scratch) / "expected"
        begin_s = time.monotonic()
        assert launch_sweep(study, expected).wait(WAIT_MAX_S) == 0, "a sweep without any fault must work"
        longest_s = time.monotonic() - begin_s
        end_s = time.monotonic() + 60.0 * (options.minutes or float("inf"))
        for number in range(options.rounds if options.minutes is None else sys.maxsize):
            if number and time.monotonic() > end_s:
                break
            name = chance.choice(names)
            folder = Path(scratch) / f"round-{number}"
            arena = Arena(folder, lambda *places, **how: launch_sweep(study, *places, **how), chance, longest_s)
            wrong = play(name, FAULTS[name], arena, expected)
            played.setdefault(name, []).append(wrong)
            print(f"{number + 1:4d}  {name:<18} {'; '.join(arena.told):<40} {wrong or 'the same'}", flush=True)
            if wrong:
                shutil.copytree(folder, options.keep / f"{options.seed}-{number}", dirs_exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
    print("\nfault               rounds  the same")
    for name, results in sorted(played.items()):
        print(f"{name:<18} {len(results):7d} {results.count(None):9d}")
    wrong_rounds = sum(wrong is not None for results in played.values() for wrong in results)
    print(f"{sum(map(len, played.values()))} rounds (seed {options.seed}), {wrong_rounds} differ")
    return 1 if wrong_rounds else 0


if __name__ == "__main__":
    sys.exit(main())
