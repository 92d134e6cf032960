"""PyIceberg's REST catalog behind a guard: its server's answers are bounded, and lead nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from pyiceberg import catalog as library
from pyiceberg.catalog.rest import RestCatalog
from requests import PreparedRequest, Response, Session
from requests.adapters import BaseAdapter, HTTPAdapter

from endive.errors import IntakeError
from endive.intake import expand_gzip, is_gzip, refuse_other_host, within
from endive.observation.tables.allowed_places import SECONDS_MAX
from endive.observation.tables.guarded_io import FILE_BYTES_MAX
from endive.observation.tables.io_properties import OWN_SECONDS

CHUNK_BYTES: Final = 65_536


class GuardedRestCatalog(RestCatalog):  # type: ignore[misc]
    """The same catalog; every session it makes is guarded from its first request on."""

    def _config_headers(self, session: Session) -> None:
        seconds_max = float(self.properties.get(OWN_SECONDS, SECONDS_MAX))
        for prefix in ("https://", "http://"):
            adapter = HTTPAdapter()
            _guard(adapter, seconds_max)
            session.mount(prefix, adapter)
        super()._config_headers(session)
        session.headers["Accept-Encoding"] = "identity"

    def _create_session(self) -> Session:
        session: Session = super()._create_session()
        for adapter in session.adapters.values():  # one that signs may have been added
            _guard(adapter, float(self.properties.get(OWN_SECONDS, SECONDS_MAX)))
        return session


@contextmanager
def open_guarded_rest() -> Iterator[None]:
    """While it holds, PyIceberg makes guarded REST catalogs."""
    kind = library.CatalogType.REST
    before = library.AVAILABLE_CATALOGS[kind]
    library.AVAILABLE_CATALOGS[kind] = lambda name, conf: GuardedRestCatalog(name, **conf)
    try:
        yield
    finally:
        library.AVAILABLE_CATALOGS[kind] = before


def _guard(adapter: BaseAdapter, seconds_max: float) -> None:
    """Let an adapter send with limits; once."""
    if getattr(adapter, "is_guarded", False):
        return
    send: Callable[..., Response] = adapter.send

    def send_guarded(request: PreparedRequest, **options: Any) -> Response:
        name = f"the server {urlsplit(request.url or '').hostname}"
        options |= {"stream": True, "timeout": options.get("timeout") or seconds_max}
        return within(seconds_max, lambda: _whole(send(request, **options), request, name), name=name)

    adapter.send = send_guarded  # type: ignore[method-assign, assignment]
    adapter.is_guarded = True  # type: ignore[attr-defined]


def _whole(response: Response, request: PreparedRequest, name: str) -> Response:
    """The answer with its body, which is not larger than is allowed."""
    if response.is_redirect:
        refuse_other_host(request.url or "", response.headers["location"], name=name)
    parts: list[bytes] = []
    left = FILE_BYTES_MAX + 1
    while left > 0 and (part := response.raw.read(min(CHUNK_BYTES, left), decode_content=False)):
        parts.append(part)
        left -= len(part)
    response.close()
    if left <= 0:
        raise IntakeError(name, f"answers more than {FILE_BYTES_MAX:,} bytes; so much is not read.")
    content = b"".join(parts)
    encoding = response.headers.get("content-encoding", "identity").lower()
    if encoding == "gzip" or (encoding == "identity" and is_gzip(content)):
        content = expand_gzip(content, bytes_max=FILE_BYTES_MAX, name=f"the answer of {name}")
    elif encoding != "identity":
        raise IntakeError(name, f"answers with the encoding '{encoding[:20]}', which was not asked for.")
    response._content = content
    response._content_consumed = True
    return response
