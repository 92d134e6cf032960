"""Suite ``requests``, Java half: the simulator's requests by object and attempt against those of Java Iceberg.

What Iceberg did was recorded once and lies in ``data/``; ``--live`` plays every scenario again on this machine. What
the model does is asked anew each time.

    python -m rigs.record java-requests     records anew, in a checkout
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from endive.verification.suite import Check, Options, Outcome, Table, provenance
from rigs import live as rigs
from verification.suites.java import modelled_victim
from verification.suites.java.request_recording import RELEASES, Recording, read_requests
from verification.suites.java.request_trace import Bill, Recorded, bill
from verification.suites.java.scenario import Scenario, all_scenarios

QUICK_BEHIND: Final = (0, 5)
ATTEMPTS: Final = "attempts"
AFTER: Final = "after"
SHOWN_BEHIND: Final = 5
SHOWN_LOSSES: Final = (2, 3)
INTRO: Final = """
A victim loads its table, N rivals commit, then the victim commits. Rivals also commit between the refresh and the swap
of its attempts: losses `2,3` means that two of them make the first attempt fail and three the second. Real Iceberg runs
in a JVM, with `S3FileIO` on a local S3 that logs every request; `JdbcCatalog` on Derby; `RESTCatalog` on a server that
calls Iceberg's own `CatalogHandlers`. The model plays the same scenario.

A row stands for every N it names. It is right if **every** count is equal, by object and operation, attempt by attempt
and after the last one, and if the commit ends the same way. What a REST catalog's server itself reads to answer is part
of the catalog's latency in the model; the metadata object it writes is counted.

The recordings lie in `verification/suites/java/data/`, one per release, and are compared without Java;
`endive verify requests --live` plays the Java parts anew, `python -m rigs.record java-requests` records.
"""
REMARKS: Final = """
Not modelled: where an engine plans and commits on the same table object and nobody has committed in between (N = 0),
Iceberg still has the manifest list in memory, and the first attempt reads one list fewer.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the recording, or against Iceberg itself."""
    scenarios = [each for each in all_scenarios() if not options.is_quick or each.n_behind in QUICK_BEHIND]
    if options.is_live:
        recordings = [rigs.java_requests(scenarios, options.iceberg_jars)]
    else:
        recordings = [each for each in map(read_requests, RELEASES) if each.scenarios]
        recordings = recordings[-1:] if options.is_quick else recordings
    checks = []
    for recording in recordings:
        for family in families([each for each in scenarios if each.key in recording.scenarios]):
            real = [recording.scenarios[each.key] for each in family]
            simulated = [modelled_victim.play(each, recording.iceberg) for each in family]
            checks.extend(compare(family, real, simulated, recording.iceberg))
    return Outcome(
        intro=INTRO,
        checks=tuple(checks),
        tables=(_attempts_table(scenarios, recordings[-1]),),
        remarks=REMARKS,
        provenance=provenance(
            iceberg=", ".join(each.iceberg for each in recordings),
            recorded=", ".join(each.date for each in recordings),
            scenarios=", ".join(str(sum(one.key in each.scenarios for one in scenarios)) for each in recordings),
        ),
    )


def families(scenarios: Sequence[Scenario]) -> list[list[Scenario]]:
    """Scenarios that differ in N only."""
    found: dict[object, list[Scenario]] = {}
    for each in scenarios:
        key = (each.operation.name, each.catalog, each.rivals, each.losses, each.conflict, each.is_pruned)
        found.setdefault(key, []).append(each)
    return list(found.values())


def compare(
    family: Sequence[Scenario], real: Sequence[Recorded], simulated: Sequence[Recorded], release: str = ""
) -> list[Check]:
    """Two checks: the attempts, and what follows the last one; equal in every count of every N, or wrong."""
    differences: dict[str, list[str]] = {ATTEMPTS: [], AFTER: []}
    for scenario, expected, actual in zip(family, real, simulated, strict=True):
        for part, told in different_parts(expected, actual).items():
            differences[part].append(f"N = {scenario.n_behind}: {told}")
    first = family[0]
    checks = []
    for part, wrong in differences.items():
        what = {
            "release": release,
            "catalog": first.catalog,
            "rivals": " + ".join(first.rivals) + _special(first),
            "losses": ",".join(str(count) for count in first.losses) or "none",
            "ends": real[0].outcome,
            "N": ", ".join(str(each.n_behind) for each in family),
            "requests": part,
        }
        checks.append(
            Check(
                name=first.operation.name,
                what=what,
                expected=_sums(real, part),
                actual=_sums(simulated, part),
                holds=not wrong,
                note="; ".join(wrong[:2]) + ("; ..." if len(wrong) > 2 else ""),
            )
        )
    return checks


def different_parts(real: Recorded, simulated: Recorded) -> dict[str, str]:
    """Which part of a scenario differs, and how."""
    if real.outcome != simulated.outcome:
        return {ATTEMPTS: f"ends {simulated.outcome}, not {real.outcome}"}
    if len(real.attempts) != len(simulated.attempts):
        return {ATTEMPTS: f"{len(simulated.attempts) - 1} attempts, not {len(real.attempts) - 1}"}
    found = {}
    told = []
    for index, (expected, actual) in enumerate(zip(real.attempts, simulated.attempts, strict=True)):
        wrong = difference(bill(expected), bill(actual))
        if wrong and index == len(real.attempts) - 1:
            found[AFTER] = wrong
        elif wrong:
            told.append(f"attempt {index + 1}: {wrong}")
    if told:
        found[ATTEMPTS] = ", ".join(told)
    return found


def _sums(recorded: Sequence[Recorded], part: str) -> str:
    """Requests in all, one number per N."""
    sums = []
    for each in recorded:
        counted = each.attempts[-1:] if part == AFTER else each.attempts[:-1]
        sums.append(sum(sum(bill(requests).values()) for requests in counted))
    return ", ".join(str(total) for total in sums)


def _special(scenario: Scenario) -> str:
    if scenario.conflict:
        return f", the {scenario.conflict} in real conflict"
    return ", in another partition" if scenario.is_pruned else ""


def difference(expected: Bill, actual: Bill) -> str:
    """Which counts differ: real, then simulated."""
    names = sorted(expected.keys() | actual.keys())
    return ", ".join(
        f"{name} {expected.get(name, 0)} real, {actual.get(name, 0)} simulated"
        for name in names
        if expected.get(name, 0) != actual.get(name, 0)
    )


def _attempts_table(scenarios: Sequence[Scenario], recording: Recording) -> Table:
    """What real Iceberg asked for, attempt by attempt, in one family of scenarios."""
    rows = []
    for scenario in scenarios:
        is_shown = scenario.n_behind == SHOWN_BEHIND and scenario.losses == SHOWN_LOSSES
        if not is_shown or scenario.key not in recording.scenarios:
            continue
        real = recording.scenarios[scenario.key]
        for index, requests in enumerate(real.attempts):
            where = "after" if index == len(real.attempts) - 1 else str(index + 1)
            is_first = index == 0
            named = (scenario.operation.name, scenario.catalog, " + ".join(scenario.rivals) + _special(scenario))
            rows.append((*(named if is_first else ("", "", "")), where, *_cells(bill(requests))))
    return Table(
        title=f"Requests of real Iceberg by attempt, N = {SHOWN_BEHIND}, losses 2,3",
        headings=(
            "operation",
            "catalog",
            "rivals",
            "attempt",
            "catalog read / swap",
            "metadata read / written",
            "list HEAD / read / written / deleted",
            "manifest read / written / deleted",
        ),
        rows=tuple(rows),
    )


def _cells(counts: Bill) -> tuple[str, ...]:
    shapes = (
        ("catalog", ("read", "cas")),
        ("metadata", ("read", "write")),
        ("manifest_list", ("head", "read", "write", "delete")),
        ("manifest", ("read", "write", "delete")),
    )
    return tuple(" / ".join(str(counts.get(f"{obj}.{op}", 0)) for op in ops) for obj, ops in shapes)
