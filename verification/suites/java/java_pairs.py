"""Suite ``requests``, pairs of Java Iceberg: who makes whom fail, and what each attempt asks for.

The pairs live in ``pair_sheets``, the recordings in ``pair_recording``, the model's side in ``modelled_pair``;
``docs/model/conflicts.md`` shows the recording as tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from endive.verification.suite import UNJUDGED, Check, Options, Outcome, Table, Value, provenance
from rigs import live as rigs
from verification.suites.java import modelled_pair
from verification.suites.java.java_requests import different_parts
from verification.suites.java.pair_recording import PairRecording, RecordedPair, read_pairs
from verification.suites.java.pair_sheets import all_pairs
from verification.suites.java.pairs import Pair
from verification.suites.java.request_recording import RELEASES, SAMPLED
from verification.suites.java.request_trace import VALIDATION_EXCEPTION, Recorded, bill

NOT_MODELLED: Final = "not modelled yet"
QUICK_EVERY: Final = 6  # of the pairs with one rival
INTRO: Final = """
Every victim beside every rival, on one table ([who conflicts with whom](../model/conflicts.md)). A row is right if the
commit ends the same way, with as many attempts, and every count of requests is equal in every attempt; the failing
attempt of a victim that fails for good is not counted, because real Iceberg stops at the first check that fails. Where
rivals change how many manifests hold the victim's files, its verdict alone is held. Not modelled: rollback,
`RewriteManifests.clusterBy`, a row delta that no engine asks for (it looks for delete files but not for dropped ones),
and an expiry behind another, which commits nothing.

Recorded by `python -m rigs.record java-pairs`.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the recordings of every release, or against Iceberg itself."""
    pairs = [pair for pair in all_pairs() if not options.is_quick or pair.count <= 1]
    pairs = pairs[::QUICK_EVERY] if options.is_quick else pairs
    if options.is_live:
        recordings = [rigs.java_pairs(pairs, options.iceberg_jars)]
    else:
        recordings = [read_pairs(release) for release in (RELEASES[-1:] if options.is_quick else (*RELEASES, *SAMPLED))]
    played, checks, origin = play_all(pairs, recordings)
    return Outcome(
        intro=INTRO,
        checks=tuple(check for check in checks if check.measure != UNJUDGED),
        tables=(_missing_table(played, checks),),
        provenance=provenance(**origin, pairs=len(played)),
    )


def play_all(
    pairs: Sequence[Pair], recordings: Sequence[PairRecording]
) -> tuple[list[Pair], tuple[Check, ...], dict[str, Value]]:
    """Every pair that a recording has, the check of each, and what they are held against."""
    found = [(recording, pair) for recording in recordings for pair in pairs if pair.key in recording.pairs]
    checks = tuple(
        compare(pair, recording.pairs[pair.key], modelled_pair.play(pair, recording.iceberg), recording.iceberg)
        for recording, pair in found
    )
    origin: dict[str, Value] = {
        "iceberg": ", ".join(recording.iceberg for recording in recordings),
        "recorded": ", ".join(recording.date for recording in recordings),
    }
    return [pair for _, pair in found], checks, origin


def compare(pair: Pair, real: RecordedPair, simulated: Recorded | None, release: str = "") -> Check:
    """Right if ending, attempts and every count are equal; unjudged if the model has nothing to say."""
    what: dict[str, Value] = {
        "release": release,
        "rival": ", then ".join(each.name for each in pair.rivals) or "nobody",
        "touches": ", then ".join(each.touches for each in pair.rivals),
        "rivals": f"{pair.count} {pair.when}" if pair.rival else "",
    }
    expected = told(real.recorded)
    if simulated is None:
        return Check(
            name=pair.victim.name, what=what, expected=expected, actual=None, measure=UNJUDGED, note=NOT_MODELLED
        )
    is_whole = modelled_pair.says_requests(pair)
    what["held"] = "verdict, requests" if is_whole else "verdict"
    wrong = different_parts(*(before_failure(each) for each in (real.recorded, simulated)))
    if not is_whole and simulated.outcome == real.recorded.outcome:
        wrong = {}
    return Check(
        name=pair.victim.name,
        what=what,
        expected=expected,
        actual=told(simulated),
        holds=not wrong,
        note="; ".join(f"{part}: {how}" for part, how in wrong.items()),
    )


def before_failure(recorded: Recorded) -> Recorded:
    """What is judged: all of a txn that commits; of one that fails for good, what came before the failing attempt."""
    if recorded.outcome != VALIDATION_EXCEPTION:
        return recorded
    return replace(recorded, attempts=(*recorded.attempts[:-2], (), ()))


def told(recorded: Recorded) -> str:
    """How it ended, after how many attempts and requests."""
    attempts = len(recorded.attempts) - 1
    requests = sum(sum(bill(each).values()) for each in recorded.attempts)
    return f"{recorded.outcome}, {attempts} attempt{'s' * (attempts != 1)}, {requests} requests"


def _missing_table(pairs: list[Pair], checks: tuple[Check, ...]) -> Table:
    """How many pairs of each victim the model cannot play."""
    rows: list[tuple[Value, ...]] = []
    for name in dict.fromkeys(pair.victim.name for pair in pairs):
        own = [check for check in checks if check.name == name]
        missing = sum(check.measure == UNJUDGED for check in own)
        rows.append((name, len(own), len(own) - missing, missing))
    return Table(title="Pairs by victim", headings=("victim", "pairs", "judged", NOT_MODELLED), rows=tuple(rows))
