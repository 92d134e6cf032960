"""Suite ``delta``, single operations of Delta's clients: the model's requests against those that were recorded.

Which operation reads and changes what is in ``delta_pairs``.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from endive.verification.suite import EXACT, POINTS, Check, Options, Outcome, Table, Value, provenance
from verification.suites.delta.delta_pairs import OPERATIONS, Does, source_of
from verification.suites.delta.delta_recording import (
    CHECKSUM_READ,
    CREATE,
    HINT_READ,
    NO_HINT,
    RS,
    SPARK,
    Story,
    bill,
    difference,
    own_part,
    read,
    rounds,
)
from verification.suites.delta.modelled_story import Played, play_story

NAMES: Final = {RS: "delta-rs", SPARK: "delta spark"}
LOAD: Final = "load"
# Of a checkpoint that was found by a listing Delta Spark reads two ranges more; the model forgets it after the load.
FOUND_TWICE: Final = "checkpoint.read 5 real, 3 simulated"
BASE_COMMITS: Final = {RS: 3, SPARK: 5}
CHECKPOINTED_COMMITS: Final = 6  # in the stories of delta-rs with a checkpoint between a victim and its rivals
LEVEL: Final = {RS: {}, SPARK: {"isolation": "serializable"}}
_LOADER: Final = {RS: Does("blind_append", 0), SPARK: Does("append_after_read", 0, "", "table")}


def outcome_of(client: str, intro: str, remarks: str, options: Options, what: str = "requests") -> Outcome:
    """Hold the model against a recording; quick: without the longest stories."""
    document = read(client, what)
    told = {Story.of(key): each for key, each in document["entries"].items()}
    if options.is_quick:
        told = {story: each for story, each in told.items() if len(story.lost) <= 3}
    checks = [check for story, each in told.items() for check in compare(client, story, each)]
    versions = {key: document[key] for key in ("deltalake", "delta", "spark") if key in document}
    return Outcome(
        intro=intro,
        checks=tuple(checks),
        tables=(_sequences(NAMES[client], document["entries"]),) if what == "requests" else (),
        remarks=remarks,
        provenance=provenance(**versions, recorded=document["date"], stories=len(told)),
    )


def compare(client: str, story: Story, told: dict[str, Any]) -> list[Check]:
    """Every count equal and the same end; for delta-rs also as many requests one after another."""
    played = play(client, story)
    real, simulated = bill(told["requests"]), played.bill
    if story.operation == LOAD:
        simulated = played.loading
    elif client == SPARK and story.is_cold:
        simulated = played.loading + played.bill
    elif client == SPARK:
        real = bill(own_part(told["requests"]))
    if client == SPARK:
        real[HINT_READ] += (story.is_cold or story.operation == LOAD) and NO_HINT in told["requests"]
        real[CREATE] += len(story.lost)  # a file that is there already: refused without a PUT
        has_to_know = story.is_cold or story.operation == LOAD or story.lost
        real[CHECKSUM_READ] += bool(story.is_bare and has_to_know)  # found not to be there, without a GET
        real += Counter()
    is_right_end = story.operation == LOAD or (played.outcome == "committed") == (told["outcome"] == "committed")
    wrong = difference(real, simulated)
    is_left_out = client == SPARK and wrong == FOUND_TWICE
    if not is_right_end:
        wrong = f"ends {played.outcome}, not {told['outcome']}"
    what: dict[str, Value] = {
        "mode": story.mode,
        "behind": story.behind,
        "lost": ", ".join(map(str, story.lost[:3])) + (", ..." if len(story.lost) > 3 else ""),
        **({"checksum": "missing" if story.is_bare else ""} if client == SPARK else {}),
        "commits": story.commits or _commits(client, story),
        "ends": str(told["outcome"]),
    }
    counts = Check(
        name=story.operation,
        what={**what, "compared": "requests"},
        expected=sum(real.values()),
        actual=sum(simulated.values()),
        measure=POINTS if is_left_out else EXACT,
        holds=not wrong or is_left_out,
        note=wrong,
    )
    if client != RS or story.operation == LOAD:
        return [counts]
    depth = rounds(told["requests"])
    return [
        counts,
        Check.exact(story.operation, {**what, "compared": "in a row"}, expected=depth, actual=played.rounds),
    ]


def play(client: str, story: Story) -> Played:
    """The model's side of a story."""
    does = OPERATIONS[client].get(story.operation, _LOADER[client])
    rivals_there = does.partition == 1  # rivals append to partition 9
    if client == SPARK:  # what is behind when a statement begins, it knows when it commits
        story = story._replace(behind=0, commits=(story.commits or BASE_COMMITS[client]) + story.behind)
    return play_story(client, story, source_of(does, 1, LEVEL[client]), _commits(client, story), is_same=rivals_there)


def _commits(client: str, story: Story) -> int:
    return CHECKPOINTED_COMMITS if client == RS and story.interval else BASE_COMMITS[client]


def _sequences(name: str, entries: dict[str, Any]) -> Table:
    """What was asked for, in its order."""
    rows = tuple((key, ", ".join(told["requests"])) for key, told in entries.items() if "times" not in key)
    note = "`|` joins requests under way together; `commit+1` is the commit file after the table's version."
    return Table(
        title=f"Requests of {name} as recorded",
        headings=("story", "requests"),
        rows=rows,
        note=note,
    )
