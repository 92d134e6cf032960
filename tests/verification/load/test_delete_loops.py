"""Loops of DELETE on v2 and v3: the share that commits is Iceberg's."""

from __future__ import annotations

import pytest

from verification.suites.load import delete_loops
from verification.suites.load.loops import delete_loops as all_delete_loops
from verification.suites.load.measurement import DELETES_FILE, read_load

MEASURED = read_load(DELETES_FILE)
V2, V3 = all_delete_loops()
GROUPS = 2


@pytest.mark.slow  # "endive verify load" asks for as much
def test_on_v2_and_on_v3_as_many_commit_as_in_iceberg():
    plain, vectors = (delete_loops.compare(loop, *delete_loops.play(MEASURED, loop, GROUPS)) for loop in (V2, V3))

    assert ("right", "right") == (plain.verdict, vectors.verdict)
    assert (98, 48) == (round(float(plain.expected)), round(float(vectors.expected)))


@pytest.mark.lengthy
def test_a_model_without_vectors_is_told_wrong(monkeypatch):
    told = delete_loops.configuration

    def forget(*args):
        config = told(*args)
        return {**config, "table": {**config["table"], "format_version": 2}}

    monkeypatch.setattr(delete_loops, "configuration", forget)

    assert "wrong" == delete_loops.compare(V3, *delete_loops.play(MEASURED, V3, GROUPS)).verdict
