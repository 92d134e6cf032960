"""What a catalog's server, or a table, may set for the client that talks to it: an allow-list.

A REST catalog answers ``GET /v1/config`` with properties that PyIceberg merges into its own, and every table comes with
more of them. Some of those properties name a class to import, an address to send credentials to, or a certificate check
to skip. So a server may set what is listed here and nothing else; the user's own values stand for everything else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from endive.errors import IntakeError
from endive.observation.tables.allowed_places import AllowedPlaces, place_of

# Of the catalog itself: how its paths are formed and how long its lists are.
CATALOG_KEYS: Final = frozenset(
    {"prefix", "warehouse", "rest-page-size", "namespace-separator", "view-endpoints-supported"}
)
# A server that sets one of these takes over where requests go, how they are signed, or which code runs.
FORBIDDEN: Final = re.compile(
    r"(auth|uri|oauth2-server-uri|credential|token)$|header\.|ssl|rest\.sigv4|rest\.signing-|py-|endive\.",
    re.IGNORECASE,
)
NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")  # of a region, an account: it becomes part of a host name
# Of a store: names, which become part of a host name, and the credentials a server hands out for its own tables.
STORE_NAMES: Final = frozenset({"s3.region", "client.region", "adls.account-name"})
STORE_CREDENTIALS: Final = re.compile(
    r"s3\.(access-key-id|secret-access-key|session-token)$"
    r"|client\.(access-key-id|secret-access-key|session-token)$"
    r"|gcs\.oauth2\.token(-expires-at)?$|gcs\.project-id$"
    r"|adls\.(sas-token|token)(\.[a-z0-9.-]+)?$"
)
STORE_SWITCHES: Final = frozenset({"s3.force-virtual-addressing", "s3.path-style-access"})
# Where a FileIO connects to.
ADDRESSES: Final = re.compile(r"(s3|gcs|adls|hdfs|hf|oss|client)\b.*(endpoint|uri|host|authority|proxy|string)")
USABLE_ADDRESSES: Final = frozenset(
    {
        "s3.endpoint",
        "gcs.service.host",
        "adls.account-host",
        "adls.blob-storage-authority",
        "adls.dfs-storage-authority",
    }
)
# Hosts that only the provider can answer at; *.amazonaws.com would include every rented machine.
PROVIDER_HOST: Final = re.compile(
    r"s3([.-](dualstack|fips|accelerate|website|accesspoint|express-[a-z0-9-]+))*([.-][a-z]{2}(-[a-z]+)+-\d)?\.amazonaws\.com(\.cn)?"
    r"|storage\.googleapis\.com"
    r"|([a-z0-9]{3,24}\.)?(blob|dfs)\.core\.windows\.net"
    r"|onelake\.(blob|dfs)\.fabric\.microsoft\.com"
)


def merge_catalog_settings(
    own: Mapping[str, Any], defaults: Mapping[str, Any], overrides: Mapping[str, Any], allowed: AllowedPlaces
) -> dict[str, Any]:
    """Return the user's properties with what the server may set; IntakeError for what it must not."""
    for told in (defaults, overrides):
        for key, value in told.items():
            if FORBIDDEN.match(key) and not _is_same(key, value, own):
                remedy = "Nothing was sent there. If you trust it, set it yourself: --property"
                raise IntakeError(
                    "its server", f"sets '{key[:60]}', which only you may set. {remedy} '{key[:60]}=...'."
                )
        refuse_other_addresses(told, own, allowed)
    settable = CATALOG_KEYS | STORE_NAMES | STORE_SWITCHES | USABLE_ADDRESSES
    added = {key: value for key, value in defaults.items() if key in settable and key not in own}
    forced = {key: value for key, value in overrides.items() if key in settable}
    _refuse_odd_names(added | forced)
    return {**added, **own, **forced}


def _is_same(key: str, value: Any, own: Mapping[str, Any]) -> bool:
    """Whether a server repeats the user's own value; the address may lack its last slash."""
    if key not in own:
        return False
    return str(value) == str(own[key]) or (key == "uri" and str(value).rstrip("/") == str(own[key]).rstrip("/"))


def store_settings(told: Mapping[str, Any], own: Mapping[str, Any], allowed: AllowedPlaces) -> dict[str, Any]:
    """Return what a server or a table may set for the files of a table; IntakeError for an address nobody named."""
    refuse_other_addresses(told, own, allowed)
    kept = {
        key: value
        for key, value in told.items()
        if key in STORE_NAMES | STORE_SWITCHES | USABLE_ADDRESSES or STORE_CREDENTIALS.match(key)
    }
    _refuse_odd_names(kept)
    return kept


def refuse_other_addresses(told: Mapping[str, Any], own: Mapping[str, Any], allowed: AllowedPlaces) -> None:
    """IntakeError if files would be read from, or sent through, a host that is neither named nor a provider's own."""
    hosts = {place.host for place in allowed.places}
    for key, value in told.items():
        text = str(value)
        if ADDRESSES.match(key) is None or text.startswith("/") or text == str(own.get(key)):
            continue
        place = place_of(text if "://" in text else f"https://{text}")
        if place.host in hosts or (place.scheme == "https" and PROVIDER_HOST.fullmatch(place.host)):
            continue
        raise IntakeError("its server", f"sets {key} to {place}, which was not asked for: --allow {place}.")


def _refuse_odd_names(told: Mapping[str, Any]) -> None:
    for key, value in told.items():
        if key in STORE_NAMES and not NAME.fullmatch(str(value)):
            raise IntakeError(
                "its server", f"sets {key} to '{str(value)[:40]}', which is no name of a region or account."
            )
