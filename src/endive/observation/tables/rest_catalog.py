"""PyIceberg's REST catalog behind a guard: its server's answers are bounded, and lead nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from pyiceberg import catalog as library
from pyiceberg.catalog import WAREHOUSE_LOCATION
from pyiceberg.catalog.rest import (
    DEFAULT_ENDPOINTS,
    DEFAULT_NAMESPACE_SEPARATOR,
    NAMESPACE_SEPARATOR_PROPERTY,
    ConfigResponse,
    Endpoints,
    RestCatalog,
)
from pyiceberg.catalog.rest.response import _handle_non_200_response
from requests import HTTPError, PreparedRequest, Response, Session
from requests.adapters import BaseAdapter, HTTPAdapter

from endive.errors import IntakeError
from endive.intake import expand_gzip, is_gzip, refuse_other_host, within
from endive.observation.tables.allowed_places import NOWHERE_ELSE, SECONDS_MAX, AllowedPlaces
from endive.observation.tables.guarded_io import FILE_BYTES_MAX
from endive.observation.tables.io_properties import OWN_SECONDS
from endive.observation.tables.server_settings import merge_catalog_settings

CHUNK_BYTES: Final = 65_536


class GuardedRestCatalog(RestCatalog):  # type: ignore[misc]
    """The same catalog; every session is guarded, and the server's configuration is merged through an allow-list."""

    properties: dict[str, Any]

    def __init__(self, name: str, allowed: AllowedPlaces = NOWHERE_ELSE, **properties: Any) -> None:
        self._allowed = allowed
        super().__init__(name, **properties)

    def _fetch_config(self) -> None:
        """Ask the server for its configuration, and take from it only what a server may set.

        PyIceberg's own method merges everything and builds its next session from the result.
        """
        params = {key: self.properties[key] for key in (WAREHOUSE_LOCATION,) if self.properties.get(key)}
        with self._create_session() as session:
            response = session.get(self.url(Endpoints.get_config, prefixed=False), params=params)
        try:
            response.raise_for_status()
        except HTTPError as error:
            _handle_non_200_response(error, {})
        told = ConfigResponse.model_validate_json(response.text)
        self.properties = merge_catalog_settings(self.properties, told.defaults, told.overrides, self._allowed)
        self._supported_endpoints = set(told.endpoints or DEFAULT_ENDPOINTS)
        separator = self.properties.get(NAMESPACE_SEPARATOR_PROPERTY) or DEFAULT_NAMESPACE_SEPARATOR
        self._namespace_separator = unquote(str(separator))

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
def open_guarded_rest(allowed: AllowedPlaces = NOWHERE_ELSE) -> Iterator[None]:
    """Let PyIceberg make guarded REST catalogs for a while."""
    kind = library.CatalogType.REST
    before = library.AVAILABLE_CATALOGS[kind]
    library.AVAILABLE_CATALOGS[kind] = lambda name, conf: GuardedRestCatalog(name, allowed, **conf)
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
