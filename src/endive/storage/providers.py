"""The providers by name: each an object store with its own profile.

A provider differs from another by its profile alone.
"""

from __future__ import annotations

from typing import ClassVar

from endive.distributions import LatencyDistribution
from endive.distributions.sampled import draw
from endive.errors import EngineError
from endive.storage.object_store import ObjectStore
from endive.storage.profile_file import MEASURED, load_profile
from endive.vocabulary import CAS, OBJECTS, READ, WRITE


class NamedStorageProvider(ObjectStore):
    """A provider by its profile, or by the distributions given instead of it (refactoring specification, 1.2)."""

    profile_name: ClassVar[str]

    def __init__(
        self,
        read_latency: LatencyDistribution | None = None,
        write_latency: LatencyDistribution | None = None,
        cas_success_latency: LatencyDistribution | None = None,
        cas_failure_latency: LatencyDistribution | None = None,
        *,
        vintage: str = MEASURED,
    ) -> None:
        given = {
            (READ, True): read_latency,
            (WRITE, True): write_latency,
            (CAS, True): cas_success_latency,
            (CAS, False): cas_failure_latency,
        }
        overrides = {
            (object, op, success): _checked(latency)
            for (op, success), latency in given.items()
            for object in range(len(OBJECTS))
            if latency is not None
        }
        super().__init__(load_profile(self.profile_name, vintage).with_overrides(overrides))


def _checked(latency: LatencyDistribution) -> LatencyDistribution:
    """Return a latency that can be drawn from; a user's own is tried once."""
    if not isinstance(latency, LatencyDistribution):
        raise EngineError(f"{latency!r} is not a LatencyDistribution; give one, such as LognormalLatency(3.0, 0.5).")
    if latency.is_sampled:
        draw(latency, latency.sample)
    return latency


class S3StorageProvider(NamedStorageProvider):
    """Amazon S3 Standard: read, write, cas."""

    profile_name = "s3"


class S3ExpressStorageProvider(NamedStorageProvider):
    """Amazon S3 Express One Zone: read, write, cas, append."""

    profile_name = "s3x"


class AzureBlobStorageProvider(NamedStorageProvider):
    """Azure Blob Storage, standard: read, write, cas, append."""

    profile_name = "azure"


class AzurePremiumStorageProvider(NamedStorageProvider):
    """Azure Blob Storage, premium: read, write, cas, append."""

    profile_name = "azurex"


class GCPStorageProvider(NamedStorageProvider):
    """Google Cloud Storage: read, write, cas, one write per second to one object."""

    profile_name = "gcp"


class InstantStorageProvider(NamedStorageProvider):
    """One millisecond for everything, and everything supported."""

    profile_name = "instant"


class FifoQueueProvider(ObjectStore):
    """A hypothetical queue: read and tail_append, nothing else."""

    def __init__(self) -> None:
        super().__init__(load_profile("fifo"))


class ConstantStorageProvider(ObjectStore):
    """Every request takes exactly ``latency_ms``, and everything is supported."""

    def __init__(self, latency_ms: float) -> None:
        super().__init__(load_profile("constant").at_constant_latency(latency_ms))
