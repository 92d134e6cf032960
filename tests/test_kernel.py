"""The door to Numba: compiled code is right, kept on disk, never stale, and never a reason to fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from endive import kernel
from endive.kernel import inlined, jitted, leaf, rule

THIRTY_ONE_DAYS_S = 31 * 24 * 3600

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


@inlined
def second(values: np.ndarray) -> float:
    return float(values[1])


@leaf
def twice_the_second(values: np.ndarray) -> float:
    return 2.0 * second(values)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of two modules, one calling the other, with the kernel of this one."""
    folder = tmp_path / "kept"
    folder.mkdir()
    for name, text in PACKAGE.items():
        (folder / name).write_text(text)
    shutil.copy(kernel.__file__, folder / "kernel.py")
    return folder


def start(package: Path, **environment: str) -> subprocess.Popen[str]:
    variables = {**os.environ, "PYTHONPATH": str(package.parent), **environment}
    return subprocess.Popen(
        [sys.executable, "-c", ASK], env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def answer_of(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert 0 == process.returncode, err
    return out.strip()


def test_a_rule_is_plain_python_that_compiled_code_can_call() -> None:
    assert 12 == tripled(4)
    assert not hasattr(tripled, "py_func")
    assert 13 == tripled_and_one(4)
    assert 13 == tripled_and_one.py_func(4)


def test_a_leaf_borrows_its_array_and_gives_it_back() -> None:
    values = np.array([1.0, 21.0])
    references = sys.getrefcount(values)

    answers = {twice_the_second(values) for _ in range(100)}

    assert {42.0} == answers
    assert references == sys.getrefcount(values)


def test_compiled_code_is_kept_and_found_again_by_the_next_process(package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"

    first = answer_of(start(package, ENDIVE_CACHE_DIR=str(cache)))
    second = answer_of(start(package, ENDIVE_CACHE_DIR=str(cache)))

    assert "50 0" == first
    assert "50 1" == second
    assert [kernel.source_hash(package)] == [folder.name for folder in cache.iterdir()]


def test_an_edit_in_a_called_module_is_noticed(package: Path, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    assert "50 0" == answer_of(start(package, ENDIVE_CACHE_DIR=cache))

    inner = package / "inner.py"
    inner.write_text(inner.read_text().replace("x + 1", "x + 2"))

    assert "60 0" == answer_of(start(package, ENDIVE_CACHE_DIR=cache))


def test_processes_that_start_together_share_one_cold_cache(package: Path, tmp_path: Path) -> None:
    together = [start(package, ENDIVE_CACHE_DIR=str(tmp_path / "cache")) for _ in range(3)]

    assert ["50 0", "50 1", "50 1"] == sorted(answer_of(process) for process in together)


def test_a_process_that_dies_while_it_compiles_does_not_hold_the_others_up(package: Path, tmp_path: Path) -> None:
    holder = (
        "import os, signal; from kept import kernel; assert kernel._turn.begin(); "
        "print('held', flush=True); signal.pause()"
    )
    variables = {**os.environ, "PYTHONPATH": str(package.parent), "ENDIVE_CACHE_DIR": str(tmp_path / "cache")}
    dying = subprocess.Popen([sys.executable, "-c", holder], env=variables, stdout=subprocess.PIPE, text=True)
    assert dying.stdout is not None
    assert "held\n" == dying.stdout.readline()
    waiting = start(package, ENDIVE_CACHE_DIR=str(tmp_path / "cache"))
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.wait(timeout=3)

    dying.kill()
    dying.communicate()

    assert "50 0" == answer_of(waiting)


def test_a_damaged_cache_is_compiled_anew(package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    answer_of(start(package, ENDIVE_CACHE_DIR=str(cache)))
    for path in cache.rglob("*.nb?"):
        path.write_bytes(path.read_bytes()[:40])

    assert "50 0" == answer_of(start(package, ENDIVE_CACHE_DIR=str(cache)))


def test_without_a_place_to_write_functions_are_compiled_all_the_same(package: Path, tmp_path: Path) -> None:
    not_a_folder = tmp_path / "file"
    not_a_folder.write_text("in the way")

    assert "50 0" == answer_of(start(package, ENDIVE_CACHE_DIR=str(not_a_folder / "cache")))


def test_two_signatures_never_share_a_data_file(tmp_path: Path) -> None:
    """Two processes that have read the same empty index, as a race would leave them."""

    def files() -> kernel._SharedFiles:
        return kernel._SharedFiles(cache_path=str(tmp_path), filename_base="f", source_stamp=1)

    first, second = files(), files()
    second._load_index = dict  # type: ignore[method-assign]  # read before the first one wrote
    first.save("int64", "code for int64")
    second.save("float64", "code for float64")

    found = {"int64": files().load("int64"), "float64": files().load("float64")}
    assert {"int64": None, "float64": "code for float64"} == found
    first.save("int64", "code for int64")
    assert "code for float64" == files().load("float64")
    assert "code for int64" == files().load("int64")


def test_the_hash_follows_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1")
    first = kernel.source_hash(tmp_path)
    (tmp_path / "notes.txt").write_text("not code")
    assert first == kernel.source_hash(tmp_path)
    (tmp_path / "a.py").write_text("x = 2")
    second = kernel.source_hash(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    third = kernel.source_hash(tmp_path)

    assert 3 == len({first, second, third})


def test_a_package_without_source_files_has_no_hash_and_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "__file__", str(tmp_path / "archive.zip" / "endive" / "kernel.py"))

    assert None is kernel.source_hash(tmp_path)
    assert None is kernel.cache_folder.__wrapped__()


def test_the_folder_is_the_named_one_or_the_standard_one_or_a_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("ENDIVE_CACHE_DIR", raising=False)
    monkeypatch.setattr(kernel.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    temporary = tmp_path / "tmp" / f"endive-{os.getuid()}"

    assert [tmp_path / "home" / ".cache" / "endive", temporary] == kernel._cache_roots()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert [tmp_path / "xdg" / "endive", temporary] == kernel._cache_roots()
    monkeypatch.setenv("ENDIVE_CACHE_DIR", str(tmp_path / "named"))
    assert [tmp_path / "named"] == kernel._cache_roots()


def test_a_home_that_cannot_be_written_leaves_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("a file where a folder should be")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("ENDIVE_CACHE_DIR", raising=False)
    monkeypatch.setattr(kernel.tempfile, "gettempdir", lambda: str(tmp_path))

    found = kernel.cache_folder.__wrapped__()

    expected = kernel.source_hash(Path(kernel.__file__).parent)
    assert tmp_path / f"endive-{os.getuid()}" / str(expected) == found


def test_only_folders_of_other_versions_unused_for_a_month_are_removed(tmp_path: Path) -> None:
    keep, old, recent = (tmp_path / (letter * 24) for letter in "abc")
    foreign = tmp_path / "something-else"
    for folder in (keep, old, recent, foreign):
        folder.mkdir()
    long_ago_s = time.time() - THIRTY_ONE_DAYS_S
    for folder in (keep, old, foreign):
        os.utime(folder, (long_ago_s, long_ago_s))

    kernel._remove_unused(tmp_path, keep=keep)

    assert {keep, recent, foreign} == set(tmp_path.iterdir())
