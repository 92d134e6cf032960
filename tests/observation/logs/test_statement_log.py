"""A plain log of commits: what it says, and how a bad one is refused."""

import re

import pytest

from endive.errors import ObservationError
from endive.observation.logs.statement_log import read_log

HEADER = "timestamp,operation,table,duration,attempts,outcome\n"


def test_a_log_is_one_history_per_table(tmp_path):
    path = tmp_path / "commits.csv"
    path.write_text(
        HEADER + "2026-03-01T12:00:00Z,append,db.a,210,1,committed\n"
        "2026-03-01T12:00:01Z,overwrite,db.b,,,\n2026-03-01T12:00:02Z,append,db.a,900,5,failed\n"
    )

    first, second = read_log(path)

    assert ("db.a", [(210.0, 1, True), (900.0, 5, False)]) == (
        first.name,
        [(each.duration_ms, each.attempts, each.is_committed) for each in first.commits],
    )
    assert ("db.b", ["validated_overwrite"]) == (second.name, [each.kind for each in second.commits])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("2026-03-01T12:00:00Z,upsert,t,1,1,ok", "column operation = 'upsert'. Choose one of: append, overwrite,"),
        ("2026-03-01T12:00:00Z,append,t,1,0,ok", "column attempts = '0'. Give a whole number of at least 1."),
        ("2026-03-01T12:00:00Z,append,t,1,1,maybe", "column outcome = 'maybe'. Choose one of: committed,"),
    ],
)  # fmt: skip
def test_a_bad_cell_is_refused_by_row_and_column(tmp_path, row, message):
    path = tmp_path / "commits.csv"
    path.write_text(f"{HEADER}{row}\n")

    with pytest.raises(ObservationError, match=re.escape(f"log {path}, row 1, {message}")):
        read_log(path)
