"""Commit points: what is compared and swapped, who says so, and what a refusal tells. They know versions only."""

from endive.catalog.append import AppendCatalog
from endive.catalog.cas import CASCatalog
from endive.catalog.catalog import Catalog
from endive.catalog.create import CreateCatalog
from endive.catalog.service import InstantCatalog, ServiceCatalog
from endive.catalog.snapshot import AppendResult, CatalogSnapshot, CommitResult, IntentionRecord, TableMetadata
from endive.catalog.state import CatalogState, Content

__all__ = [
    "AppendCatalog",
    "AppendResult",
    "CASCatalog",
    "Catalog",
    "CatalogSnapshot",
    "CatalogState",
    "CommitResult",
    "Content",
    "CreateCatalog",
    "InstantCatalog",
    "IntentionRecord",
    "ServiceCatalog",
    "TableMetadata",
]
