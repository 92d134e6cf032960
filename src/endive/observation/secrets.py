"""Credentials kept out of whatever is printed or written: messages, pages, provenance.

A message of a library may quote what it was configured with. What is known to be secret is taken out by value, what
looks secret by its form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

HIDDEN: Final = "***"
_SECRET_KEY: Final = re.compile(r"secret|token|password|passwd|credential|access[-_.]?key|session|sas|private", re.I)
_USERINFO: Final = re.compile(r"(?<=://)[^/@\s]+@")
_QUERY: Final = re.compile(r"\?[^\s'\"]*")
_ASSIGNED: Final = re.compile(
    r"((?:secret|token|password|credential|access[-_.]?key(?:[-_.]?id)?|signature)[\w.-]*['\"]?\s*[=:]\s*)['\"]?[^\s,'\"}]+",
    re.I,
)
_SHORTEST: Final = 4  # a shorter value would blank out ordinary words
LENGTH_MAX: Final = 300


def secrets_in(properties: Mapping[str, object]) -> tuple[str, ...]:
    """The values of a configuration that nobody else should see; of a URI the part that names a user."""
    secrets = [str(value) for key, value in properties.items() if _SECRET_KEY.search(key)]
    for value in properties.values():
        secrets += [part[:-1] for part in _USERINFO.findall(str(value))]
    return tuple(sorted({each for each in secrets if len(each) >= _SHORTEST}, key=len, reverse=True))


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """One line without credentials: known values, users in URLs, query strings, what is assigned to a secret name."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    text = _USERINFO.sub(f"{HIDDEN}@", text)
    text = _QUERY.sub(f"?{HIDDEN}", text)
    text = _ASSIGNED.sub(rf"\1{HIDDEN}", text)
    line = " ".join(text.split())
    return line if len(line) <= LENGTH_MAX else line[:LENGTH_MAX] + "..."


def public_address(url: str) -> str:
    """A URL as it may be written down: without user, query and fragment."""
    return _USERINFO.sub("", url).partition("?")[0].partition("#")[0]
