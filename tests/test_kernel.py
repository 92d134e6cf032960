"""The door to Numba: compiled code is right, kept on disk, never stale, and never a reason to fail."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.waiting import PATIENCE_S

from endive import code_cache, kernel, kernel_cache, kernel_parts, record
from endive.kernel import jitted, rule, step
from endive.rng import slot

PACKAGE = {
    "__init__.py": "",
    "inner.py": "from kept.kernel import jitted\n\n@jitted\ndef answer(x):\n    return x + 1\n",
    "outer.py": (
        "from kept.inner import answer\nfrom kept.kernel import jitted\n\n"
        "@jitted\ndef ask(x):\n    return 10 * answer(x)\n"
    ),
}
ASK = "from kept.outer import ask; print(ask(4), sum(ask.stats.cache_hits.values()))"


@rule
def tripled(x: int) -> int:
    return 3 * x


@jitted
def tripled_and_one(x: int) -> int:
    return tripled(x) + 1


@jitted
def second(values: np.ndarray) -> float:
    return float(values[1])


@jitted
def twice_the_second(values: np.ndarray) -> float:
    return 2.0 * second(values)


def start(package: Path, cache: Path, code: str = ASK) -> subprocess.Popen[str]:
    variables = {**os.environ, "PYTHONPATH": str(package.parent), "ENDIVE_CACHE_DIR": str(cache)}
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", code], env=variables, stdout=pipe, stderr=pipe, text=True)


def answer_of(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=PATIENCE_S)
    assert 0 == process.returncode, err
    return out.strip()


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package of two modules, one calling the other, the kernel of this one, and what was compiled."""
    root = tmp_path_factory.mktemp("compiled")
    (root / "kept").mkdir()
    for name, text in PACKAGE.items():
        (root / "kept" / name).write_text(text)
    for module in (kernel, kernel_parts, kernel_cache, code_cache, record):
        text = Path(module.__file__).read_text().replace("from endive.", "from kept.")
        (root / "kept" / Path(module.__file__).name).write_text(text)
    assert "50 0" == answer_of(start(root / "kept", root / "cache"))
    return root


@pytest.fixture
def package(compiled: Path, tmp_path: Path) -> Path:
    """A copy of that package; beside it lies a copy of the cache."""
    shutil.copytree(compiled / "cache", tmp_path / "cache")
    return Path(shutil.copytree(compiled / "kept", tmp_path / "kept"))


def test_a_rule_is_plain_python_that_compiled_code_can_call() -> None:
    assert 12 == tripled(4)
    assert not hasattr(tripled, "py_func")
    assert 13 == tripled_and_one(4)
    assert 13 == tripled_and_one.py_func(4)


def test_an_array_that_passes_through_is_given_back() -> None:
    values = np.array([1.0, 21.0])
    references = sys.getrefcount(values)

    answers = {twice_the_second(values) for _ in range(100)}

    assert {42.0} == answers
    assert references == sys.getrefcount(values)


@pytest.mark.lengthy
def test_compiled_code_is_kept_and_found_again_by_the_next_process_of_another_copy(
    package: Path, tmp_path: Path
) -> None:
    os.utime(package / "outer.py", (0, 0))  # a clone's files have other ages

    assert "50 1" == answer_of(start(package, tmp_path / "cache"))
    assert [code_cache.source_hash(package)] == [folder.name for folder in (tmp_path / "cache").iterdir()]


@pytest.mark.lengthy
def test_an_edit_in_a_called_module_is_noticed(package: Path, tmp_path: Path) -> None:
    inner = package / "inner.py"
    inner.write_text(inner.read_text().replace("x + 1", "x + 2"))
    later = inner.stat().st_mtime + 2  # Python's own cache tells sources apart by size and second
    os.utime(inner, (later, later))

    assert "60 0" == answer_of(start(package, tmp_path / "cache"))


@pytest.mark.lengthy
def test_a_damaged_cache_is_compiled_anew(package: Path, tmp_path: Path) -> None:
    for path in (tmp_path / "cache").rglob("*.nb?"):
        path.write_bytes(path.read_bytes()[:40])

    assert "50 0" == answer_of(start(package, tmp_path / "cache"))


@pytest.mark.lengthy
def test_processes_that_start_together_share_one_cold_cache(package: Path, tmp_path: Path) -> None:
    together = [start(package, tmp_path / "cold") for _ in range(3)]

    assert ["50 0", "50 1", "50 1"] == sorted(answer_of(process) for process in together)


@pytest.mark.lengthy
def test_a_process_that_dies_while_it_compiles_does_not_hold_the_others_up(package: Path, tmp_path: Path) -> None:
    holder = (
        "import os, signal; from kept import kernel_cache; assert kernel_cache._turn.begin(); "
        "print('held', flush=True); signal.pause()"
    )
    dying = start(package, tmp_path / "cold", holder)
    assert dying.stdout is not None
    assert "held\n" == dying.stdout.readline()
    waiting = start(package, tmp_path / "cold")
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.wait(timeout=3)

    dying.kill()
    dying.communicate()

    assert "50 0" == answer_of(waiting)


@pytest.mark.lengthy
def test_without_a_place_to_write_functions_are_compiled_all_the_same(package: Path, tmp_path: Path) -> None:
    not_a_folder = tmp_path / "file"
    not_a_folder.write_text("in the way")

    assert "50 0" == answer_of(start(package, not_a_folder / "cache"))


def test_two_signatures_never_share_a_data_file(tmp_path: Path) -> None:
    """Two processes that have read the same empty index, as a race would leave them."""

    def files() -> kernel_cache._SharedFiles:
        return kernel_cache._SharedFiles(cache_path=str(tmp_path), filename_base="f", source_stamp=1)

    first, second = files(), files()
    second._load_index = dict  # type: ignore[method-assign]  # read before the first one wrote
    first.save("int64", "code for int64")
    second.save("float64", "code for float64")

    found = {"int64": files().load("int64"), "float64": files().load("float64")}
    assert {"int64": None, "float64": "code for float64"} == found
    first.save("int64", "code for int64")
    assert "code for float64" == files().load("float64")
    assert "code for int64" == files().load("int64")


def test_no_flipped_bit_of_compiled_code_is_loaded(tmp_path: Path) -> None:
    def files() -> kernel_cache._SharedFiles:
        return kernel_cache._SharedFiles(cache_path=str(tmp_path), filename_base="f", source_stamp=1)

    files().save("int64", bytes(range(256)))
    paths = sorted(path for path in tmp_path.iterdir() if path.suffix in (".nbi", ".nbc"))
    written = {path: path.read_bytes() for path in paths}
    chance = random.Random(1)

    assert bytes(range(256)) == files().load("int64")
    for path in [*paths] * 150:
        place, bit = chance.randrange(len(written[path])), 1 << chance.randrange(8)
        content = bytearray(written[path])
        content[place] ^= bit
        path.write_bytes(content)
        assert files().load("int64") is None
        path.write_bytes(written[path])


def test_a_compilation_that_fails_lets_the_next_one_begin() -> None:
    @jitted
    def add_text(x: int) -> int:
        return x + "text"  # type: ignore[operator, no-any-return]

    with pytest.raises(Exception, match="add"):
        add_text(1)

    assert (0, None) == (kernel_cache._turn._depth, kernel_cache._turn._file)


@record.record
class Pair(record.Record):
    """A record of which a layout may leave a part out."""

    first: record.Int64
    second: record.Int64
    is_second: record.Int8


@rule
def chosen(pair: Pair) -> int:
    if pair.is_second == 1:
        return pair.second
    return pair.first


@jitted
def chosen_of(pair: Pair) -> int:
    return chosen(pair)


@pytest.mark.parametrize(
    ("left_out", "expected"),
    [(frozenset(), 7), (frozenset({"is_second"}), 8), (frozenset({"is_second", "second"}), 7)],
)
def test_a_layout_without_a_flag_says_itself_whether_the_field_is_there(left_out, expected):
    """With the field left out, what would read it is not compiled: it has no such field."""
    pairs = kernel.records(Pair, 1, without=left_out)
    kernel.fill(pairs[0], Pair(first=7, second=8, is_second=0))

    assert expected == chosen_of(pairs[0])


@step
def first_slot(attempt: int) -> int:
    return slot(attempt, 1, 0)


def test_a_part_that_was_not_linked_is_named_before_anybody_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """To call it would end the process: here the parts of parts are forgotten."""
    monkeypatch.setattr(kernel_parts, "_with_parts", dict.fromkeys)

    @jitted
    def slot_of(attempt: int) -> int:
        return first_slot(attempt)

    with pytest.raises(AssertionError, match=r"slot.* was not linked: to call it would end the process"):
        slot_of(3)
