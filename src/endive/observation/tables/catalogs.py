"""Tables read through PyIceberg: from any catalog it knows, or a metadata file by path or URL.

It only reads. PyIceberg is an optional extra; whatever it raises becomes one line without credentials.
"""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from endive.config.printable import printable_line
from endive.errors import IntakeError, ObservationError
from endive.intake import fetch, read_bytes, refused_as, within
from endive.observation.history import TableHistory
from endive.observation.secrets import redact, secrets_in
from endive.observation.tables.allowed_places import NOWHERE_ELSE, SECONDS_MAX, AllowedPlaces, local_path
from endive.observation.tables.io_properties import IMPLEMENTATION, OWN, guard_properties
from endive.observation.tables.manifests import ManifestFiles, with_manifests
from endive.observation.tables.metadata import BYTES_MAX, history_of
from endive.observation.tables.server_settings import store_settings

EXTRA: Final = "Install PyIceberg: pip install 'endive[lake]'."
_KINDS: Final = {
    "RestCatalog": "rest",
    "GuardedRestCatalog": "rest",
    "SqlCatalog": "sql",
    "HiveCatalog": "hive",
    "GlueCatalog": "glue",
}
Tell = Callable[[str], None]
_DENIED: Final = ("forbidden", "unauthorized", "access denied", "accessdenied", "access_denied", "permission denied")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCatalog:
    """A catalog of PyIceberg's, and what must never be printed of its configuration."""

    name: str
    catalog: Any
    secrets: tuple[str, ...]
    allowed: AllowedPlaces = NOWHERE_ELSE
    seconds_max: float = SECONDS_MAX

    @property
    def kind(self) -> str:
        """rest, sql, hive, glue, or the name of its class."""
        name = type(self.catalog).__name__
        return _KINDS.get(name, name)


def pyiceberg(module: str) -> Any:
    """A module of PyIceberg, or the one line that says how to get it."""
    try:
        return importlib.import_module(f"pyiceberg.{module}" if module else "pyiceberg")
    except ImportError as error:
        raise ObservationError(f"PyIceberg cannot be imported ({error}). {EXTRA}") from None


def open_catalog(
    name: str, properties: Mapping[str, str], *, allowed: AllowedPlaces = NOWHERE_ELSE, seconds_max: float = SECONDS_MAX
) -> OpenCatalog:
    """The catalog of that name in PyIceberg's own configuration, with ``properties`` on top, behind a guard."""
    library = pyiceberg("catalog")
    config: Mapping[str, Any] = pyiceberg("utils.config").Config().config
    known = {str(each): dict(values or {}) for each, values in (config.get("catalog") or {}).items()}
    own = {**known.get(name, {}), **properties}
    secrets = secrets_in(own)
    if name not in known and not properties:
        near = get_close_matches(name, known, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        names = ", ".join(known) or "none"
        raise ObservationError(
            f"no catalog is called '{name}'.{hint} PyIceberg's configuration (.pyiceberg.yaml, PYICEBERG_CATALOG__*) "
            f"has: {names}. Or give --property uri=..."
        )
    with one_line(f"catalog '{name}'", secrets):
        catalog = _load(library, name, properties, guard_properties(own, seconds_max), allowed)
        load = catalog._load_file_io

        def load_file_io(properties: Mapping[str, Any] | None = None, location: str | None = None) -> Any:
            return load(store_settings(properties or {}, own, allowed), location)

        catalog._load_file_io = load_file_io
    return OpenCatalog(name=name, catalog=catalog, secrets=secrets, allowed=allowed, seconds_max=seconds_max)


def _load(
    library: Any, name: str, properties: Mapping[str, str], guarded: Mapping[str, Any], allowed: AllowedPlaces
) -> Any:
    """Load a catalog that reads files with limits, and takes from its server only what a server may set."""
    from endive.observation.tables.rest_catalog import open_guarded_rest

    added = {key: value for key, value in guarded.items() if key.startswith(OWN) or key == IMPLEMENTATION}
    with open_guarded_rest(allowed):
        catalog = library.load_catalog(name, **{**properties, **added})
    catalog.properties = {**catalog.properties, **added}
    return catalog


def table_names(opened: OpenCatalog, name: str | None, tell: Tell = lambda line: None) -> list[str]:
    """A table's own name, or those of a namespace, or of the whole catalog; a list may have pages without end.

    Of several namespaces, one that cannot be listed is told and left out.
    """
    with one_line(f"catalog '{opened.name}'", opened.secrets):
        return within(opened.seconds_max, lambda: _names(opened, name, tell), name="its list of tables")


def _names(opened: OpenCatalog, name: str | None, tell: Tell) -> list[str]:
    catalog = opened.catalog
    if name is not None and "." in name and catalog.table_exists(name):
        return [name]
    namespaces = [".".join(each) for each in catalog.list_namespaces()]
    chosen = [each for each in namespaces if name in (None, each)]
    if len(chosen) == 1:
        tables = [".".join(each) for each in catalog.list_tables(chosen[0])]
    else:
        tables = _listed(opened, chosen, tell)
    if tables:
        return tables
    if name is not None and not chosen:
        everything = _listed(opened, namespaces, lambda line: None)
        known = [*everything, *namespaces]
        near = get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"Near it: {', '.join(near)}." if near else f"It has: {', '.join(known[:5]) or 'none'}."
        raise ObservationError(f"catalog '{opened.name}' has no table or namespace '{name}'. {hint}")
    place = f"namespace '{name}'" if name else "the catalog"
    raise ObservationError(f"{place} of catalog '{opened.name}' has no tables.")


def _listed(opened: OpenCatalog, namespaces: Sequence[str], tell: Tell) -> list[str]:
    """The tables of those namespaces that may be listed."""
    tables = []
    for namespace in namespaces:
        try:
            with one_line(f"namespace '{namespace}' of catalog '{opened.name}'", opened.secrets):
                tables += [".".join(each) for each in opened.catalog.list_tables(namespace)]
        except ObservationError as error:
            tell(str(error))
    return tables


def read_table(opened: OpenCatalog, name: str, *, writer_key: str | None = None) -> TableHistory:
    """The history of one table of a catalog."""
    with one_line(f"table '{name}' of catalog '{opened.name}'", opened.secrets):
        table = opened.catalog.load_table(name)
        location = table.metadata_location
        if opened.kind == "rest":
            opened.allowed.refuse_local(location, str(opened.catalog.uri))
        with table.io.new_input(location).open() as file:
            content = file.read()
        history = history_of(content, name, writer_key=writer_key)
        history = with_manifests(history, ManifestFiles(table.io, opened.allowed.also(location)))
    return replace(history, catalog_kind=opened.kind)


def read_metadata_file(
    place: str,
    properties: Mapping[str, str],
    *,
    writer_key: str | None = None,
    allowed: AllowedPlaces = NOWHERE_ELSE,
    seconds_max: float = SECONDS_MAX,
) -> TableHistory:
    """The history in a metadata file: a path, or a URL that PyIceberg's FileIO opens."""
    path = local_path(place)
    name = printable_line(Path(place.partition("?")[0] if path is None else path).name)
    secrets = secrets_in(properties)
    if path is not None:
        content = _local(path)
    elif place.startswith(("http://", "https://")):
        with refused_as(ObservationError):
            shown = f"'{redact(place, secrets)}'"
            content = fetch(place, bytes_max=BYTES_MAX, seconds_max=seconds_max, name=shown)
    else:
        with (
            one_line(f"'{redact(place, secrets)}'", secrets),
            _files(properties, seconds_max).new_input(place).open() as file,
        ):
            content = bytes(file.read())
    history = history_of(content, name, writer_key=writer_key)
    try:
        files = _files(properties, seconds_max)
    except ObservationError:
        note = f"{name}: manifests were not counted, because PyIceberg is not installed."
        return history.with_notes(note)
    with one_line(f"'{redact(place, secrets)}'", secrets):
        return with_manifests(history, ManifestFiles(files, allowed.also(place)))


def _files(properties: Mapping[str, str], seconds_max: float) -> Any:
    """PyIceberg's FileIO, with limits."""
    pyiceberg("io")
    from endive.observation.tables.guarded_io import GuardedFileIO

    return GuardedFileIO(guard_properties(properties, seconds_max))


def _local(path: str) -> bytes:
    try:
        return read_bytes(path, bytes_max=BYTES_MAX, noun="a metadata file")
    except IntakeError as error:
        near = get_close_matches(Path(path).name, _names_beside(Path(path)), n=1)
        hint = f" Did you mean '{Path(path).parent / near[0]}'?" if near and "not exist" in error.reason else ""
        raise ObservationError(f"{error}{hint} Give a metadata.json, or --catalog NAME.") from None


def _names_beside(path: Path) -> list[str]:
    try:
        return [each.name for each in path.parent.iterdir()]
    except (OSError, ValueError):
        return []


@contextlib.contextmanager
def one_line(what: str, secrets: Sequence[str]) -> Iterator[None]:
    """Whatever a library raises, as one line without credentials."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a library has to say of a stranger's table is no line of ours
            yield
    except ObservationError:
        raise
    except IntakeError as error:
        raise ObservationError(f"{what}: {redact(str(error), secrets)}") from None
    except Exception as error:
        text = redact(f"{type(error).__name__}: {error}", secrets)
        if any(word in text.lower() for word in _DENIED):
            text = f"no permission ({text}). Check the credentials that PyIceberg is configured with"
        raise ObservationError(f"{what} cannot be read: {text.rstrip('.')}.") from None
