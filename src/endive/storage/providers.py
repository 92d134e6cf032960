"""The providers by name: each an object store with its own profile.

A provider differs from another by its profile alone.
"""

from __future__ import annotations

from endive.storage.object_store import ObjectStore
from endive.storage.profile_file import MEASURED, load_profile


class S3StorageProvider(ObjectStore):
    """Amazon S3 Standard: read, write, cas."""

    def __init__(self, vintage: str = MEASURED) -> None:
        super().__init__(load_profile("s3", vintage))


class S3ExpressStorageProvider(ObjectStore):
    """Amazon S3 Express One Zone: read, write, cas, append."""

    def __init__(self, vintage: str = MEASURED) -> None:
        super().__init__(load_profile("s3x", vintage))


class AzureBlobStorageProvider(ObjectStore):
    """Azure Blob Storage, standard or premium: read, write, cas, append."""

    def __init__(self, vintage: str = MEASURED, *, premium: bool = False) -> None:
        super().__init__(load_profile("azurex" if premium else "azure", vintage))


class GCPStorageProvider(ObjectStore):
    """Google Cloud Storage: read, write, cas, one write per second to one object."""

    def __init__(self) -> None:
        super().__init__(load_profile("gcp"))


class InstantStorageProvider(ObjectStore):
    """One millisecond for everything, and everything supported."""

    def __init__(self, vintage: str = MEASURED) -> None:
        super().__init__(load_profile("instant", vintage))


class FifoQueueProvider(ObjectStore):
    """A hypothetical queue: read and tail_append, nothing else."""

    def __init__(self) -> None:
        super().__init__(load_profile("fifo"))


class ConstantStorageProvider(ObjectStore):
    """Every request takes exactly ``latency_ms``, and everything is supported."""

    def __init__(self, latency_ms: float) -> None:
        super().__init__(load_profile("constant").at_constant_latency(latency_ms))
