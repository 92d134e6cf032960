"""Digests of files, and JSON documents that carry one of their own: a flipped bit is noticed.

This file defines the digest and where a document keeps it. Which file is checked when is decided by those who own the
files: ``part_files``, ``summaries``, ``sweep_folder`` and ``referred_files``.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from endive.pipeline.dataset.store_path import StorePath

DIGEST: Final = "digest"
_DIGEST_BYTES: Final = 16


class BrokenSealError(ValueError):
    """A document whose content is not what its digest says."""


def content_digest(content: bytes) -> str:
    """The digest of some bytes."""
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


def file_digest(path: Path | StorePath) -> str:
    """The digest of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=_DIGEST_BYTES)).hexdigest()


def sealed(document: dict[str, Any], indent: int | None = None) -> bytes:
    """The document as JSON, with its digest as the last key."""
    assert DIGEST not in document
    text = json.dumps({**document, DIGEST: _digest_of(document)}, indent=indent, allow_nan=False)
    return f"{text}\n".encode()


def unsealed(content: bytes) -> dict[str, Any]:
    """The document in ``content``; BrokenSealError or another ValueError if it is not what was written."""
    document = json.loads(content)
    if not isinstance(document, dict):
        raise BrokenSealError("it is not a JSON object")
    told = document.pop(DIGEST, None)
    if told != _digest_of(document):
        raise BrokenSealError("its content was changed" if told else "it has no digest")
    return document


def _digest_of(document: dict[str, Any]) -> str:
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return content_digest(canonical.encode())
