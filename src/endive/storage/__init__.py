"""Storage: what a request costs, when the server sees it, and what a provider can do.

Owns providers, their profiles, and the requests a txn can send. Refuses to own what objects contain and
what happens after an answer: catalogs and transactions do.
"""

from endive.storage.client import Client, Clock, TracedRequest
from endive.storage.object_store import ObjectStore
from endive.storage.profile import Contention, Figure, FigureRow, Note, Price, Profile, Throttling, grouped_prices
from endive.storage.profile_file import (
    MEASURED,
    SEEDS,
    VINTAGES,
    list_profiles,
    load_profile,
    names_supporting,
    parse_profile,
)
from endive.storage.provider import Request, StorageProvider, StorageResult
from endive.storage.providers import (
    AzureBlobStorageProvider,
    ConstantStorageProvider,
    FifoQueueProvider,
    GCPStorageProvider,
    InstantStorageProvider,
    S3ExpressStorageProvider,
    S3StorageProvider,
)
from endive.storage.requests import (
    APPEND,
    CAS,
    CATALOG,
    DELETE,
    HEAD,
    LOG,
    MANIFEST,
    MANIFEST_LIST,
    METADATA,
    N_OPERATIONS,
    N_REQUEST_SLOTS,
    OBJECTS,
    OPERATIONS,
    READ,
    TAIL_APPEND,
    WRITE,
)

__all__ = [
    "APPEND",
    "CAS",
    "CATALOG",
    "DELETE",
    "HEAD",
    "LOG",
    "MANIFEST",
    "MANIFEST_LIST",
    "MEASURED",
    "METADATA",
    "N_OPERATIONS",
    "N_REQUEST_SLOTS",
    "OBJECTS",
    "OPERATIONS",
    "READ",
    "SEEDS",
    "TAIL_APPEND",
    "VINTAGES",
    "WRITE",
    "AzureBlobStorageProvider",
    "Client",
    "Clock",
    "ConstantStorageProvider",
    "Contention",
    "FifoQueueProvider",
    "Figure",
    "FigureRow",
    "GCPStorageProvider",
    "InstantStorageProvider",
    "Note",
    "ObjectStore",
    "Price",
    "Profile",
    "Request",
    "S3ExpressStorageProvider",
    "S3StorageProvider",
    "StorageProvider",
    "StorageResult",
    "Throttling",
    "TracedRequest",
    "grouped_prices",
    "list_profiles",
    "load_profile",
    "names_supporting",
    "parse_profile",
]
