"""Questions asked cold and held against other seeds: writes docs/validation/questions.md.

    python -m verification.questions                    both pieces, about ten minutes on two cores
    python -m verification.questions --only again       the questions of questions.toml, by their commands
    python -m verification.questions --only thrown --die 7 --count 40

The first piece asks what was once answered wrongly. The second throws configurations with a die: recipes, stores,
catalogs, loads, figures. Other seeds say what is true, and their own doubt counts: two intervals agree if their
difference (Newcombe's) may be nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from endive.answers.estimates import estimate_of, judge_samples
from endive.answers.length import long_enough
from endive.answers.replicate import Replicator
from endive.answers.run_count import take_enough
from endive.answers.variation import Base, base_of
from endive.config import SimulationConfig, parse_config
from endive.config.slo import names_of, objective_of
from endive.errors import ConfigError
from endive.objectives import CANNOT_TELL, MET, NOT_MET, Estimate, Subject, field_at
from endive.objectives.intervals import newcombe
from endive.objectives.names import SOURCE
from endive.objectives.verdict_text import estimate_text, figure_text
from endive.verification.pages import csv_text
from endive.workload.expected_txns import expected_by_source
from verification.coverage import TRUTH_FIRST, bisect_limit, holds, table_lines

HERE: Final = Path(__file__).parent
PAGE: Final = HERE.parent / "docs" / "validation" / "questions.md"
TRUTH_SEEDS: Final = 120
STEPS: Final = 7  # of the bisection by which a limit is found by brute force
WHOLE_STEPS: Final = 64  # of that of a whole number, which ends by itself
AGAIN: Final = "questions-again.csv"
AGAIN_HEADINGS: Final = ("question", "command", "answer", "other seeds")
THROWN: Final = "questions-thrown.csv"
THROWN_HEADINGS: Final = (
    "sources, load; store, catalog",
    "figure",
    "answer",
    "other seeds",
    "agree",
    "verdict",
    "right",
)
Row = tuple[str, ...]


# --- asked again --------------------------------------------------------------------------------------


def ask(command: str) -> dict[str, Any]:
    """What ``endive`` answers, as plain values."""
    program = Path(sys.executable).with_name("endive")
    ended = subprocess.run([program, *shlex.split(command), "--json"], capture_output=True, text=True, check=False)
    if ended.returncode:
        return {"problem": ended.stderr.strip()}
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


def rows_again(replicator: Replicator, done: int) -> Iterator[dict[str, Any]]:
    """Every question with each of its seeds, after those that are done: how often the answer holds, and the answers."""
    asked = tomllib.loads((HERE / "questions.toml").read_text(encoding="utf-8"))["question"]
    texts = {question["name"]: question.get("config") for question in asked}
    with tempfile.TemporaryDirectory() as folder:
        for question in asked[done:]:
            file = Path(folder) / "asked.toml"
            file.write_text(question.get("config") or texts[question["same_as"]], encoding="utf-8")
            word = question["command"].split()[0]
            check: Callable[..., tuple[int, int, list[str], str]] = CHECKS[word]
            answers = [ask(question["command"].format(file=file, seed=seed)) for seed in question["seeds"]]
            held, of, said, truth = check(replicator, base_of(str(file)), question, answers)
            yield {
                "name": question["name"],
                "command": question["command"].format(file="FILE", seed="N"),
                "before": question["said"],
                "then": question["truth"],
                "said": said,
                "truth": truth,
                "held": held,
                "of": of,
            }


def check_figures(
    replicator: Replicator, base: Base, question: dict[str, Any], answers: Sequence[dict[str, Any]]
) -> tuple[int, int, list[str], str]:
    """Figures of ``run``, and its verdict, which may not be sure of the opposite."""
    base = long_enough(base)
    samples = replicator.samples(base.config, range(TRUTH_FIRST, TRUTH_FIRST + TRUTH_SEEDS))
    verdict = judge_samples(objective_of(base.config), samples)
    held = of = 0
    said, truths = [], []
    for name in question["figures"]:
        source, _, figure = name.partition(".")
        subject = _subject(source, figure)
        truth = estimate_of(samples, subject)
        truths.append(f"{name} {estimate_text(subject.field, truth)}")
        for answer in answers:
            found = Estimate(**answer["estimates"]["by_source"][source][figure])
            held, of = held + agree(found, truth), of + 1
            said.append(f"{figure} {estimate_text(subject.field, found)} in {len(answer['seeds'])} runs")
    for answer in answers:
        outcome = answer["objective"]["outcome"]
        held, of = held + (outcome in (CANNOT_TELL, verdict.outcome)), of + 1
        said.append(f"the objective: {outcome}")
    return held, of, said, f"{'; '.join(truths)}; the objective: {verdict.outcome}"


def check_limit(
    replicator: Replicator, base: Base, question: dict[str, Any], answers: Sequence[dict[str, Any]]
) -> tuple[int, int, list[str], str]:
    """The interval of ``limit`` holds the value that brute force finds."""
    words = shlex.split(question["command"])
    key = words[words.index("--vary") + 1]
    if "longer" in question:
        name, _, value = question["longer"].partition("=")
        base = base.varied({name: value})
    known = [answer for answer in answers if "problem" not in answer]
    said = [answer.get("problem") or "{value:.3g} [{low:.3g}, {high:.3g}]".format(**answer) for answer in answers]
    if not known:
        return 0, len(answers), said, "not asked: no answer names a value"
    low, high = min(answer["low"] for answer in known) / 2.0, max(answer["high"] for answer in known) * 2.0
    is_whole = isinstance(base.value_of(key), int)
    span: tuple[float, float] = (int(low), int(high) + 1) if is_whole else (low, high)
    span = span if known[0]["which"] == "largest" else (span[1], span[0])
    steps = WHOLE_STEPS if is_whole else STEPS
    truth, beyond = bisect_limit(replicator, base, key, span, seeds=TRUTH_SEEDS, steps=steps)
    ends = sorted((truth, beyond))
    held = sum(answer["low"] <= ends[1] and answer["high"] >= ends[0] for answer in known)
    if is_whole:
        held = sum(answer["low"] <= truth <= answer["high"] for answer in known)
    return held, len(answers), said, f"{truth:.3g} holds, {beyond:.3g} does not"


def check_advice(
    replicator: Replicator, base: Base, _: dict[str, Any], answers: Sequence[dict[str, Any]]
) -> tuple[int, int, list[str], str]:
    """What is advised first does with other seeds what it is said to do."""
    held, said, truths = 0, [], []
    for answer in answers:
        best = answer["advice"][0]
        config = base.with_values(best["keys"])
        samples = replicator.samples(config, range(TRUTH_FIRST, TRUTH_FIRST + TRUTH_SEEDS))
        verdict = judge_samples(objective_of(config), samples)
        opposite = {MET: NOT_MET, NOT_MET: MET}.get(best["outcome"])
        held += verdict.outcome != opposite
        part = verdict.parts[0]
        said.append(f"{best['words']}: {best['outcome']}")
        truths.append(f"{verdict.outcome}: {estimate_text(part.subject.field, part.found)}")
    return held, len(answers), said, "; ".join(dict.fromkeys(truths))


CHECKS: Final = {"run": check_figures, "limit": check_limit, "advise": check_advice}


# --- thrown -------------------------------------------------------------------------------------------

STORES: Final = ("s3", "s3x", "gcp", "azure", "azurex")
PROFILES: Final = ("glue", "jdbc", "polaris", "nessie", "hive", "lakekeeper")
RECIPES: Final = {
    "iceberg": (
        *("spark_streaming", "flink_sink", "kafka_connect_sink", "pyiceberg_append", "trino_insert"),
        *("spark_merge_cow", "spark_merge_mor_by_partition", "spark_delete_mor", "trino_merge"),
        *("spark_rewrite_data_files", "trino_optimize"),
    ),
    "delta": ("delta_spark_streaming", "delta_spark_merge", "delta_spark_merge_by_partition", "delta_spark_optimize"),
}
FIGURES: Final = (
    *("success_rate", "committed_per_s", "p50_commit", "p95_commit", "p99_commit", "retries_mean"),
    *("mean_commit", "requests_per_commit"),
)
NEAR: Final = (0.7, 0.9, 1.0, 1.1, 1.4)  # of the truth: where an objective is set
TXNS: Final = (50.0, 3_000.0)  # of one run, expected


def throw(die: random.Random) -> tuple[str, SimulationConfig, Subject]:
    """A configuration that can be simulated with what it is made of, and a figure of one of its sources."""
    while True:
        kind = die.choice(("iceberg", "iceberg", "delta"))
        recipes = die.sample(RECIPES[kind], die.randint(1, 3))
        sources = [{"name": f"s{place}", "recipe": recipe} for place, recipe in enumerate(recipes)]
        profile = die.choice((*PROFILES, "", ""))
        catalog = {"type": "service", "profile": profile} if profile else {"type": "cas"}
        document: dict[str, Any] = {
            "simulation": {"duration_ms": die.choice(("1h", "3h", "8h", "1d")), "seed": die.randint(1, 9_999)},
            "storage": {"provider": die.choice(STORES)},
            "table": {"data_files": die.choice((100, 10_000)), "format": kind},
            "source": [{**source, "touched_files": die.choice((0, "0.5%", "5%"))} for source in sources],
        }
        if kind == "iceberg":
            document["catalog"] = catalog
            document["table"]["snapshots_kept_max"] = die.choice((50, 500))
        load, source, figure = die.choice((1.0, 1.0, 4.0, 16.0)), die.choice(sources)["name"], die.choice(FIGURES)
        try:
            parse_config(document)
            config = base_of(document).with_values({"load": load})
        except ConfigError:
            continue
        if TXNS[0] <= sum(expected_by_source(config).values()) <= TXNS[1] and source in names_of(config).sources:
            where = f"{config.storage.provider}, {profile or config.catalog.type}"
            return f"{' + '.join(recipes)}, load x {load:g}; {where}", config, _subject(source, figure)


def rows_thrown(replicator: Replicator, seed: int, places: range) -> Iterator[dict[str, Any]]:
    """The answer of ``endive run`` to each question, what other seeds say, and whether a verdict is wrong.

    The objective is near what other seeds say, on either side. A source of which hardly any txn ends has no figure to
    ask for, and the die is thrown again.
    """
    for place in places:
        die = random.Random(f"{seed}, question {place}")
        while True:
            made_of, config, subject = throw(die)
            others = replicator.samples(config, range(TRUTH_FIRST, TRUTH_FIRST + 2 * TRUTH_SEEDS))
            truth, near = estimate_of(others, subject), die.choice(NEAR)
            if truth.value is not None and (truth.txns or 0) >= 2 * TRUTH_SEEDS:
                break
        slo = f"{subject} {_near(subject, truth.value, near)}"
        objective = objective_of(config, slo)
        taken = take_enough(replicator, config, objective)
        found = estimate_of(taken, subject)
        said, really = judge_samples(objective, taken).outcome, judge_samples(objective, others).outcome
        yield {
            "what": made_of,
            "figure": f"{subject} of {len(taken)} runs",
            "answer": estimate_text(subject.field, found),
            "truth": figure_text(subject.field, truth.value),
            "is_in": holds(found, truth.value),
            "agrees": agree(found, truth),
            "verdict": f"{slo}: {said}",
            "said": said,
            "is_right": {said, really} != {MET, NOT_MET},
        }


def _near(subject: Subject, truth: float, near: float) -> str:
    """A comparison with what is near the truth: of a share, so many times as many may fail."""
    name = subject.field.name
    if name == "success_rate":
        return f">= {1.0 - min(1.0, near * max(1.0 - truth, 0.001)):.5f}"
    unit = "ms" if name.endswith("_commit") and name != "requests_per_commit" else ""
    return f"{'>=' if name == 'committed_per_s' else '<='} {near * max(truth, 0.01):.4g}{unit}"


def agree(found: Estimate, truth: Estimate) -> bool:
    """Whether the two may be the same figure; two that say nothing are."""
    if found.value is None or truth.value is None:
        return found.value is None and (truth.value is None or truth.txns is None or truth.txns < TRUTH_SEEDS)
    low, high = (end for end in (newcombe(found, truth).low, newcombe(found, truth).high))
    return low is not None and high is not None and low <= 1e-9 * abs(truth.value) and high >= -1e-9 * abs(truth.value)


def _subject(source: str, figure: str) -> Subject:
    field = field_at(figure)
    assert field is not None, figure
    return Subject(SOURCE, source, field)


# --- the page -----------------------------------------------------------------------------------------


def page(again: Sequence[dict[str, Any]], thrown: Sequence[dict[str, Any]], die: int, note: str = "") -> str:
    """The page, with those of the two pieces that were made."""
    lines = [
        "# Questions asked cold",
        "",
        "Made by `python -m verification.questions`. Answers are held against other seeds, whose own doubt counts: "
        "they agree if their difference may be nothing.",
        *(_again_lines(again) if again else ()),
        *(_thrown_lines(thrown, die, note) if thrown else ()),
    ]
    return "\n".join(lines) + "\n"


def _again_lines(again: Sequence[dict[str, Any]]) -> list[str]:
    return [
        "",
        "## What was once answered wrongly",
        "",
        f"Asked again by the command, each with several seeds to begin with, and held against {TRUTH_SEEDS} other "
        f"seeds. What was said before is in `verification/questions.toml`, answers and truth in [{AGAIN}]({AGAIN}).",
        "",
        *table_lines(
            ("question", "answers that hold"),
            [(row["name"], f"{row['held']} of {row['of']}") for row in again],
        ),
    ]


def _thrown_lines(thrown: Sequence[dict[str, Any]], die: int, note: str) -> list[str]:
    told = [row for row in thrown if row["said"] != CANNOT_TELL]
    missed = [row for row in thrown if not (row["agrees"] and row["is_right"])]
    return [
        "",
        f"## {len(thrown)} questions thrown with a die",
        "",
        f"`--die {die}` chose recipes, store, catalog, load, figure and objective: {NEAR[0]} to {NEAR[-1]} times what "
        f"is true (of a share: so many times as many may fail). Asked as `endive run` asks and held against "
        f"{2 * TRUTH_SEEDS} other seeds: **{_count(thrown, 'agrees')} agree**, and the intervals of "
        f"{_count(thrown, 'is_in')} hold the bare estimate of the others. {len(told)} verdicts are *met* or *not met*; "
        f"{_count(thrown, 'is_right')} are not sure of the opposite. {note}".rstrip(),
        "",
        f"All of them: [{THROWN}]({THROWN})." + (" Those that disagree:" if missed else ""),
        *(["", *table_lines(THROWN_HEADINGS, [_thrown_row(row) for row in missed])] if missed else ()),
    ]


def _thrown_row(row: dict[str, Any]) -> Row:
    return (
        *(row[name] for name in ("what", "figure", "answer", "truth")),
        "yes" if row["agrees"] else "no",
        row["verdict"],
        "yes" if row["is_right"] else "no",
    )


def row_files(again: Sequence[dict[str, Any]], thrown: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The files beside the page: every answer, and every question that was thrown."""
    asked = [(row["name"], f"endive {row['command']}", said, row["truth"]) for row in again for said in row["said"]]
    files = {AGAIN: (AGAIN_HEADINGS, *asked), THROWN: (THROWN_HEADINGS, *map(_thrown_row, thrown))}
    return {name: csv_text(rows) for name, rows in files.items() if len(rows) > 1}


def _count(rows: Sequence[dict[str, Any]], name: str) -> str:
    return f"{sum(row[name] for row in rows)} of {len(rows)}"


def main() -> None:
    """Make pieces, and the page of those that are there."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    parser.add_argument("--only", choices=("again", "thrown"), help="make this piece and keep the other")
    parser.add_argument("--die", type=int, default=7, help="seed of the die")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--go-on", action="store_true", help="keep the questions of a piece that were asked already")
    parser.add_argument("--note", default="", help="what a reader should know of how the die was thrown")
    parser.add_argument("--page", action="store_true", help="only write the page again, from the pieces that are there")
    parser.add_argument("--pieces", type=Path, default=Path("out/questions"), help="folder of the pieces")
    parser.add_argument("--out", type=Path, default=PAGE)
    asked = parser.parse_args()
    asked.pieces.mkdir(parents=True, exist_ok=True)
    makers: dict[str, Callable[[Replicator, int], Iterator[dict[str, Any]]]] = {
        "again": rows_again,
        "thrown": lambda replicator, done: rows_thrown(replicator, asked.die, range(done, asked.count)),
    }
    files = {name: asked.pieces / f"{name}.json" for name in makers}
    for name in [] if asked.page else [asked.only] if asked.only else makers:
        rows = json.loads(files[name].read_text(encoding="utf-8")) if asked.go_on and files[name].exists() else []
        with Replicator() as replicator:
            for row in makers[name](replicator, len(rows)):
                rows.append(row)
                print(json.dumps(row), flush=True)
                files[name].write_text(json.dumps(rows), encoding="utf-8")
    again, thrown = (json.loads(file.read_text(encoding="utf-8")) if file.exists() else [] for file in files.values())
    asked.out.write_text(page(again, thrown, asked.die, asked.note), encoding="utf-8")
    for name, text in row_files(again, thrown).items():
        asked.out.with_name(name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
