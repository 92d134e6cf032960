"""How often intervals hold the truth: writes docs/validation/coverage.md.

    python -m verification.coverage                     all of it, about ten minutes on two cores
    python -m verification.coverage --runs 100 --draws 100 --limits 4
    python -m verification.coverage --only cases        one piece; the page is written when all are there

Every case is simulated with many seeds; the figure of all those runs together is the truth. Then runs are drawn from
them, as many as an answer rests on, again and again, and it is counted how often the interval of the draw holds the
truth. Limits are asked for as ``endive limit`` does, and held against 480 other seeds. ``verification.questions``
asks as ``endive run`` does.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from endive.answers.estimates import commits_estimate, judge_samples
from endive.answers.limit import find_limit
from endive.answers.replicate import Replicator
from endive.answers.run_count import RUNS, RUNS_MOST, wants_more
from endive.answers.sample import Sample
from endive.answers.variation import Base, base_of
from endive.config import SimulationConfig, parse_config
from endive.config.slo import objective_of
from endive.objectives import Estimate, intervals
from endive.objectives.intervals import beyond_seen, share_estimate
from endive.objectives.student import CONFIDENCE, normal_z
from endive.results import statistics as st
from endive.results.schema import Ints
from endive.verification.pages import csv_text
from verification.coverage_cases import CASES, closed, jobs, tipping

PAGE: Final = Path(__file__).parents[1] / "docs" / "validation" / "coverage.md"
SHARES: Final = (0.5, 0.95, 0.99)
SIZES: Final = (4, 8, RUNS, 64, RUNS_MOST)
TRUTH_SEEDS: Final = 480
TXNS_PAIRED: Final = 2.0  # of a run: of fewer a correlation says nothing
TRUTH_FIRST: Final = 1_000_000  # no answer has these seeds
FILE: Final = "coverage.csv"
SUCCESS_FILE: Final = "coverage-success.csv"
SUCCESS_HEADINGS: Final = ("case", "txns of a run", "commits", "design effect", "correlation", "width", "unguarded")
HEADINGS: Final = ("case", "runs", "success", "commits/s", "P50", "P95", "P99")
BY_ITSELF: Final = "by itself"
PIECES: Final = ("cases", "limit of writers", "limit of jobs", "limit of a rate")
Row = Sequence[str]
HELD_LOW: Final = 93.0  # percent: what holds the truth less often stands on the page


def holds(found: Estimate, truth: float) -> bool:
    """Whether an interval holds the truth; one that is not known does not."""
    return found.low is not None and found.high is not None and bool(found.low <= truth <= found.high)


@dataclass(frozen=True)
class Counts:
    """What every run of a population contributes to the intervals of one part."""

    committed: Ints
    ended: Ints
    submitted: Ints
    percentiles: dict[float, float]  # the truth, in microseconds
    below: dict[float, Ints]  # of each percentile: commits up to the truth
    slowest: Ints
    commits: Ints
    length_s: float


def counts_of(population: Sequence[Sample], scope: str, part: str) -> Counts:
    """The counts of a population, whose own percentiles are the truth."""
    slices = [sample.slice(scope, part) for sample in population]
    txns = np.array([one.tallies[:, st.TXNS] for one in slices])
    latencies = np.concatenate([one.commit_us for one in slices])
    percentiles = {share: float(np.percentile(latencies, 100.0 * share)) for share in SHARES if len(latencies)}
    below = {
        share: np.array([int((one.commit_us <= value).sum()) for one in slices]) for share, value in percentiles.items()
    }
    return Counts(
        committed=txns[:, st.COMMITTED],
        ended=txns[:, st.COMMITTED] + txns[:, st.ABORTED].sum(axis=1),
        submitted=txns.sum(axis=1),
        percentiles=percentiles,
        below=below,
        slowest=np.array([int(max(one.commit_us, default=0)) for one in slices]),
        commits=np.array([len(one.commit_us) for one in slices]),
        length_s=population[0].window.length_us / 1e6,
    )


def coverage(counts: Counts, drawn: Iterable[Ints]) -> list[float | None]:
    """How often the intervals of drawn runs hold the truth: success, commits per second, and percentiles.

    A percentile is in its interval if the share of txns below it may be that percentage, so that is what is asked; one
    that lies beyond all that was drawn has to be within reach of the tail, too.
    """
    success = counts.committed.sum() / max(1, counts.ended.sum())
    rate = float(counts.committed.mean()) / counts.length_s
    held = np.zeros(2 + len(SHARES))
    asked = np.zeros(2 + len(SHARES))
    for chosen in drawn:
        committed, ended, submitted, commits = (
            column[chosen].tolist() for column in (counts.committed, counts.ended, counts.submitted, counts.commits)
        )
        found = [
            (share_estimate(committed, ended, 0, CONFIDENCE), success),
            (commits_estimate(committed, submitted, [counts.length_s] * len(chosen)), rate),
            *((share_estimate(below[chosen].tolist(), commits, 0, CONFIDENCE), p) for p, below in counts.below.items()),
        ]
        beyond = 1.0 - (share_estimate(commits, commits, 0, CONFIDENCE).low or 0.0)
        for place, (estimate, truth) in enumerate(found):
            if estimate.low is not None:
                asked[place] += 1
                held[place] += holds(estimate, truth) and (
                    place < 2
                    or counts.percentiles[truth] <= beyond_seen(beyond, 1.0 - truth) * counts.slowest[chosen].max()
                )
    return [float(part / whole) if whole else None for part, whole in zip(held, asked, strict=True)]


def draw(counts: Counts, size: int, draws: int, generator: np.random.Generator) -> Iterator[Ints]:
    """So many runs of the population, again and again."""
    return (generator.integers(0, len(counts.committed), size) for _ in range(draws))


def take(population: Sequence[Sample], config: SimulationConfig, drawn: Iterable[Ints]) -> Iterator[Ints]:
    """As many of the drawn runs as ``endive run`` takes by itself."""
    objective = objective_of(config)
    for chosen in drawn:
        count = RUNS
        while wants_more([population[place] for place in chosen[:count]], config, objective):
            count *= 2
        yield chosen[:count]


def percentages(counts: Counts, drawn: Iterable[Ints]) -> Iterator[str]:
    """How often intervals hold the truth, as a row has it."""
    return ("-" if held is None else f"{100 * held:.1f}" for held in coverage(counts, drawn))


def case_rows(replicator: Replicator, runs: int, draws: int) -> Iterator[list[tuple[str, ...]]]:
    """Of each case a row about its runs, one for each number of them that is drawn, one for what ``run`` takes."""
    generator = np.random.default_rng(1)
    for case in CASES:
        config = parse_config(case.document)
        population = replicator.samples(config, range(TRUTH_FIRST, TRUTH_FIRST + runs))
        counts = counts_of(population, case.scope, case.part)
        taken = list(take(population, config, draw(counts, RUNS_MOST, draws, generator)))
        last = (case.name, f"{np.mean([len(chosen) for chosen in taken]):.0f} {BY_ITSELF}", *percentages(counts, taken))
        yield [*rows_of(case.name, counts, draws, generator), last]


def rows_of(name: str, counts: Counts, draws: int, generator: np.random.Generator) -> Iterator[tuple[str, ...]]:
    """How runs differ in what commits, how wide its interval is, and how often intervals hold the truth."""
    size, txns = float(counts.ended.mean()), int(counts.ended.sum())
    share = float(counts.committed.sum()) / txns
    design = float(np.square(counts.committed - share * counts.ended).sum()) / (txns * share * (1.0 - share))
    correlation = f"{(design - 1.0) / (size - 1.0):.3f}" if size >= TXNS_PAIRED else "-"
    width, _ = success_width(counts, share, draws, generator)
    with patch.object(intervals, "CORRELATION_UNSEEN", 0.0):
        _, unguarded = success_width(counts, share, draws, generator)
    yield name, f"{size:,.1f}", f"{100 * share:.2f} %", f"{design:.2f}", correlation, f"{width:.2f}", f"{unguarded:.1f}"
    for count in SIZES:
        yield name, str(count), *percentages(counts, draw(counts, count, draws, generator))


def success_width(counts: Counts, truth: float, draws: int, generator: np.random.Generator) -> tuple[float, float]:
    """Of 16 runs: how wide the interval of success is, and as a percentage how often it holds the truth.

    The width is in units of what would do: 3.92 standard deviations of the draws themselves.
    """
    chosen = [generator.integers(0, len(counts.ended), RUNS) for _ in range(draws)]
    found = [
        share_estimate(counts.committed[runs].tolist(), counts.ended[runs].tolist(), 0, CONFIDENCE) for runs in chosen
    ]
    widths = [one.high - one.low for one in found if one.high is not None and one.low is not None]
    needed = 2.0 * normal_z(CONFIDENCE) * float(np.std([one.value or 0.0 for one in found]))
    return float(np.mean(widths)) / needed, 100.0 * sum(holds(one, truth) for one in found) / draws


# Of what, a configuration, the key, the objective, and values between which the limit lies.
LIMITS: Final = (
    ("writers in a closed loop", closed(8), "source.writers.arrivals.clients", "writers.retries_mean <= 0.5", (1, 32)),
    ("streaming jobs", jobs(6), "source.jobs.arrivals.jobs", "jobs.p95_commit <= 1s", (1, 32)),
    (
        "ms between txns of a table that tips",
        tipping(8),
        "source.default.arrivals.mean_ms",
        "merge_append.success_rate >= 97 %",
        (300.0, 80.0),
    ),
)
STEPS: Final = 8  # of the bisection by which the limit of a number that is not whole is found


def limit_row(place: int, count: int) -> tuple[str, ...]:
    """How often the interval of a limit holds the value that many other seeds give."""
    name, document, key, slo, ends = LIMITS[place]
    truth, beyond = _true_limit(document, key, slo, ends)
    is_whole = isinstance(truth, int)
    low, high = (truth, truth) if is_whole else sorted((truth, beyond))
    held = exact = 0
    for search in range(count):
        base = base_of({**document, "simulation": {**document["simulation"], "seed": 10_000 * (search + 1)}})
        with Replicator() as fresh:
            found = find_limit(base, key, slo=slo, replicator=fresh)
        held, exact = held + (found.low <= high and found.high >= low), exact + (found.low == found.high)
    shown = f"{truth}" if is_whole else f"{low:.1f} to {high:.1f}"
    return name, slo, shown, f"{held} of {count}", str(exact)


def _true_limit(document: dict[str, Any], key: str, slo: str, ends: tuple[float, float]) -> tuple[float, float]:
    """The last value that holds by its estimate and the first that does not, from one of each."""
    with Replicator() as replicator:
        return bisect_limit(replicator, base_of(document), key, ends, slo=slo, seeds=TRUTH_SEEDS, steps=STEPS)


def bisect_limit(
    replicator: Replicator,
    base: Base,
    key: str,
    ends: tuple[float, float],
    *,
    slo: str | None = None,
    seeds: int,
    steps: int,
) -> tuple[float, float]:
    """The same between two ends, of which the first holds; whole numbers are searched as such."""
    good, bad = ends
    for _ in range(steps):
        middle = (good + bad) // 2 if isinstance(good, int) else (good + bad) / 2.0
        if middle in (good, bad):
            break
        config = base.with_values({key: middle})
        samples = replicator.samples(config, range(TRUTH_FIRST, TRUTH_FIRST + seeds))
        if judge_samples(objective_of(config, slo), samples).holds is True:
            good = middle
        else:
            bad = middle
    return good, bad


def table_lines(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown."""
    lines = [f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows)]


def is_shown(row: Sequence[str]) -> bool:
    """Whether a row stands on the page: as many runs as are taken unasked, or too few."""
    return BY_ITSELF in row[1] or any(float(share) < HELD_LOW for share in row[2:])


def page(runs: int, draws: int, cases: Sequence[Sequence[Sequence[str]]], limits: Sequence[Row], n_limits: int) -> str:
    """The whole page."""
    lines = [
        "# How often intervals hold the truth",
        "",
        f"Made by `python -m verification.coverage --runs {runs} --draws {draws} --limits {n_limits}`; how the "
        "intervals are found is in [certainty](../model/certainty.md).",
        "",
        "## Runs that are not alike",
        "",
        f"Of each case {runs} runs are the truth, and {draws} times so many of them are drawn as stand in the second "
        "column; *by itself* as many as `endive run` takes if nobody says how many, in the mean. The other columns "
        "say, in percent, how often the 95 % interval of the draw holds the truth.",
        "",
        f"Cases: {'; '.join(f'*{case.name}*: {case.why}' for case in CASES)}.",
        "",
        f"Shown: what `endive run` does by itself, and what holds less than {HELD_LOW:g} %; rest: [{FILE}]({FILE}).",
        "",
        *table_lines(HEADINGS, [row for rows in cases for row in rows[1:] if is_shown(row)]),
        "",
        "Of a table that seldom tips, 16 and 64 runs are mostly of one kind, and no interval knows of the other. "
        f"`endive run` takes {RUNS} by itself, and up to {RUNS_MOST} where runs differ; `--seeds 64` of such a table "
        "has a warning.",
        "",
        "## Where success is held more often than 95 times",
        "",
        "Where nearly all commit, few failures are taken to be correlated by "
        f"{intervals.CORRELATION_UNSEEN:g}, as those of jobs with phases are. That is wider than independent txns "
        f"need: [{SUCCESS_FILE}]({SUCCESS_FILE}) has the width of the interval of 16 runs of each case, against what "
        "would do (3.92 standard deviations of the draws), and *unguarded*, how often it would hold the truth without "
        f"(jobs with phases: {_unguarded(cases)} %). The design effect there is how much runs differ in what commits, "
        f"against independent txns; one below 1 is used once {intervals.EVENTS_MANY} txns have turned out the rarer "
        "way.",
        *_limit_lines(limits, n_limits),
    ]
    return "\n".join(lines) + "\n"


def _unguarded(cases: Sequence[Sequence[Sequence[str]]]) -> str:
    """How often the interval of jobs with phases would hold the truth without the guard."""
    return next(rows[0][-1] for rows in cases if rows[0][0] == CASES[0].name)


def _limit_lines(limits: Sequence[Row], n_limits: int) -> list[str]:
    if not limits:
        return []
    return [
        "",
        "## Limits",
        "",
        f"Each question is searched with {n_limits} different seeds to begin with, and held against the value that "
        f"{TRUTH_SEEDS} other seeds give.",
        "",
        *table_lines(("of", "objective", "truth", "held", "answered as one number"), limits),
    ]


def make_piece(name: str, asked: argparse.Namespace) -> Any:
    """One piece of the page, as plain values."""
    with Replicator() as replicator:
        if name == "cases":
            return list(case_rows(replicator, asked.runs, asked.draws))
    return limit_row(PIECES.index(name) - 1, asked.limits)


def main() -> None:
    """Make pieces, and the page if all are there."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--limits", type=int, default=40)
    parser.add_argument("--only", choices=PIECES, action="append", help="make this piece and keep the others")
    parser.add_argument("--pieces", type=Path, default=Path("out/coverage"), help="folder of the pieces")
    parser.add_argument("--out", type=Path, default=PAGE)
    asked = parser.parse_args()
    asked.pieces.mkdir(parents=True, exist_ok=True)
    files = {name: asked.pieces / f"{name}.json" for name in PIECES}
    for name in asked.only or PIECES:
        files[name].write_text(json.dumps(make_piece(name, asked)), encoding="utf-8")
    if all(file.exists() for file in files.values()):
        cases, *limits = (json.loads(file.read_text(encoding="utf-8")) for file in files.values())
        asked.out.write_text(page(asked.runs, asked.draws, cases, limits, asked.limits), encoding="utf-8")
        rows = csv_text((HEADINGS, *(row for rows in cases for row in rows[1:])))
        asked.out.with_name(FILE).write_text(rows, encoding="utf-8")
        widths = csv_text((SUCCESS_HEADINGS, *(rows[0] for rows in cases)))
        asked.out.with_name(SUCCESS_FILE).write_text(widths, encoding="utf-8")


if __name__ == "__main__":
    main()
