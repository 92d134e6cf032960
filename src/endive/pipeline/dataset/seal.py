"""Digests of files, and JSON documents that carry one of their own: a flipped bit is noticed.

Which file is checked when is decided by those who own the files: ``runs_table``, ``sweep_dataset``, ``check``.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from endive.errors import IntakeError
from endive.intake import parse_json
from endive.pipeline.dataset.files import Place, place_of

DIGEST: Final = "digest"
_DIGEST_BYTES: Final = 16
_BLOCK_BYTES: Final = 1 << 20
DOCUMENT_BYTES_MAX: Final = 512 * 2**20  # a manifest of a million runs has 50 MB
DOCUMENT_VALUES_MAX: Final = 10_000_000
_MARK: Final = b"<!-- endive digest "
_END: Final = b" -->\n"


class BrokenSealError(ValueError):
    """A document whose content is not what its digest says."""


def content_digest(content: Any) -> str:
    """The digest of some bytes."""
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


def file_digest(path: Place | Path) -> str:
    """The digest of a file's bytes; OSError if it is no regular file."""
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    with place_of(path).open() as stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def read_document(path: Place) -> bytes:
    """Return the bytes of a document of a dataset: a regular file, not larger than any that is written."""
    try:
        return path.read_bytes(DOCUMENT_BYTES_MAX)
    except ValueError as error:
        raise BrokenSealError(str(error)) from None


def seal_document(document: dict[str, Any], indent: int | None = None) -> bytes:
    """The document as JSON, with its digest as the last key."""
    assert DIGEST not in document
    text = json.dumps({**document, DIGEST: _digest_of(document)}, indent=indent, allow_nan=False)
    return f"{text}\n".encode()


def unseal_document(content: bytes) -> dict[str, Any]:
    """The document in ``content``; BrokenSealError or another ValueError if it is not what was written."""
    try:
        document = parse_json(content, name="it", bytes_max=DOCUMENT_BYTES_MAX, values_max=DOCUMENT_VALUES_MAX)
    except IntakeError as error:
        raise BrokenSealError(str(error).rstrip(".")) from None
    if not isinstance(document, dict):
        raise BrokenSealError("it is not a JSON object")
    told = document.pop(DIGEST, None)
    if told != _digest_of(document):
        raise BrokenSealError("its content was changed" if told else "it has no digest")
    return document


def read_sealed(path: Place) -> dict[str, Any]:
    """The document in a file; OSError, BrokenSealError or another ValueError if it is not what was written."""
    return unseal_document(read_document(path))


def seal_page(content: bytes) -> bytes:
    """An HTML page with the digest of all that goes before it as its last line."""
    return content + _MARK + content_digest(content).encode() + _END


def is_page_whole(content: bytes) -> bool:
    """Whether a page is what was written."""
    page, mark, rest = content.rpartition(_MARK)
    return bool(mark) and rest == content_digest(page).encode() + _END


def _digest_of(document: dict[str, Any]) -> str:
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return content_digest(canonical.encode())
