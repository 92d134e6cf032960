"""What a reader must know before trusting the figures.

A warning is a code, the number behind it, and a sentence that says what to do. It reads finished tables, row by row,
and needs no Spark. The limits of the model's own rules are ``endive.results.summary``'s; what is said of assumed
figures, and of a latency or an overlap that nobody gave, is what every other answer says (``endive.answers.warnings``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.answers.run_count import does_share_differ
from endive.answers.warnings import few_runs, from_texts
from endive.config import parse_config
from endive.config.catalog_profile import UNSAID
from endive.errors import EndiveError
from endive.results.knowledge import ASSUMED_SHARE_MAX, UNSAID_SENTENCE, KnownFigure, assumed_part
from endive.results.summary import COMMITTING_SHARE_MAX, none_ended, still_committing
from endive.simulation.knowledge import figures_of_config
from endive.tables.scopes import ALL

DRIFT_MAX: Final = 0.25  # of mean commit latency, from one half of the window to the other
DRIFT_COMMITS_MIN: Final = 400  # in either half: fewer do not tell drift from chance

WARNING_SCHEMA: Final = pa.schema(
    [
        pa.field("study", pa.string()),
        pa.field("point", pa.int32()),  # null: about the whole study
        pa.field("seed", pa.int64()),  # null: about all seeds of a configuration
        pa.field("run_id", pa.string()),
        pa.field("warning", pa.string()),
        pa.field("value", pa.float64()),
        pa.field("text", pa.string()),
    ]
)

Row = Mapping[str, Any]


def warnings(
    runs: Iterable[Row], configurations: Iterable[Row], runs_planned: Mapping[str, int], assumed: Iterable[Row] = ()
) -> pa.Table:
    """Every warning, as ``WARNING_SCHEMA``.

    ``runs`` and ``configurations`` are rows of the tables of those names, the latter for whole runs, with
    ``commits_half_min`` beside ``commit_latency_drift``. ``runs_planned`` counts the runs each study will have.
    ``assumed`` are the rows of ``assumption_rows``.
    """
    runs, configurations, assumed = list(runs), list(configurations), list(assumed)
    rows: list[dict[str, Any]] = []
    for study, planned in runs_planned.items():
        of_study = [row for row in runs if row["study"] == study]
        points = [row for row in configurations if row["study"] == study]
        told = [*_of_study(of_study, points, planned), *_of_points(points), *_of_runs(of_study)]
        rows += [{"study": study, **warning} for warning in told]
        rows += [dict(row) for row in assumed if row["study"] == study]
    return pa.Table.from_pylist(rows, WARNING_SCHEMA)


def _of_study(runs: list[Row], points: list[Row], planned: int) -> Iterator[dict[str, Any]]:
    missing = planned - len(runs)
    if missing > 0:
        yield _warning(
            "unfinished_sweep",
            missing,
            f"{missing:,} of {planned:,} runs are missing: the sweep has not finished. Start it again; it goes on "
            "where it was.",
        )
    single = sum(row["seeds"] == 1 for row in points)
    if single:
        yield _warning(
            "single_seed",
            single,
            f"{single:,} of {len(points):,} configurations have a single seed, so they have no interval. Sweep with "
            "--seeds 3 or more.",
        )
    few = list(_few_seeds(runs, points))
    if few:
        yield _warning("few_seeds", len(few), f"{len(few):,} of {len(points):,} configurations. {few[0]}")


def _few_seeds(runs: list[Row], points: list[Row]) -> Iterator[str]:
    """What every other answer says of as few runs of a configuration."""
    of_point: dict[int, list[Row]] = {}
    for row in runs:
        if row["status"] == "ok":
            of_point.setdefault(row["point"], []).append(row)
    for point in points:
        alike = of_point.get(point["point"], [])
        ended = [
            row["txns_submitted"] - row["txns_in_flight_executing"] - row["txns_in_flight_committing"] for row in alike
        ]
        do_differ = does_share_differ([row["txns_committed"] for row in alike], ended)
        if (text := few_runs(point, point["seeds"], do_differ=do_differ)) is not None:
            yield text


def _of_points(points: Iterable[Row]) -> Iterator[dict[str, Any]]:
    for row in points:
        here = {"point": row["point"]}
        drift = row["commit_latency_drift"]
        if drift is not None and abs(drift) > DRIFT_MAX and row["commits_half_min"] >= DRIFT_COMMITS_MIN:
            yield _warning(
                "unsteady_window",
                drift,
                f"Mean commit latency changed by {drift:+.0%} from the first half of the window to the second: the "
                "system had not settled, so figures depend on the length of the window. Raise "
                "simulation.warmup_ms, or read them as a trend.",
                **here,
            )


def _of_runs(runs: Iterable[Row]) -> Iterator[dict[str, Any]]:
    for row in runs:
        here = {name: row[name] for name in ("point", "seed", "run_id")}
        submitted, committing = row["txns_submitted"], row["txns_in_flight_committing"]
        if row["status"] != "ok":
            yield _warning("failed_run", None, f"This run failed: {row['error']}", **here)
        elif not submitted:
            yield _warning(
                "nothing_measured",
                0,
                "No txn was submitted in the window, so nothing was measured. Raise simulation.duration_ms, or lower "
                "simulation.warmup_ms and simulation.cooldown_ms.",
                **here,
            )
        elif committing > COMMITTING_SHARE_MAX * submitted:
            share = committing / submitted
            yield _warning("still_committing", share, still_committing(committing, submitted), **here)
        elif row["success_rate"] is None:
            yield _warning("none_ended", submitted, none_ended(submitted), **here)


def _warning(code: str, value: float | None, text: str, **place: Any) -> dict[str, Any]:
    return {**place, "warning": code, "value": None if value is None else float(value), "text": text}


# ---- assumed figures ---------------------------------------------------------------------------------


Place = tuple[str, int]  # study and point


def assumption_rows(
    configs: Mapping[Place, str], phases: Iterable[Row], requests: Iterable[Row]
) -> list[dict[str, Any]]:
    """Rows of the table of warnings; ``configs`` are resolved configurations as JSON."""
    phases_ms: dict[Place, dict[str, float | None]] = {}
    for row in phases:
        if row["scope"] == ALL:
            phases_ms.setdefault((row["study"], row["point"]), {})[row["phase"]] = row["mean_ms"]
    counts: dict[Place, dict[str, dict[str, float]]] = {}
    for row in requests:
        if row["scope"] == ALL:
            of_object = counts.setdefault((row["study"], row["point"]), {}).setdefault(row["object"], {})
            of_object[row["operation"]] = row["per_committed_txn"] or 0.0
    rows: list[dict[str, Any]] = []
    unsaid: dict[str, None] = {}
    caveats: dict[tuple[str, str, str], None] = {}
    for (study, point), text in configs.items():
        place = (study, point)
        figures = known_figures(text)
        part = assumed_part(figures, phases_ms.get(place, {}), counts.get(place, {}))
        if part is not None and part.share > ASSUMED_SHARE_MAX:
            rows.append(_warning("assumed_figures", part.share, part.sentence(), study=study, point=point))
        if any(figure.of == UNSAID for figure in figures):
            unsaid[study] = None
        with suppress(EndiveError):  # a configuration that cannot be read any more
            caveats |= {(study, *caveat): None for caveat in from_texts(parse_config(json.loads(text)))}
    rows += [_warning(code, None, sentence, study=study) for study, code, sentence in caveats]
    return rows + [_warning("unsaid_catalog_latency", None, UNSAID_SENTENCE, study=study) for study in unsaid]


def known_figures(text: str) -> tuple[KnownFigure, ...]:
    """The latencies that a configuration, given as JSON, uses, and how well each is known."""
    config = json.loads(text)
    return _figures(json.dumps(config["storage"]), json.dumps(config["catalog"]))


@lru_cache(maxsize=512)
def _figures(storage: str, catalog: str) -> tuple[KnownFigure, ...]:
    """By the sections that decide on them, which most points of a study share.

    Nothing, if the profile is not there any more or the configuration needs more than these two sections.
    """
    try:
        return figures_of_config(parse_config({"storage": json.loads(storage), "catalog": json.loads(catalog)}))
    except EndiveError:
        return ()


def first_configuration(runs: pa.Table, configs: Mapping[Place, str], study: str) -> dict[str, Any]:
    """Return ``configuration``, ``config_hash``, ``seeds`` and ``known`` of the study's first point."""
    runs = runs.filter(pc.equal(runs["study"], study)).select(["point", "seed", "config_hash"])
    rows = sorted(runs.to_pylist(), key=lambda row: (row["point"], row["seed"]))
    first = rows[0]
    text = configs[study, first["point"]]
    return {
        "configuration": json.loads(text),
        "config_hash": first["config_hash"],
        "seeds": sorted({row["seed"] for row in rows}),
        "known": [figure.to_dict() for figure in known_figures(text)],
    }
