"""The requests of one commit, by object and attempt: what PyIceberg was recorded to send, and what the model sends.

The recording lives in ``rigs/pyiceberg``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from endive.config import parse_config
from endive.rng import POINTER_READ
from endive.verification.suite import Check, Options, Outcome, Table, Value, provenance
from endive.vocabulary import OBJECTS
from rigs import live as rigs
from verification.suites.beset import SWAP, BesetCatalog, Script, beset_document, play_victim
from verification.suites.pyiceberg.stories import (
    BEFORE_SWAP,
    COMMITTED,
    DELETE,
    FAST_APPEND,
    MERGE_APPEND,
    RIVALS_APPEND,
    Scenario,
    beyond_the_model,
    scenarios,
)

RECORDING_FILE: Final = Path(__file__).parent / "data" / "requests.json"

_DELETE: Final = {"overwrite": "overwrite_files", "rewritten_manifests": 1}  # of one manifest, one of two files
_KINDS: Final = {FAST_APPEND: "fast_append", MERGE_APPEND: "merge_append"}  # everything else is an overwrite
_LETTERS: Final = {"read": "R", "head": "H", "write": "W", "cas": "S", "delete": "D"}
_QUICK_BEHIND_MAX: Final = 5

Story = dict[str, Any]  # {"outcome": ..., "attempts": [Counter of request names, ...]}, the first before any attempt


# ---- the model's side ------------------------------------------------------------------------------------


def script_of(scenario: Scenario) -> Script:
    """Rivals before each look at the base or each swap; before the first look those too that the victim is behind."""
    step = SWAP if scenario.place == BEFORE_SWAP else POINTER_READ
    script = Counter({(attempt, step): count for attempt, count in enumerate(scenario.during, 1)})
    script[1, POINTER_READ] += scenario.behind
    return script


def configuration(scenario: Scenario) -> dict[str, Any]:
    """The victim, and one rival after another, so far apart that none meets another."""
    merging: dict[str, Any] = {}
    if scenario.merge_count_min is not None:
        merging = {"merging": "bins", "min_count_to_merge": scenario.merge_count_min}
    victim: dict[str, Any] = {
        "operation_types": {_KINDS.get(scenario.operation, "validated_overwrite"): 1.0},
        "total_timeout_ms": 0.0,  # it is held up for longer than half an hour
    }
    if scenario.operation not in _KINDS:
        victim |= _DELETE | {"isolation": scenario.isolation}
        victim["real_conflict_probability"] = 1.0 if scenario.is_conflict_real else 0.0
    rival: dict[str, Any] = {"operation_types": {"fast_append": 1.0}}
    if scenario.rivals != RIVALS_APPEND:
        rival = {"operation_types": {"validated_overwrite": 1.0}, **_DELETE}
    return beset_document(
        victim,
        rival,
        turns=scenario.behind + sum(scenario.during) + 2,
        storage={"provider": "constant", "latency_ms": 10.0},
        catalog={"type": "service"},
        table={"initial_snapshots": scenario.manifests, "initial_manifests": scenario.manifests},
        commit={"protocol": "pyiceberg", **merging},
        transaction={"runtime": {"distribution": "fixed", "ms": 0.0}},
    )


def simulate_story(scenario: Scenario) -> Story:
    """What the model does in this scenario."""
    script = script_of(scenario)
    row, sent = play_victim(parse_config(configuration(scenario)), lambda catalog: BesetCatalog(catalog, script))
    attempts: list[Counter[str]] = [Counter() for _ in range(row["attempts"] + 1)]
    for attempt, obj, operation, count in sent:
        attempts[attempt][f"{obj}.{operation}"] += count
    return {"outcome": COMMITTED if row["status"] == "committed" else row["reason"], "attempts": attempts}


# ---- what was recorded -----------------------------------------------------------------------------------


def recording() -> dict[str, Any]:
    """The recording that comes with the package."""
    found = json.loads(RECORDING_FILE.read_text(encoding="utf-8"))
    return dict(found)


def story_of(recorded: Mapping[str, Any]) -> Story:
    """A recorded story, its ordered requests counted."""
    return {"outcome": recorded["outcome"], "attempts": [_counted(attempt) for attempt in recorded["attempts"]]}


def _counted(runs: Iterable[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for run_of in runs:
        name, _, count = run_of.partition(" x")
        found[name] += int(count or 1)
    return found


def requests_text(requests: Mapping[str, int]) -> str:
    """Such as ``catalog 1R 1S, metadata 1R 1W``: read, head, written, swapped, deleted."""
    parts = []
    for object in OBJECTS:
        counts = [
            f"{requests[f'{object}.{operation}']}{letter}"
            for operation, letter in _LETTERS.items()
            if requests.get(f"{object}.{operation}")
        ]
        if counts:
            parts.append(f"{object.replace('_', ' ')} {' '.join(counts)}")
    return ", ".join(parts) or "nothing"


# ---- the comparison --------------------------------------------------------------------------------------


def checks_of(scenario: Scenario, recorded: Story, simulated: Story) -> list[Check]:
    """How it ended, and the requests attempt by attempt."""
    what: dict[str, Value] = {
        "behind": scenario.behind,
        "during": "+".join(map(str, scenario.during)) or "0",
        "rivals": f"{scenario.rivals} {scenario.place.replace('_', ' ')}" if scenario.during else scenario.rivals,
    }
    name = title_of(scenario)
    checks = [Check.exact(name, {**what, "attempt": "ends"}, expected=recorded["outcome"], actual=simulated["outcome"])]
    attempts = max(len(recorded["attempts"]), len(simulated["attempts"]))
    for attempt in range(attempts):
        expected, actual = (
            requests_text(story["attempts"][attempt]) if attempt < len(story["attempts"]) else "no such attempt"
            for story in (recorded, simulated)
        )
        label = attempt if attempt else "load"
        checks.append(Check.exact(name, {**what, "attempt": label}, expected=expected, actual=actual))
    return checks


def title_of(scenario: Scenario) -> str:
    """What the scenario's victim does."""
    if scenario.operation == MERGE_APPEND:
        is_full = scenario.manifests >= (scenario.merge_count_min or 0)
        size = f"{scenario.manifests} manifests, min-count-to-merge {scenario.merge_count_min}"
        return f"merge append, {'a full bin' if is_full else 'no full bin'}: {size}"
    if scenario.operation == DELETE:
        return f"delete of whole files, {scenario.isolation}" + (", a real conflict" * scenario.is_conflict_real)
    return scenario.operation.replace("_", " ")


def run(options: Options) -> Outcome:
    """Every scenario, against the recording or, live, against the PyIceberg that is installed."""
    if options.is_live:
        recorded = rigs.pyiceberg_requests()
    else:
        recorded = recording()
    stories = {key: story_of(story) for key, story in recorded["scenarios"].items()}
    checks: list[Check] = []
    for scenario in scenarios():
        if options.is_quick and scenario.behind > _QUICK_BEHIND_MAX:
            continue
        checks += checks_of(scenario, stories[scenario.key], simulate_story(scenario))
    return Outcome(
        intro=_INTRO,
        checks=tuple(checks),
        tables=(beyond_table(stories),),
        provenance=provenance(pyiceberg=recorded["pyiceberg"], recorded=recorded["recorded"]),
    )


def beyond_table(stories: Mapping[str, Story]) -> Table:
    """What PyIceberg sends for operations that the model has no kind for, beside its nearest."""
    rows = []
    for scenario in beyond_the_model():
        simulated = simulate_story(scenario)
        for attempt, requests in enumerate(stories[scenario.key]["attempts"]):
            if attempt:
                nearest = requests_text(simulated["attempts"][attempt])
                title = title_of(scenario)
                rows.append((title, scenario.behind, scenario.rivals, attempt, requests_text(requests), nearest))
    return Table(
        title="Operations the model has no kind for",
        headings=("operation", "behind", "rivals", "attempt", "PyIceberg", "the model's validated overwrite"),
        rows=tuple(rows),
        note="Shown, not judged: `update_snapshot().overwrite()`, in which a delete of single rows ends, and "
        "`table.overwrite`, a delete and an append in one commit.",
        is_filed=True,
    )


_INTRO: Final = """
A victim loads its table, rivals commit, the victim commits; during its attempts more rivals commit, right before it
looks whether its base still stands or between that look and its swap. `behind` counts the rivals before its first
attempt, `during` those in its attempts. In the file R = read (GET), H = HEAD, W = write (PUT), S = swap of the pointer,
D = DELETE. No request is about data. [PyIceberg](pyiceberg.md) has the story of a commit, how it was recorded, and what
is not covered.
"""
