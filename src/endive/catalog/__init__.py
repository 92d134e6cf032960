"""Catalogs: who may install a new version, in which order, and what a refusal tells."""

from endive.catalog.append import AppendCatalog
from endive.catalog.cas import CASCatalog
from endive.catalog.catalog import Catalog
from endive.catalog.instant import InstantCatalog
from endive.catalog.rules import ObjectSizes
from endive.catalog.service import ServiceCatalog
from endive.catalog.snapshot import (
    AppendResult,
    CatalogSnapshot,
    CommitEffect,
    CommitResult,
    IntentionRecord,
    TableMetadata,
)
from endive.catalog.state import CatalogState

__all__ = [
    "AppendCatalog",
    "AppendResult",
    "CASCatalog",
    "Catalog",
    "CatalogSnapshot",
    "CatalogState",
    "CommitEffect",
    "CommitResult",
    "InstantCatalog",
    "IntentionRecord",
    "ObjectSizes",
    "ServiceCatalog",
    "TableMetadata",
]
