"""``python -m rigs.record WHAT``: make a recording anew from a real Iceberg, into the package's data.

What is recorded, and how, lives in ``rigs.java`` and ``rigs.pyiceberg``.

    python -m rigs.record java-requests           every scenario on Java Iceberg
    python -m rigs.record java-pairs              every pair of victim and rival on Java Iceberg
    python -m rigs.record java-held-out           pairs that a die threw
    python -m rigs.record java-load               Java Iceberg under load
    python -m rigs.record java-loops              row deltas, compactions, kept tables, REST, under load
    python -m rigs.record java-replay             real writers on one table: metadata, reports, a profile
    python -m rigs.record unpack-replay --out DIR the files of that recording, as a user would have them
    python -m rigs.record pyiceberg-requests      every story on the installed PyIceberg
    python -m rigs.record pyiceberg-pairs         every pair of victim and rival on PyIceberg
    python -m rigs.record pyiceberg-load          PyIceberg under load
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from endive.errors import EndiveError
from verification.recordings import write_entries
from verification.suites.java import held_out
from verification.suites.java.java_replay import REPLAY_FILE
from verification.suites.java.pair_recording import read_pairs, write_pairs
from verification.suites.java.pair_sheets import SHEETS, all_pairs, pairs_of
from verification.suites.java.pairs import Pair
from verification.suites.java.request_recording import DATA, NEWEST, read_requests, write_requests
from verification.suites.java.scenario import all_scenarios
from verification.suites.load.loops import all_loops, delete_loops
from verification.suites.load.measurement import LOAD_FILE, LOOPS_FILE, write_load, write_loops
from verification.suites.pyiceberg import pyiceberg_load, pyiceberg_requests
from verification.suites.pyiceberg.met import PAIRS_FILE as PYICEBERG_PAIRS_FILE


def _java_requests(given: argparse.Namespace) -> None:
    from rigs.java.request_stage import record

    folder: Path = given.out or DATA
    known = read_requests(given.release, folder).scenarios if given.missing else {}
    wanted = [each for each in all_scenarios() if each.key not in known and re.search(given.only, each.key)]
    made = record(wanted, given.iceberg_jars, given.release, given.minutes)
    found = {**known, **made.scenarios}
    scenarios = {each.key: found[each.key] for each in all_scenarios() if each.key in found}
    write_requests(replace(made, scenarios=scenarios), folder)


def _java_pairs(given: argparse.Namespace) -> None:
    detailed = {each.key for sheet in SHEETS if sheet.is_thorough for each in pairs_of(sheet)}
    _record_pairs(given, all_pairs(), "pairs", detailed)


def _java_held_out(given: argparse.Namespace) -> None:
    _record_pairs(given, held_out.throw(), held_out.WHAT)


def _record_pairs(
    given: argparse.Namespace, pairs: Sequence[Pair], what: str, detailed: Collection[str] = frozenset()
) -> None:
    """Of those that are not detailed it is not kept what they read."""
    from rigs.java.pair_stage import record

    folder: Path = given.out or DATA
    known = read_pairs(given.release, folder, what).pairs if given.missing else {}
    wanted = [each for each in pairs if each.key not in known and re.search(given.only, each.key)]
    made = record(wanted, given.iceberg_jars, given.release, given.minutes)
    found = {**known, **made.pairs}
    kept = {
        each.key: found[each.key] if each.key in detailed else replace(found[each.key], reads=())
        for each in pairs
        if each.key in found
    }
    write_pairs(replace(made, pairs=kept), folder, what)


def _java_load(given: argparse.Namespace) -> None:
    from rigs.java.load_plan import measure

    out: Path = given.out or LOAD_FILE
    write_load(
        measure(
            given.iceberg_jars,
            repetitions=given.repetitions,
            duration_s=given.seconds,
            beside_repetitions=given.beside_repetitions,
            keep=lambda document: write_load(document, out),
        ),
        out,
    )


def _java_loops(given: argparse.Namespace) -> None:
    from rigs.java.loop_stage import measure_loops

    out: Path = given.out or LOOPS_FILE
    loops = [
        loop for loop in (*all_loops(), *delete_loops()) if not given.only or re.search("|".join(given.only), loop.key)
    ]
    measure_loops(
        loops,
        given.iceberg_jars,
        repetitions=given.repetitions,
        duration_s=given.seconds,
        keep=lambda document: write_loops(document, out),
    )


def _java_replay(given: argparse.Namespace) -> None:
    from rigs.java.observed_stage import record

    (given.out or REPLAY_FILE).write_text(json.dumps(record(given.iceberg_jars, given.seconds)), encoding="utf-8")


def _unpack_replay(given: argparse.Namespace) -> None:
    """The recording of java-replay as the files a user would have: for the guide, and for whoever wants to try."""
    document = json.loads(REPLAY_FILE.read_text(encoding="utf-8"))
    folder: Path = given.out or Path("replay")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "events.metadata.json").write_text(document["metadata"], encoding="utf-8")
    (folder / "reports.jsonl").write_text("\n".join(document["reports"]) + "\n", encoding="utf-8")
    (folder / "store.toml").write_text(document["profile"], encoding="utf-8")


def _pyiceberg_requests(given: argparse.Namespace) -> None:
    from rigs.pyiceberg.story_stage import record

    _write_scenarios(given.out or pyiceberg_requests.RECORDING_FILE, record())


def _pyiceberg_pairs(given: argparse.Namespace) -> None:
    from rigs.pyiceberg.met_stage import record

    _write_scenarios(given.out or PYICEBERG_PAIRS_FILE, record())


def _write_scenarios(path: Path, recorded: dict[str, Any]) -> None:
    head = {name: value for name, value in recorded.items() if name != "scenarios"}
    write_entries(path, head, recorded["scenarios"], "scenarios")


def _pyiceberg_load(given: argparse.Namespace) -> None:
    from rigs.pyiceberg.load_writers import measure_all

    document = measure_all(given.seconds, given.repetitions, given.writers)
    (given.out or pyiceberg_load.LOAD_FILE).write_text(json.dumps(document), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m rigs.record", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_subparsers(required=True, metavar="WHAT")
    simple = {
        "pyiceberg-requests": _pyiceberg_requests,
        "pyiceberg-pairs": _pyiceberg_pairs,
        "unpack-replay": _unpack_replay,
    }
    for name, record in simple.items():
        what.add_parser(name).set_defaults(record=record)
    recorders = {"java-requests": _java_requests, "java-held-out": _java_held_out, "java-pairs": _java_pairs}
    for name, record in recorders.items():
        command = what.add_parser(name)
        command.set_defaults(record=record)
        command.add_argument("--release", default=NEWEST, help="of Iceberg, such as 1.9.2")
        command.add_argument("--missing", action="store_true", help="keep what is there, record the rest")
        command.add_argument("--minutes", type=float, default=None, help="stop after so many")
        command.add_argument("--only", default="", metavar="PATTERN", help="entries whose key has it")
    command = what.add_parser("java-load")
    command.set_defaults(record=_java_load)
    command.add_argument("--seconds", type=float, default=30.0)
    command.add_argument("--repetitions", type=int, default=12)
    command.add_argument("--beside-repetitions", type=int, default=8)
    command = what.add_parser("java-loops")
    command.set_defaults(record=_java_loops)
    command.add_argument("--seconds", type=float, default=15.0)
    command.add_argument("--repetitions", type=int, default=4)
    command.add_argument("--only", nargs="*", default=[], metavar="PATTERN", help="cells whose key has it")
    command = what.add_parser("java-replay")
    command.set_defaults(record=_java_replay)
    command.add_argument("--seconds", type=float, default=1320.0)
    command = what.add_parser("pyiceberg-load")
    command.set_defaults(record=_pyiceberg_load)
    command.add_argument("--seconds", type=float, default=20.0)
    command.add_argument("--repetitions", type=int, default=10)
    command.add_argument("--writers", type=int, nargs="*", default=[1, 2, 4, 8, 16])
    for name, command in what.choices.items():
        command.add_argument("--out", type=Path, default=None, help="another place than the package's data")
        if name.startswith("java"):
            command.add_argument("--iceberg-jars", type=Path, default=None, help="a folder; else Maven fetches them")
    return parser


def main() -> int:
    """Record what was asked for."""
    given = _parser().parse_args()
    try:
        given.record(given)
    except EndiveError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
