"""Compare the two engines on random configurations of the whole model, for as long as one likes.

The space of configurations is the one the tests draw from (``tests/properties/strategies.py``), some of them in a rush:
arrivals several times as dense. A rush in which every txn loses to every other has more requests than the reference
engine sends in a minute: such a configuration is counted and left.

    python -m verification.fuzz_engines --configurations 20000
    python -m verification.fuzz_engines --minutes 60 --seed 7
    python -m verification.fuzz_engines --check-bounds            every index of the compiled engine is checked
    python -m verification.fuzz_engines --interpreted             the compiled engine's source, run by the interpreter
    python -m verification.fuzz_engines --replay out/fuzz-engines/mismatch.toml
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

ROOT = Path(__file__).parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

if "--interpreted" in sys.argv:  # before anything is compiled
    from tests.interpreted import shim

    shim.install()

from tests.properties.delta_strategies import any_configs  # noqa: E402

from endive import Simulation  # noqa: E402
from endive.config import SimulationConfig  # noqa: E402
from endive.config.toml_text import toml_text  # noqa: E402
from endive.errors import EndiveError  # noqa: E402
from endive.results import SimulationResult  # noqa: E402

Config = dict[str, Any]

CONFIGURATIONS = 10_000
CONFIGURATIONS_PER_ROUND = 200  # Hypothesis remembers what it tried; a round is a new start
FOLDER = ROOT / "out" / "fuzz-engines"
PHASES = (Phase.generate, Phase.shrink)
PROGRESS_EVERY_S = 10.0
REQUESTS_MAX = 400_000  # of a configuration that is compared: the reference engine takes seconds for them
RUSHES = (1, 1, 1, 1, 1, 1, 3, 8)  # how many times as dense arrivals are
FAILURES = ("lost_answer_rate", "throttle_rate")
GAPS = ("mean_ms", "ms", "low_ms", "high_ms", "period_ms", "offset_ms", "jitter_ms")


# ---- comparing -----------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What was tried: configurations that differ, their txns, and how often the model's parts came up."""

    configurations: set[str] = field(default_factory=set)
    refused: int = 0  # by both engines in the same words; such a configuration does not count
    too_long: int = 0  # nor does one that the reference engine would take too long for
    seen: Counter[str] = field(default_factory=Counter)
    parts: Counter[str] = field(default_factory=Counter)

    def add(self, config: Config, resolved: SimulationConfig, result: SimulationResult) -> None:
        """One more configuration both engines agreed on."""
        self.configurations.add(name_of(config))
        txns = result.transactions
        self.seen["txns"] += txns.num_rows
        self.seen["attempts"] += sum(txns.column("attempts").to_pylist())
        for column in ("status", "reason"):
            self.seen.update(value for value in txns.column(column).to_pylist() if value is not None)
        self.parts.update(
            (
                f"catalog {resolved.catalog.type}",
                f"scope {resolved.catalog.scope}",
                f"protocol {resolved.commit.protocol}",
                f"lists {resolved.transaction.manifest_list_mode}",
                *(f"failures {rate}" for rate in FAILURES if getattr(resolved.failures, rate) > 0.0),
                *{f"arrivals {source.arrivals.kind}" for source in resolved.sources},
            )
        )

    def line(self, elapsed_s: float) -> str:
        """How far it is."""
        count, seen = len(self.configurations), self.seen
        return (
            f"{count:,} configurations in {elapsed_s:,.0f} s, {seen['txns']:,} txns ({seen['committed']:,} committed, "
            f"{seen['aborted']:,} aborted, {seen['in_flight']:,} in flight), {seen['attempts']:,} attempts; "
            f"{self.refused:,} refused, {self.too_long:,} too long"
        )

    def table(self) -> str:
        """How often each part came up."""
        return "\n".join(f"  {name:24} {count:8,}" for name, count in sorted(self.parts.items()))


def name_of(config: Config) -> str:
    """Two configurations with the same values have the same name."""
    return hashlib.blake2b(json.dumps(config, sort_keys=True).encode(), digest_size=12).hexdigest()


class MismatchError(Exception):
    """The engines differ on ``config``."""

    def __init__(self, config: Config, difference: str) -> None:
        super().__init__(difference)
        self.config = config
        self.difference = difference


def compare(config: Config, tally: Tally | None = None) -> str | None:
    """What the engines disagree on, or None; an error that is not the user's is a disagreement too."""
    try:
        simulation = Simulation(config)
    except EndiveError:
        if tally is not None:
            tally.refused += 1
        return None
    except Exception as error:
        return f"failed: {type(error).__name__}: {error}"
    compiled = outcome(simulation, "compiled")
    if tally is not None and not isinstance(compiled, str) and requests_of(compiled) > REQUESTS_MAX:
        tally.too_long += 1
        return None
    reference = outcome(simulation, "reference")
    if isinstance(reference, str) or isinstance(compiled, str):
        if reference == compiled and str(reference).startswith("refused"):
            if tally is not None:
                tally.refused += 1
            return None
        ends = {"reference": reference, "compiled": compiled}
        return "; ".join(f"{name}: {end if isinstance(end, str) else 'a result'}" for name, end in ends.items())
    difference = first_difference(reference.transactions, compiled.transactions)
    if difference is None and reference.fingerprint != compiled.fingerprint:
        difference = f"fingerprint {reference.fingerprint} and {compiled.fingerprint}, though every column is equal"
    if difference is None and not reference.transactions.equals(compiled.transactions):
        difference = "the tables differ, though every value is equal"
    if difference is None and reference.summary() != compiled.summary():
        difference = "the summaries differ, though every txn is equal"
    if difference is None and tally is not None:
        tally.add(config, simulation.config, reference)
    return difference


def outcome(simulation: Simulation, engine: str) -> SimulationResult | str:
    """The result, or what stood in its way."""
    try:
        return simulation.run(engine=engine)
    except EndiveError as error:
        return f"refused: {error}"
    except Exception as error:
        return f"failed: {type(error).__name__}: {error}"


def requests_of(result: SimulationResult) -> int:
    """Requests of all txns together."""
    txns = result.transactions
    return sum(pc.sum(txns.column(name)).as_py() or 0 for name in txns.column_names if name.startswith("requests_"))


def first_difference(reference: pa.Table, compiled: pa.Table) -> str | None:
    """The first txn that differs, its first column that does, and how many others do."""
    if reference.column_names != compiled.column_names:
        return f"columns {reference.column_names} (reference) and {compiled.column_names} (compiled)"
    counts = f"{reference.num_rows:,} txns (reference) and {compiled.num_rows:,} (compiled)"
    common = min(reference.num_rows, compiled.num_rows)
    columns = {
        name: rows
        for name in reference.column_names
        if (rows := differing_rows(reference.column(name)[:common], compiled.column(name)[:common]))
    }
    if not columns:
        return None if reference.num_rows == compiled.num_rows else f"{counts}; the first {common:,} are equal"
    row = min(rows[0] for rows in columns.values())
    names = [name for name, rows in columns.items() if rows[0] == row]
    ours, theirs = (table.column(names[0])[row].as_py() for table in (reference, compiled))
    touched = {row for rows in columns.values() for row in rows}
    return (
        f"txn {reference.column('txn_id')[row].as_py()}, {names[0]}: {ours!r} (reference) and {theirs!r} (compiled). "
        f"It differs in {', '.join(names)}; {len(touched):,} txns differ, of {counts}"
    )


def differing_rows(reference: pa.ChunkedArray, compiled: pa.ChunkedArray) -> list[int]:
    """Which rows of a column differ."""
    if reference.equals(compiled):
        return []
    pairs = zip(reference.to_pylist(), compiled.to_pylist(), strict=True)
    return [row for row, (ours, theirs) in enumerate(pairs) if ours != theirs]


# ---- trying --------------------------------------------------------------------------------------------------


@st.composite
def rushed_configs(draw: Any) -> Config:
    """A configuration of the model, sometimes with denser arrivals."""
    config: Config = draw(any_configs())
    rush = draw(st.sampled_from(RUSHES))
    for source in config["source"] if rush > 1 else ():
        arrivals = source["arrivals"]
        if arrivals["kind"] == "closed":
            arrivals["clients"] *= rush
            continue
        for key in GAPS:
            if key in arrivals:
                arrivals[key] /= rush
        if "per_s" in arrivals:
            arrivals["per_s"] *= rush
    return config


@dataclass
class Search:
    """One long run: when it ends, what it tried, and the smallest configuration it failed on."""

    configurations: int | None
    minutes: float | None
    folder: Path
    tally: Tally = field(default_factory=Tally)
    failed: MismatchError | None = None
    start_s: float = field(default_factory=time.monotonic)
    shown_s: float = field(default_factory=time.monotonic)

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self.start_s

    @property
    def is_over(self) -> bool:
        if self.failed is not None:
            return True
        if self.minutes is not None and self.elapsed_s >= 60.0 * self.minutes:
            return True
        return self.configurations is not None and len(self.tally.configurations) >= self.configurations

    def run(self, first_seed: int) -> None:
        """Round after round until it is over."""
        self.folder.mkdir(parents=True, exist_ok=True)
        number = first_seed
        while not self.is_over:
            try:
                self._round(number)()
            except (MismatchError, Flaky):
                assert self.failed is not None
            number += 1
        self._current.unlink(missing_ok=True)

    def _round(self, number: int) -> Callable[[], None]:
        @seed(number)
        @settings(
            max_examples=CONFIGURATIONS_PER_ROUND,
            database=None,
            deadline=None,
            derandomize=False,
            phases=PHASES,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )
        @given(rushed_configs())
        def examine(config: Config) -> None:
            is_known = name_of(config) in self.tally.configurations  # Hypothesis comes back to what it has tried
            if self.failed is None and (is_known or self.is_over):
                return
            self._examine(config)

        return examine

    def _examine(self, config: Config) -> None:
        self._current.write_text(toml_text(config))  # stays behind if the process dies
        is_shrinking = self.failed is not None
        difference = compare(config, None if is_shrinking else self.tally)
        if difference is not None:
            found = MismatchError(config, difference)
            if self.failed is None:
                print(f"mismatch: {difference}\nlooking for a smaller configuration", flush=True)
            if self.failed is None or len(toml_text(config)) <= len(toml_text(self.failed.config)):
                self.failed = found
            raise found
        if not is_shrinking and time.monotonic() - self.shown_s > PROGRESS_EVERY_S:
            self.shown_s = time.monotonic()
            print(self.tally.line(self.elapsed_s), flush=True)

    @property
    def _current(self) -> Path:
        return self.folder / "current.toml"

    def write_mismatch(self) -> Path:
        """The smallest configuration that failed, with what differs as a comment."""
        assert self.failed is not None
        path = self.folder / "mismatch.toml"
        comment = "".join(f"# {line}\n" for line in self.failed.difference.splitlines())
        path.write_text(comment + toml_text(self.failed.config))
        return path


# ---- the command ---------------------------------------------------------------------------------------------


def replay(path: Path) -> int:
    """Compare on one configuration, as a mismatch left it or any other."""
    difference = compare(tomllib.loads(path.read_text()))
    print(difference or "the engines agree")
    return 0 if difference is None else 1


def check_bounds(folder: Path) -> None:
    """Start again with compiled code that checks every index, kept apart from the code that does not."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--check-bounds"]
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "ENDIVE_CACHE_DIR": str(folder / "cache-with-bounds")}
    os.execve(sys.executable, [sys.executable, "-m", "verification.fuzz_engines", *arguments], environment)


def main() -> int:
    """Try, count, and leave a file if there is something to see."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configurations", type=int, help=f"how many to try ({CONFIGURATIONS:,} without --minutes)")
    parser.add_argument("--minutes", type=float, help="how long to try")
    parser.add_argument("--seed", type=int, help="of the first round; else a new one, which is printed")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for what is found")
    parser.add_argument("--check-bounds", action="store_true", help="slower: compiled code checks every index")
    parser.add_argument("--interpreted", action="store_true", help="slowest: every field and index is checked")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="compare on this configuration only")
    given = parser.parse_args()
    if given.check_bounds:
        check_bounds(given.out)
    if given.replay is not None:
        return replay(given.replay)
    count = given.configurations
    if count is None and given.minutes is None:
        count = CONFIGURATIONS
    first_seed = time.time_ns() // 1_000_000_000 if given.seed is None else given.seed
    search = Search(count, given.minutes, given.out)
    print(f"seed {first_seed}", flush=True)
    try:
        search.run(first_seed)
    except KeyboardInterrupt:
        print("stopped")
    print(f"{search.tally.line(search.elapsed_s)}\n{search.tally.table()}")
    if search.failed is None:
        print(f"the engines agree: {search.tally.line(search.elapsed_s)}")
        return 0
    print(f"THE ENGINES DIFFER: {search.failed.difference}\nconfiguration: {search.write_mismatch()}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
