"""The folder of compiled code: named after its sources, and trusted only if no other user can have filled it."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from endive import code_cache

THIRTY_ONE_DAYS_S = 31 * 24 * 3600
SOMEBODY_ELSE = 12_345
PACKAGE = Path(code_cache.__file__).parent


def test_the_hash_follows_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1")
    first = code_cache.source_hash(tmp_path)
    (tmp_path / "notes.txt").write_text("not code")
    assert first == code_cache.source_hash(tmp_path)
    (tmp_path / "a.py").write_text("x = 2")
    second = code_cache.source_hash(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    third = code_cache.source_hash(tmp_path)

    assert 3 == len({first, second, third})


def test_a_package_without_source_files_has_no_hash_and_no_cache(tmp_path: Path) -> None:
    in_an_archive = tmp_path / "archive.zip" / "endive"

    assert None is code_cache.source_hash(in_an_archive)
    assert None is code_cache.code_folder(in_an_archive)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files of a user whose home is another folder and who has said nothing."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("ENDIVE_CACHE_DIR", raising=False)
    monkeypatch.setattr(code_cache.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    return tmp_path / "tmp" / f"endive-{os.getuid()}"


def test_the_folder_is_the_named_one_or_the_standard_one_or_a_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:

    assert [tmp_path / "home" / ".cache" / "endive", temporary] == code_cache.cache_roots()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert [tmp_path / "xdg" / "endive", temporary] == code_cache.cache_roots()
    monkeypatch.setenv("ENDIVE_CACHE_DIR", str(tmp_path / "named"))
    assert [tmp_path / "named"] == code_cache.cache_roots()


def test_a_home_that_cannot_be_written_leaves_the_temporary_folder(tmp_path: Path, temporary: Path) -> None:
    (tmp_path / "home").write_text("a file where a folder should be")

    assert temporary / str(code_cache.source_hash(PACKAGE)) == code_cache.code_folder(PACKAGE)


def test_every_folder_that_is_made_or_that_others_could_read_is_for_its_owner_alone(tmp_path: Path) -> None:
    folder, readable = tmp_path / "cache" / "endive" / "version", tmp_path / "version"
    readable.mkdir(mode=0o755)

    assert code_cache.is_ours_alone(folder)
    assert code_cache.is_ours_alone(readable)

    levels = (folder.parents[1], folder.parent, folder, readable)
    assert [0o700] * 4 == [stat.S_IMODE(level.stat().st_mode) for level in levels]


@pytest.mark.parametrize("mode", [0o777, 0o775])
@pytest.mark.parametrize("level", ["cache", "cache/endive", "cache/endive/version"])
def test_a_folder_into_which_others_could_write_is_not_used(tmp_path: Path, level: str, mode: int) -> None:
    folder = tmp_path / "cache/endive/version"
    folder.mkdir(parents=True)
    (tmp_path / level).chmod(mode)

    assert not code_cache.is_ours_alone(folder)


def test_a_shared_folder_with_the_sticky_bit_may_lie_above(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp").chmod(0o1777)

    assert code_cache.is_ours_alone(tmp_path / "tmp" / "endive-1" / "version")


@pytest.mark.parametrize("link", ["cache/endive", "cache/endive/version"])
def test_a_link_in_place_of_the_folder_or_its_parent_is_not_followed(tmp_path: Path, link: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "version").mkdir(parents=True)
    (tmp_path / link).parent.mkdir(parents=True)
    (tmp_path / link).symlink_to(elsewhere)

    assert not code_cache.is_ours_alone(tmp_path / "cache/endive/version")


def test_a_folder_whose_parent_is_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user made the folder and its parent; the folder is ours, as a planted one can be made to look."""
    folder = tmp_path / "endive-1" / "version"
    folder.mkdir(parents=True)
    find = Path.lstat

    def lstat(path: Path) -> os.stat_result:
        found = list(find(path))
        if path == folder.parent:
            found[stat.ST_UID] = SOMEBODY_ELSE
        return os.stat_result(found)

    monkeypatch.setattr(Path, "lstat", lstat)

    assert not code_cache.is_ours_alone(folder)


def test_without_a_safe_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENDIVE_CACHE_DIR", str(tmp_path / "named"))
    (tmp_path / "named").mkdir()
    (tmp_path / "named").chmod(0o777)

    assert None is code_cache.code_folder(PACKAGE)
    assert [] == list((tmp_path / "named").rglob("*.nbi"))


def test_only_folders_of_other_versions_unused_for_a_month_are_removed(tmp_path: Path) -> None:
    keep, old, recent = (tmp_path / (letter * 24) for letter in "abc")
    foreign = tmp_path / "something-else"
    for folder in (keep, old, recent, foreign):
        folder.mkdir()
    long_ago_s = time.time() - THIRTY_ONE_DAYS_S
    for folder in (keep, old, foreign):
        os.utime(folder, (long_ago_s, long_ago_s))

    code_cache.remove_unused(tmp_path, keep=keep)

    assert {keep, recent, foreign} == set(tmp_path.iterdir())
