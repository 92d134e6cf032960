"""Isolation: sound runs pass the observer with every commit accounted for, and planted bugs do not.

The bugs are in ``verification.suites.planted``; the observer, which watches every run anyway, is
``endive.simulation.observer``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from endive.simulation.simulation import simulate
from endive.verification.suite import Check, Options, Outcome, Table, provenance
from endive.vocabulary import COMMITTED, STATUSES
from verification.suites.planted import BUGS, configurations, run_planted

ENGINES: Final = ("reference", "compiled")
SEEDS: Final = tuple(range(1, 9))
SEEDS_QUICK: Final = (1,)
_PREFIX: Final = "the history is not serial: "

_INTRO: Final = """
An observer stands between the txns and the catalog of every run and keeps books of its own: which commit last changed
the catalog, each group, table and partition ([isolation](../model/isolation.md)). Here it watches sound runs of every
catalog and scope, in which writers meet all the time, and runs with a bug planted in the catalog or in the txns.
"""


def run(options: Options) -> Outcome:
    """Sound runs and planted bugs, in every configuration."""
    seeds = SEEDS_QUICK if options.is_quick else SEEDS
    messages: list[tuple[str, str]] = []
    checks = [*_sound_runs(seeds), *_planted_bugs(messages)]
    return Outcome(
        checks=tuple(checks),
        tables=(
            Table(
                title="What the observer says",
                headings=("bug", "in the first configuration it is planted in"),
                rows=tuple(messages),
                is_filed=True,
            ),
        ),
        intro=_INTRO,
        provenance=provenance(seeds=len(seeds)),
    )


def _sound_runs(seeds: tuple[int, ...]) -> Iterator[Check]:
    """Of each configuration: commits in the rows and under way at the end are those that the books hold."""
    for name, config in configurations().items():
        for engine in ENGINES:
            applied = accounted = 0
            for seed in seeds:
                result = simulate(config, seed, engine=engine)
                assert result.history is not None
                rows = result.transactions.column("status").to_pylist()
                applied += result.history.commits_applied
                accounted += rows.count(STATUSES[COMMITTED]) + result.history.commits_unanswered
                accounted += result.history.commits_untold
            yield Check.exact(
                "commits applied, and reported or under way at the end",
                {"catalog": name, "engine": engine, "runs": len(seeds)},
                expected=applied,
                actual=accounted,
                unit="commits",
            )


def _planted_bugs(messages: list[tuple[str, str]]) -> Iterator[Check]:
    """Of each bug: in how many configurations it was caught, in the words that fit it."""
    for bug in BUGS:
        told = {name: run_planted(bug, config) for name, config in configurations().items()}
        first = next(iter(told.values()))
        messages.append((bug.name, "nothing" if first is None else first.removeprefix(_PREFIX).split(". ")[0]))
        missed = [name for name, text in told.items() if not bug.is_caught_by(text)]
        yield Check.exact(
            "configurations in which a planted bug is caught",
            {"bug": bug.name},
            expected=len(told),
            actual=len(told) - len(missed),
            note=f"not in {'; '.join(missed)}" if missed else "",
        )
