"""Files from elsewhere: regular, and no larger than was said."""

import os
from unittest import mock

import pytest

from endive.errors import IntakeError, ObservationError
from endive.intake import read_bytes, read_lines, refused_as, regular_file


def refusal(path) -> str:
    with pytest.raises(IntakeError) as error:
        read_bytes(path, bytes_max=10, noun="a letter", name="it")
    return str(error.value)


def test_a_file_within_its_limit_is_its_bytes(tmp_path):
    (tmp_path / "x").write_bytes(b"0123456789")

    assert b"0123456789" == read_bytes(tmp_path / "x", bytes_max=10, noun="a letter")


def test_what_is_no_such_file_is_refused_by_what_it_is(tmp_path):
    (tmp_path / "long").write_bytes(b"0" * 11)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")

    assert "it has 11 bytes; a letter may have 10." == refusal(tmp_path / "long")
    assert "it is not a regular file but a pipe or a device." == refusal(tmp_path / "pipe")
    assert "it is not a regular file but a pipe or a device." == refusal(tmp_path / "link")
    assert "it is a folder." == refusal(tmp_path)
    assert "it does not exist." == refusal(tmp_path / "nothing")
    assert "it cannot be read: embedded null byte." == refusal("\x00")


def test_a_file_that_grows_while_it_is_read_is_refused():
    assert "it grows while it is read; a letter may have 10 bytes." == refusal("/proc/self/status")


def test_a_file_that_would_make_its_reader_wait_is_refused(tmp_path, monkeypatch):
    (tmp_path / "x").write_bytes(b"")
    waiting = mock.MagicMock()
    waiting.__enter__.return_value.read.return_value = None  # as of /proc/kmsg, which only root can open
    monkeypatch.setattr("endive.intake.regular_file.os.fdopen", lambda *_: waiting)

    assert "it cannot be read: it has nothing to read yet." == refusal(tmp_path / "x")


def test_a_refusal_is_one_line_that_a_terminal_only_shows():
    assert "'a\ufffd[31m\ufffdb' is \ufffd no file." == str(IntakeError("'a\x1b[31m\nb'", "is \u202e no file."))


def test_a_refusal_becomes_the_error_of_whoever_asked(tmp_path):
    with (
        pytest.raises(ObservationError, match=r"^table: it does not exist\.$"),
        refused_as(ObservationError, begin="table: "),
    ):
        read_bytes(tmp_path / "x", bytes_max=1, noun="a letter", name="it")


def test_lines_are_bounded_in_length_and_number(tmp_path, monkeypatch):
    path = tmp_path / "lines"
    path.write_bytes(b"one\r\n" + b"x" * 50 + b"\n\nlast")

    assert [b"one", b"x" * 11, b"", b"last"] == list(read_lines(path, bytes_max=100, line_bytes_max=10, noun="a log"))
    monkeypatch.setattr(regular_file, "LINES_MAX", 3)
    with pytest.raises(IntakeError, match="has more than 3 lines"):
        list(read_lines(path, bytes_max=100, line_bytes_max=10, noun="a log"))
    with pytest.raises(IntakeError, match="a log may have 20"):
        list(read_lines(path, bytes_max=20, line_bytes_max=10, noun="a log"))
