"""The compiled engine's source means the same to the interpreter, which checks every index and every field."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.golden.test_golden import GOLDEN
from tests.interpreted.shim import structure_of, vector_of

from endive.formats.operation import Operation

ROOT = Path(__file__).parents[2]
PATIENCE_S = 600.0


@pytest.mark.lengthy
def test_the_interpreted_engine_gives_every_golden_configuration_its_fingerprint():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.interpreted.run"],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )

    assert 0 == ended.returncode, ended.stderr[-2000:]
    assert {name: result["fingerprint"] for name, result in GOLDEN.items()} == json.loads(ended.stdout)


@pytest.mark.parametrize("index", [-1, 3])
def test_an_index_outside_of_a_vector_is_an_error(index):
    numbers = np.arange(4)
    vector = vector_of(np.int64)(numbers.ctypes.data, 3)

    assert [0, 1, 2] == [vector[at] for at in range(3)]
    with pytest.raises(IndexError):
        vector[index]
    with pytest.raises(IndexError):
        vector[index] = 7
    assert 3 == numbers[3]


def test_a_field_that_a_record_does_not_have_is_an_error():
    record = structure_of(Operation)()
    record.kind = 2

    assert 2 == record.kind
    with pytest.raises(AttributeError, match="Operation has no field 'knid'"):
        record.knid = 2
    with pytest.raises(AttributeError):
        _ = record.knid
