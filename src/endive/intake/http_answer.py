"""Answers of a server: so many bytes, in so much time, from the host that was asked and no other."""

from __future__ import annotations

import time
import urllib.error
from http.client import HTTPException, HTTPMessage
from typing import IO, Final
from urllib.parse import urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from endive.errors import IntakeError
from endive.intake.deadline import within

CHUNK_BYTES: Final = 65_536
SILENCE_S_MAX: Final = 10.0  # between two parts of an answer


def fetch(url: str | Request, *, bytes_max: int, seconds_max: float, name: str) -> bytes:
    """The body of an answer; IntakeError for one that is too large, too slow, or leads elsewhere."""
    return within(seconds_max, lambda: _read(url, bytes_max, seconds_max, name), name=name)


def _read(url: str | Request, bytes_max: int, seconds_max: float, name: str) -> bytes:
    end_s = time.monotonic() + seconds_max
    opener = build_opener(_SameHost(name))
    try:
        with opener.open(url, timeout=min(SILENCE_S_MAX, seconds_max)) as answer:
            parts: list[bytes] = []
            left = bytes_max + 1
            while left > 0 and (part := answer.read1(min(CHUNK_BYTES, left))):
                parts.append(part)
                left -= len(part)
                if time.monotonic() > end_s:
                    raise IntakeError(name, f"gave no complete answer within {seconds_max:g} s.")
    except urllib.error.HTTPError as error:
        raise IntakeError(name, f"cannot be read: the server answers {error.code} {error.reason}.") from None
    except (OSError, HTTPException, ValueError) as error:
        raise IntakeError(name, f"cannot be read: {getattr(error, 'reason', None) or error}.") from None
    if left <= 0:
        raise IntakeError(name, f"is larger than {bytes_max:,} bytes; so much is not read.")
    return b"".join(parts)


def refuse_other_host(url: str, target: str, *, name: str) -> None:
    """IntakeError if a redirect leads to another host or port, or from https to http."""
    asked, led = urlsplit(url), urlsplit(urljoin(url, target))
    is_weaker = asked.scheme == "https" and led.scheme != "https"
    if (asked.hostname, _port(asked.scheme, asked.port)) != (led.hostname, _port(led.scheme, led.port)) or is_weaker:
        raise IntakeError(name, f"leads elsewhere: the server sends on to {led.scheme}://{led.hostname}, not followed.")


def _port(scheme: str, port: int | None) -> int | None:
    """The port that is meant; http and https of one host are one place."""
    return port if port is not None else {"http": 443, "https": 443}.get(scheme)


class _SameHost(HTTPRedirectHandler):
    """Follows a redirect within the host that was asked."""

    def __init__(self, name: str) -> None:
        self._name = name

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        refuse_other_host(req.full_url, newurl, name=self._name)
        return super().redirect_request(req, fp, code, msg, headers, newurl)
