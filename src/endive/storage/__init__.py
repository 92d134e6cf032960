"""Storage: what a request costs, when the server sees it, and what a provider can do.

Providers, their profiles, and the one value that asks them: ``Request``. What objects contain and what happens after an
answer is for catalogs and transactions.
"""

from endive.storage.client import Client, Clock
from endive.storage.object_store import ObjectStore
from endive.storage.profile import Crowding, CrowdTable, ExtraTime, Figure, Note, Profile, grouped_prices
from endive.storage.profile_file import MEASURED, ORIGINAL, VINTAGES, list_profiles, load_profile, names_supporting
from endive.storage.provider import Exchange, Request, StorageProvider, StorageResult
from endive.storage.providers import (
    AzureBlobStorageProvider,
    AzurePremiumStorageProvider,
    ConstantStorageProvider,
    FifoQueueProvider,
    GCPStorageProvider,
    InstantStorageProvider,
    S3ExpressStorageProvider,
    S3StorageProvider,
)
from endive.vocabulary import (
    APPEND,
    CAS,
    CATALOG,
    DELETE,
    HEAD,
    MANIFEST,
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
    "MANIFEST",
    "MEASURED",
    "OBJECTS",
    "OPERATIONS",
    "ORIGINAL",
    "READ",
    "TAIL_APPEND",
    "VINTAGES",
    "WRITE",
    "AzureBlobStorageProvider",
    "AzurePremiumStorageProvider",
    "Client",
    "Clock",
    "ConstantStorageProvider",
    "CrowdTable",
    "Crowding",
    "Exchange",
    "ExtraTime",
    "FifoQueueProvider",
    "Figure",
    "GCPStorageProvider",
    "InstantStorageProvider",
    "Note",
    "ObjectStore",
    "Profile",
    "Request",
    "S3ExpressStorageProvider",
    "S3StorageProvider",
    "StorageProvider",
    "StorageResult",
    "grouped_prices",
    "list_profiles",
    "load_profile",
    "names_supporting",
]
