"""``python -m rigs.delta.delta_spark requests|pairs|history``: Delta Spark through SQL.

It needs a Python with ``pyspark`` and a folder with five jars, none of which the package uses:

    python -m venv delta && delta/bin/pip install pyspark==4.1.0
    # io.delta: delta-spark_2.13 and delta-storage 4.1.0; io.unitycatalog: unitycatalog-client 0.4.0;
    # org.apache.hadoop: hadoop-aws 3.4.2; software.amazon.awssdk: bundle 2.29.52
    delta/bin/python -m rigs.delta.delta_spark pairs --jars jars --missing

Tables lie on the rig's object server, reached by S3A and Delta's own ``S3SingleDriverLogStore``. Two names of one
bucket, ``victim`` and ``rival``, make two logs of one table in one JVM: neither shares the other's lock, cache or
snapshot. The rival commits when the victim first asks whether its commit is there, which is right before it writes
it.

The table has partitions 3 and 9. Partition 3 has the files A (ids 30 to 33) and B (35 to 38), partition 9 has E (90
to 93) and F (95 to 98). Open-source Delta refuses every isolation level but ``Serializable`` as a table property; the
others are written into the table's first commit, where a writer of another make may have put them.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from rigs.delta.log_names import newest_version, object_kind, removed_twice, words_of
from rigs.java.object_server import METHODS, Door, LoggedRequest, ObjectServer
from rigs.java.wire import HttpRequest
from verification import recordings
from verification.recordings import read_entries, today, write_entries

DATA: Final = Path(__file__).parents[2] / "verification/suites/delta/data"
MODES: Final = ("copy-on-write", "deletion vectors")
ISOLATIONS: Final = ("Serializable", "WriteSerializable")
MERGE: Final = (
    "MERGE INTO {t} t USING (SELECT %d AS id, 1 AS v) s ON t.id = s.id%s WHEN MATCHED THEN UPDATE SET v = s.v"
)
STATEMENTS: Final = {
    "insert, p = 3": "INSERT INTO {t} VALUES (39, 3, 0)",
    "insert, p = 9": "INSERT INTO {t} VALUES (99, 9, 0)",
    "insert, p = 3 from p = 9": "INSERT INTO {t} SELECT id - 50, 3, v FROM {t} WHERE p = 9 AND id = 90",
    "delete, A": "DELETE FROM {t} WHERE p = 3 AND id = 30",
    "delete, the same file": "DELETE FROM {t} WHERE p = 3 AND id = 31",
    "delete, B": "DELETE FROM {t} WHERE p = 3 AND id = 36",
    "delete, a row of p = 9": "DELETE FROM {t} WHERE p = 9 AND id = 91",
    "delete, all of p = 9": "DELETE FROM {t} WHERE p = 9",
    "update, A": "UPDATE {t} SET v = 1 WHERE p = 3 AND id = 30",
    "update, by id alone": "UPDATE {t} SET v = 1 WHERE id = 30",
    "merge, by id alone": MERGE % (30, ""),
    "merge, p = 3": MERGE % (30, " AND t.p = 3"),
    "merge, p = 9": MERGE % (91, " AND t.p = 9"),
    "optimize, p = 3": "OPTIMIZE {t} WHERE p = 3",
    "optimize, p = 9": "OPTIMIZE {t} WHERE p = 9",
}
VICTIMS: Final = (
    "insert, p = 3",
    "insert, p = 3 from p = 9",
    "delete, A",
    "delete, all of p = 9",
    "update, A",
    "update, by id alone",
    "merge, by id alone",
    "merge, p = 3",
    "optimize, p = 3",
)
RIVALS: Final = (
    "insert, p = 3",
    "insert, p = 9",
    "insert, p = 3 from p = 9",
    "delete, the same file",
    "delete, B",
    "delete, a row of p = 9",
    "delete, all of p = 9",
    "merge, p = 9",
    "optimize, p = 3",
    "optimize, p = 9",
)
HISTORY: Final = (
    "insert, p = 3",
    "delete, A",
    "insert, p = 9",
    "merge, p = 3",
    "insert, p = 3 from p = 9",
    "optimize, p = 9",
)
HISTORY_OUT: Final = Path(__file__).parents[2] / "tests/observation/data/delta_spark"
WITHOUT_CHECKSUM: Final[tuple[tuple[int, tuple[int, ...]], ...]] = (
    *((behind, ()) for behind in (1, 2, 7)),
    *((0, lost) for lost in ((1,), (2,), (1, 1), (7,), (5,))),
)
BUCKET: Final = "lake"
DELAY_MS: Final = 4.0
_PLAIN: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27,}\S*|s3a?://\S+")
_CHARS: Final = 80


class AliasedServer(ObjectServer):
    """One bucket under the names of its doors."""

    def serve(self, door: Door, request: HttpRequest) -> bytes:
        """Answer as if the bucket had been asked for by its own name."""
        headers = dict(request.headers)
        source = headers.get("x-amz-copy-source")
        if source is not None:
            headers["x-amz-copy-source"] = source.replace(f"{door.name}/", f"{BUCKET}/", 1)
        target = request.target.replace(f"/{door.name}", f"/{BUCKET}", 1)
        return super().serve(door, dataclasses.replace(request, target=target, headers=headers))


def start_spark(
    jars: Path, doors: Sequence[Door], cores: int = 4, besides: Mapping[str, str] = MappingProxyType({})
) -> Any:
    """A session whose buckets are named as the doors, with settings ``besides`` those of every rig."""
    settings = {
        "spark.jars": ",".join(str(jar.resolve()) for jar in sorted(jars.glob("*.jar"))),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.delta.logStore.s3a.impl": "io.delta.storage.S3SingleDriverLogStore",
        "spark.hadoop.fs.s3a.access.key": "local",
        "spark.hadoop.fs.s3a.secret.key": "local",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.fast.upload.buffer": "bytebuffer",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.log.level": "OFF",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m",
    }
    for door in doors:
        settings[f"spark.hadoop.fs.s3a.bucket.{door.name}.endpoint"] = f"http://127.0.0.1:{door.port}"
    return recordings.start_spark(cores, {**settings, **besides})


class Player:
    """Plays stories, each on a copy of a table that was made once."""

    def __init__(self, server: ObjectServer, jars: Path) -> None:
        self.server = server
        self.victim, self.rival = server.open_door("victim"), server.open_door("rival")
        self.rival.is_logged = False
        self.spark = start_spark(jars, (self.victim, self.rival))
        self._copies = 0
        for mode in MODES:
            self._make(_plain(mode), mode)

    def _make(self, name: str, mode: str) -> None:
        """The table of this file's docstring, five commits old (versions 0 to 4)."""
        table = f"delta.`s3a://rival/{name}`"
        wanted = str(mode == MODES[1]).lower()
        self.spark.sql(
            f"CREATE TABLE {table} (id int, p int, v int) USING delta PARTITIONED BY (p) "
            f"TBLPROPERTIES ('delta.enableDeletionVectors' = '{wanted}', 'delta.isolationLevel' = 'Serializable')"
        )
        for first in (30, 35, 90, 95):
            rows = f"SELECT cast({first} + id AS int), {first // 10}, 0 FROM range(0, 4, 1, 1)"
            self.spark.sql(f"INSERT INTO {table} {rows}")

    def copy(self, mode: str, isolation: str) -> str:
        """A table of its own, at an isolation level; what would contradict it is left out."""
        self._copies += 1
        source, target = f"{BUCKET}/{_plain(mode)}/", f"{BUCKET}/t{self._copies}/"
        for key, body in list(self.server.objects.items()):
            is_contrary = key.endswith(".crc") and isolation != ISOLATIONS[0]
            if not key.startswith(source) or is_contrary:
                continue
            if key.endswith("0.json"):
                body = body.replace(b'isolationLevel":"Serializable"}', f'isolationLevel":"{isolation}"}}'.encode())
            self.server.objects[target + key[len(source) :]] = body
            self.server.modified_s[target + key[len(source) :]] = time.time()
        return f"t{self._copies}"

    def run(self, statement: str, table: str, bucket: str) -> dict[str, str]:
        """The end of a statement."""
        try:
            self.spark.sql(STATEMENTS[statement].format(t=f"delta.`s3a://{bucket}/{table}`")).collect()
        except Exception as error:
            return _ending(error)
        return {"outcome": "committed"}

    def pair(self, mode: str, isolation: str, victim: str, rival: str) -> dict[str, Any]:
        """How the victim ends, the rival having committed right before it."""
        table = self.copy(mode, isolation)
        base = newest_version(self.server, f"{BUCKET}/{table}")
        came: list[dict[str, str]] = []
        self.victim.before = self._interruption(table, (1,), rival, came)
        told = self.run(victim, table, "victim")
        self.victim.before = None
        self.server.take_log()
        if [each["outcome"] for each in came] != ["committed"]:
            return {}  # nobody was overtaken
        twice = removed_twice(self.server, f"{BUCKET}/{table}", base)
        return {**told, "removed_twice": twice} if twice else told

    def play(
        self,
        statement: str,
        mode: str,
        behind: int,
        lost: Sequence[int],
        older: int = 0,
        *,
        is_known: bool = True,
        is_bare: bool = False,
    ) -> dict[str, Any]:
        """The requests of one statement, of a session that knows the table or has never seen it.

        ``is_bare``: nobody has written the checksum of the version that is the newest when the statement begins, or of
        the newest rival's that it loses to.
        """
        table = self.copy(mode, ISOLATIONS[0])
        for _ in range(older):
            self.run("insert, p = 9", table, "rival")
        base = newest_version(self.server, f"{BUCKET}/{table}")
        if is_known:
            self.spark.sql(f"SELECT * FROM delta.`s3a://victim/{table}`").collect()
        for _ in range(behind):
            self.run("insert, p = 9", table, "rival")
        if is_bare and not lost:
            self._take_checksum(table)
        self.server.take_log()
        self.victim.delays_ms = dict.fromkeys(METHODS, DELAY_MS)
        self.victim.before = self._interruption(table, lost, "insert, p = 9", [], is_bare=is_bare)
        told = self.run(statement, table, "victim")
        self.victim.before, self.victim.delays_ms = None, {}
        return {**told, "requests": words_of(self.server.take_log(), base)}

    def _take_checksum(self, table: str) -> None:
        """As if the newest version's were not written yet."""
        version = newest_version(self.server, f"{BUCKET}/{table}")
        del self.server.objects[f"{BUCKET}/{table}/_delta_log/{version:020}.crc"]

    def load(self, older: int, *, is_bare: bool = False) -> dict[str, Any]:
        """A session that has never seen the table."""
        table = self.copy(MODES[0], ISOLATIONS[0])
        for _ in range(older):
            self.run("insert, p = 9", table, "rival")
        base = newest_version(self.server, f"{BUCKET}/{table}")
        if is_bare:
            self._take_checksum(table)
        self.server.take_log()
        self.victim.delays_ms = dict.fromkeys(METHODS, DELAY_MS)
        self.spark.sql(f"SELECT * FROM delta.`s3a://victim/{table}`").collect()
        self.victim.delays_ms = {}
        return {"outcome": "loaded", "requests": words_of(self.server.take_log(), base)}

    def _interruption(
        self, table: str, lost: Sequence[int], rival: str, came: list[dict[str, str]], *, is_bare: bool = False
    ) -> Any:
        counts, seen = list(lost), set[str]()

        def before(entry: LoggedRequest) -> None:
            is_asked = entry.method == "HEAD" and entry.kind == "commit" and entry.key not in self.server.objects
            if is_asked and counts and entry.key not in seen:
                seen.add(entry.key)
                came.extend(self.run(rival, table, "rival") for _ in range(counts.pop(0)))
                if is_bare:
                    self._take_checksum(table)

        return before


def _plain(mode: str) -> str:
    return mode.replace(" ", "-")


def _ending(error: Exception) -> dict[str, str]:
    text = str(error)
    found = re.search(r"(?:io\.delta\.exceptions|org\.apache\.spark\.sql\.delta)\.(\w+): ([^\n]*)", text)
    exception, message = (found[1], found[2]) if found else (type(error).__name__, text)
    return {"outcome": "failed", "exception": exception, "message": _PLAIN.sub("...", message)[:_CHARS]}


def stories(player: Player) -> Iterator[tuple[str, Any]]:
    """Every story, played when asked for."""
    insert, plain = "insert, p = 3", MODES[0]
    for older in (0, 3, 6, 8):
        yield f"load / {5 + older} commits", lambda older=older: player.load(older)
    for mode, name in itertools.product(MODES, VICTIMS):
        yield f"{name} / {mode} / fresh", lambda name=name, mode=mode: player.play(name, mode, 0, ())
    for name in (insert, "delete, A"):
        yield f"{name} / {plain} / cold", lambda name=name: player.play(name, plain, 0, (), is_known=False)
    for mode in MODES:
        yield f"delete, A / {mode} / behind 2", lambda mode=mode: player.play("delete, A", mode, 2, ())
    for count in (1, 2, 5):
        yield f"{insert} / {plain} / behind {count}", lambda count=count: player.play(insert, plain, count, ())
    for lost in ((1,), (2,), (5,), (1, 1), (2, 2), (1, 1, 1)):
        told = ", ".join(map(str, lost))
        yield f"{insert} / {plain} / lost {told}", lambda lost=lost: player.play(insert, plain, 0, lost)
    for mode, name in itertools.product(MODES, ("delete, A", "update, A", "merge, p = 3", "optimize, p = 3")):
        yield f"{name} / {mode} / lost 1", lambda name=name, mode=mode: player.play(name, mode, 0, (1,))
    for older in (5, 6):  # the insert is version 10, then 11
        yield f"{insert} / {plain} / commit {5 + older}", lambda older=older: player.play(insert, plain, 0, (), older)
    for name in (insert, "insert, p = 3 from p = 9", "delete, A", "merge, p = 3", "optimize, p = 3"):
        yield f"{name} / {plain} / behind 7, past a checkpoint", lambda name=name: player.play(name, plain, 7, ())
    yield f"{insert} / {plain} / lost 7, past a checkpoint", lambda: player.play(insert, plain, 0, (7,))
    for older in (0, 3, 8):
        yield f"load / {5 + older} commits, no checksum", lambda older=older: player.load(older, is_bare=True)
    for mode, name in itertools.product(MODES, (insert, "delete, A")):
        bare = f"{name} / {mode} / %s, no checksum"
        yield bare % "cold", lambda each=(name, mode, 0, ()): player.play(*each, is_known=False, is_bare=True)
        for behind, losses in WITHOUT_CHECKSUM:
            told = f"lost {', '.join(map(str, losses))}" if losses else f"behind {behind}"
            yield bare % told, lambda each=(name, mode, behind, losses): player.play(*each, is_bare=True)


def pairs(player: Player) -> Iterator[tuple[str, Any]]:
    """Every pair, played when asked for."""
    for isolation, mode, victim, rival in itertools.product(ISOLATIONS, MODES, VICTIMS, RIVALS):
        key = f"{mode} / {isolation} / {victim} / {rival}"
        yield key, lambda each=(mode, isolation, victim, rival): player.pair(*each)


def record_history(given: argparse.Namespace) -> None:
    """A table's log after a handful of statements, without its checkpoints: what ``endive observe`` reads."""
    with AliasedServer(object_kind) as server:
        player = Player(server, given.jars)
        table = player.copy(MODES[1], ISOLATIONS[0])
        for statement in HISTORY:
            player.run(statement, table, "victim")
        player.spark.stop()
        log = {key: body for key, body in server.objects.items() if key.startswith(f"{BUCKET}/{table}/_delta_log/")}
    folder = given.out / "_delta_log"
    folder.mkdir(parents=True, exist_ok=True)
    for key, body in log.items():
        if key.endswith((".json", "_last_checkpoint")):
            (folder / key.rpartition("/")[2]).write_bytes(body)
    print(f"{len(log)} files of the log in {folder}")


def record(given: argparse.Namespace) -> None:
    """Play what is missing, until the time is over, and keep what was played before."""
    entries = read_entries(given.out) if given.missing else {}
    end_s = time.monotonic() + 60.0 * given.minutes
    delta = next(re.findall(r"\d+\.\d+\.\d+", jar.name)[-1] for jar in given.jars.glob("delta-spark*.jar"))
    with AliasedServer(object_kind) as server:
        player = Player(server, given.jars)
        head = {"spark": player.spark.version, "delta": delta, "date": today()}
        asked = list((stories if given.what == "requests" else pairs)(player))
        for key, play in asked:
            if key in entries or not re.search(given.only, key) or time.monotonic() > end_s:
                continue
            told = play()
            if told:
                entries[key] = told
                write_entries(given.out, head, {key: entries[key] for key, _ in asked if key in entries})
        player.spark.stop()
    print(f"{len(entries)} of {len(asked)} in {given.out}")


def main() -> int:
    """Record what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("requests", "pairs", "history"))
    parser.add_argument("--jars", type=Path, required=True, help="a folder with the five jars")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--missing", action="store_true", help="keep what is there, record the rest")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--only", default="", metavar="PATTERN", help="entries whose key has it")
    given = parser.parse_args()
    given.out = given.out or (HISTORY_OUT if given.what == "history" else DATA / f"spark_{given.what}.json")
    (record_history if given.what == "history" else record)(given)
    return 0


if __name__ == "__main__":
    sys.exit(main())
