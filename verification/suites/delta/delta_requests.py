"""Suite ``delta``, single operations of Delta's clients: the model's requests against those that were recorded.

Which operation reads and changes what is in ``delta_pairs``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from endive.verification.suite import POINTS, Check, Options, Outcome, Table, Value, provenance
from verification.suites.delta.delta_pairs import OPERATIONS, Does, source_of
from verification.suites.delta.delta_recording import (
    CHECKSUM_READ,
    CREATE,
    HINT_READ,
    NO_HINT,
    RS,
    SPARK,
    Bill,
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
INTRO_RS: Final = """
A victim of delta-rs loads its table, `behind` rivals commit, then it calls one operation; `lost` rivals commit right
before its PUTs of a commit, one number per PUT. The rig's object server logs every request; the model plays the same
story. A row is right if **every** count of requests for the log is equal, by object and operation, as many follow each
other (*in a row*), and the operation ends the same way. Data files, and one HEAD of every new checkpoint, are left out.

Recorded by `python -m rigs.delta.delta_rs requests`, with a Python that has `deltalake`.
"""
REMARKS_RS: Final = """
Not in its documentation: a checkpoint is written inside the call that makes its version, after a full load, so every
hundredth append takes several times as long. A table that has fallen behind is brought up to date before the first PUT,
and reads the commits it missed three times.
"""
INTRO_HELD_OUT: Final = """
60 stories that nobody chose, judged as those above: operations, checkpoint intervals, age of the table and rivals were
thrown by a die (`held_out_stories` in `rigs/delta/delta_rs.py`). Asked for the first time, 44 were right;
the counts here are those after mending, and after recording anew five that the rig had got wrong.

Recorded by `python -m rigs.delta.delta_rs held_out`.
"""
INTRO_SPARK: Final = """
Statements of Delta Spark through SQL, on the rig's object server by S3A and Delta's own `S3SingleDriverLogStore`.
`behind` rivals have committed since the session last looked (a *cold* one never has), `lost` rivals commit right before
it writes its commit. A row is right if every count of requests for the log is equal and the statement ends the same
way: of a cold session all of it, else from its data on. What S3A asks besides (HEADs, probes of folders, drafts) is
left out; a commit file that is found to be there counts as a refused creation, a checksum that is looked for and not
found as read. *Missing* is the checksum of the newest version when the statement begins, or of the last rival's.

Recorded by `python -m rigs.delta.delta_spark requests`, with a Python that has `pyspark`.
"""
REMARKS_SPARK: Final = """
A blind INSERT reads no files of the log, the newest checksum tells it all it needs; a statement that has to know the
files reads everything since the last checkpoint, even if it lacks one commit alone. After a commit nothing is read, but
every tenth reads the log back to its last checkpoint to write the next.

Where nobody has written the newest checksum yet, the log is read for protocol and metadata, and by who has to know them
once more for the files. An INSERT that has begun so reads it again after its commit, to write its own checksum; who has
lost a race and misses that of the winner reads it twice. Written from Delta's source before it was recorded; the
requests of 39 of these stories were right at once but for the ranges of a checkpoint.

Shown without a limit: a session that meets a new checkpoint in a listing reads it in two ranges more, which the model
has when it loads its table, and not after its commit.
"""


def run_rs(options: Options) -> Outcome:
    """Single operations of delta-rs."""
    return _outcome(RS, INTRO_RS, REMARKS_RS, options)


def run_held_out(options: Options) -> Outcome:
    """Stories of delta-rs that a die threw."""
    return _outcome(RS, INTRO_HELD_OUT, "", options, "held_out")


def run_spark(options: Options) -> Outcome:
    """Single statements of Delta Spark."""
    return _outcome(SPARK, INTRO_SPARK, REMARKS_SPARK, options)


def _outcome(client: str, intro: str, remarks: str, options: Options, what: str = "requests") -> Outcome:
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
    checks = request_checks(story.operation, what, told["requests"], (real, simulated), played.rounds, wrong)
    if is_left_out:
        checks[0] = replace(checks[0], measure=POINTS, holds=True)
    return checks if client == RS and story.operation != LOAD else checks[:1]


def request_checks(
    name: str, what: Mapping[str, Value], requests: Sequence[str], pair: tuple[Bill, Bill], in_a_row: int, wrong: str
) -> list[Check]:
    """As many requests, real and simulated, unless something is wrong; and as many one after another."""
    real, simulated = (sum(bill.values()) for bill in pair)
    counted = {**what, "compared": "requests"}
    depth = {**what, "compared": "in a row"}
    return [
        Check(name=name, what=counted, expected=real, actual=simulated, holds=not wrong, note=wrong),
        Check.exact(name, depth, expected=rounds(requests), actual=in_a_row),
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
