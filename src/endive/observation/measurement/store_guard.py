"""Guards of a store that is measured: are there credentials, does it answer for itself, and does it stay where it is?

The library that measures would look for credentials in the network (a metadata service) and follow a redirect of a GET
to any host. So the variables are looked for first, one object is read with a client that has limits, and the library is
left no way to other hosts.
"""

from __future__ import annotations

import datetime
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import Request

from endive.errors import IntakeError, ObservationError
from endive.intake import fetch
from endive.observation.secrets import redact

SECONDS_MAX: Final = 10.0
OBJECT_BYTES: Final = 1024
SIGNED: Final = datetime.timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Credentials:
    """The ways to give a kind of store its credentials; names as obstore has them, without their prefix."""

    prefixes: tuple[str, ...]
    usual: tuple[str, ...]  # as variables, to be told
    ways: tuple[tuple[str, ...], ...]
    domains: tuple[str, ...]  # where stores of the kind and their credentials are, if no endpoint is named
    service: str = ""  # the property that names the service of a machine whose role gives them


_AWS: Final = Credentials(
    ("aws_",),
    ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    (
        ("access_key_id", "secret_access_key"),
        ("web_identity_token_file", "role_arn"),
        ("container_credentials_relative_uri",),
        ("container_credentials_full_uri",),
        ("skip_signature",),
        ("metadata_endpoint",),
    ),
    ("sts.amazonaws.com", "169.254.170.2", "169.254.170.23"),
    "metadata_endpoint=http://169.254.169.254",
)
_GOOGLE: Final = Credentials(
    ("google_",),
    ("GOOGLE_SERVICE_ACCOUNT",),
    (
        ("service_account",),
        ("service_account_path",),
        ("service_account_key",),
        ("application_credentials",),
        ("skip_signature",),
    ),
    ("googleapis.com",),
)
_AZURE: Final = Credentials(
    ("azure_storage_", "azure_"),
    ("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT_KEY"),
    (
        ("account_name", "account_key"),
        ("account_name", "access_key"),
        ("account_name", "sas_key"),
        ("account_name", "sas_token"),
        ("account_name", "token"),
        ("client_id", "client_secret", "tenant_id"),
        ("client_id", "federated_token_file", "tenant_id"),
        ("use_emulator",),
        ("use_azure_cli",),
        ("skip_signature",),
        ("msi_endpoint",),
    ),
    ("core.windows.net", "fabric.microsoft.com", "login.microsoftonline.com"),
    "msi_endpoint=...",
)
KINDS: Final = {
    "s3": _AWS,
    "s3a": _AWS,
    "gs": _GOOGLE,
    **dict.fromkeys(("az", "azure", "abfs", "abfss", "adl"), _AZURE),
}
GCLOUD: Final = Path(".config", "gcloud", "application_default_credentials.json")
NOWHERE: Final = "http://127.0.0.1:1"  # where the way to every other host leads; nothing listens there
PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy")


def refuse_without_credentials(url: str, options: Mapping[str, str], environ: Mapping[str, str] | None = None) -> None:
    """ObservationError that names the variables, unless one of the ways is taken."""
    scheme = url.partition("://")[0].lower()
    kind = KINDS.get(scheme)
    if kind is None:
        return
    given = {_plain(name, kind) for name, value in {**(environ or os.environ), **options}.items() if value}
    given |= {name.lower() for name, value in options.items() if value}
    if any(given.issuperset(way) for way in kind.ways) or (kind is _GOOGLE and (Path.home() / GCLOUD).is_file()):
        return
    missing = [name for name in kind.usual if _plain(name, kind) not in given]
    hint = f", or --property {kind.service} on a machine whose role gives them" if kind.service else ""
    raise ObservationError(
        f"{scheme}:// needs credentials, and {' and '.join(missing or kind.usual)} is not set. Set it, or give the "
        f"same with --property (skip_signature=true for a store that asks for none{hint})."
    )


def keep_to_its_hosts(url: str, options: Mapping[str, str], environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Options with which the library reaches the hosts that were named, or those of the provider, and no others.

    Only they are reached directly; whatever leads elsewhere goes to a proxy that is none. Who has a proxy of their own
    leaves it to that.
    """
    given = {name.lower(): value for name, value in {**(environ or os.environ), **options}.items() if value}
    kind = KINDS.get(url.partition("://")[0].lower())
    if kind is None or any(name in given for name in PROXIES):
        return {}
    named = {name: value for name, value in given.items() if "://" in value and name.startswith(kind.prefixes)}
    named |= {name: value for name, value in options.items() if "://" in value}
    hosts = {host for value in named.values() if (host := urlsplit(value).hostname)}
    domains = (*kind.domains, *_s3_hosts(url, given)) if kind is _AWS else kind.domains
    is_endpoint = any("endpoint" in name and "metadata" not in name and "msi" not in name for name in named)
    return {"proxy_url": NOWHERE, "proxy_excludes": ",".join(sorted({*hosts, *(() if is_endpoint else domains)}))}


def _s3_hosts(url: str, given: Mapping[str, str]) -> list[str]:
    """Return the hosts of S3 in the region; below amazonaws.com there are machines and gateways that anybody rents."""
    region = next(
        (given[name] for name in ("region", "aws_region", "aws_default_region") if name in given), "us-east-1"
    )
    zone = re.search(r"--([a-z0-9-]+)--x-s3$", urlsplit(url).hostname or "")
    names = ["s3", "s3.dualstack", "sts", *([f"s3express-{zone[1]}"] if zone else [])]
    ending = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return [f"{name}.{region}.{ending}" for name in names]


def _plain(name: str, kind: Credentials) -> str:
    lower = name.lower()
    prefix = next((prefix for prefix in kind.prefixes if lower.startswith(prefix)), None)
    return lower.removeprefix(prefix) if prefix else ""


def rehearse(obstore: Any, store: Any, prefix: str) -> None:
    """Write one object, read it back and remove it, with limits; ObservationError if anything else comes back.

    The requests are signed by the library and sent by a client of our own, so that a store which fails here has not
    been asked for anything else. A store of this process has no addresses, and is trusted.
    """
    content = secrets.token_bytes(OBJECT_BYTES)
    path = f"{prefix}/rehearsal"
    try:
        addresses = {method: obstore.sign(store, method, path, SIGNED) for method in ("PUT", "GET", "DELETE")}
    except Exception:  # stores in memory or on disk cannot sign, nor can one without credentials
        return
    _ask("PUT", addresses, content)
    answer = _ask("GET", addresses)
    if answer != content:
        raise ObservationError("the store returns other bytes than were written to it, so it is not measured.")
    _ask("DELETE", addresses)


def _ask(method: str, addresses: Mapping[str, str], content: bytes | None = None) -> bytes:
    headers = {"Content-Type": "application/octet-stream", "x-ms-blob-type": "BlockBlob"} if content else {}
    request = Request(addresses[method], data=content, method=method, headers=headers)
    name = f"the store's answer to a {method}"
    try:
        return fetch(request, bytes_max=OBJECT_BYTES, seconds_max=SECONDS_MAX, name=name)
    except IntakeError as error:
        raise ObservationError(redact(str(error))) from None
