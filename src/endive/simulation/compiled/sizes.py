"""Sizes of objects and where a table's snapshots stand in a record.

Owns arithmetic on positions and nothing else.
"""

from endive.catalog.rules import (
    list_bytes,
)
from endive.catalog.rules import metadata_bytes as metadata_size
from endive.distributions.code import IntArray
from endive.kernel import inlined
from endive.simulation.compiled.layout import (
    C_B_SNAPSHOTS,
    C_KEPT_MAX,
    C_LIST_BASE,
    C_LIST_STEP,
    C_METADATA_BASE,
    C_METADATA_STEP,
    N_SNAPS,
)


@inlined
def table_at(m: IntArray, position: int) -> int:
    """Where in a row of ``b`` the snapshots of the table at ``position`` begin."""
    return m[C_B_SNAPSHOTS] + position * N_SNAPS


@inlined
def metadata_bytes(m: IntArray, version: int) -> int:
    """Size of a metadata object."""
    return metadata_size(version, m[C_METADATA_BASE], m[C_METADATA_STEP], m[C_KEPT_MAX])


@inlined
def manifest_list_bytes(m: IntArray, manifests: int) -> int:
    """Size of a manifest list."""
    return list_bytes(manifests, m[C_LIST_BASE], m[C_LIST_STEP])
