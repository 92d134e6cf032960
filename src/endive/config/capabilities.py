"""Which operations a storage provider has, as far as a configuration must know it."""

from __future__ import annotations

from endive.config.reading.document import GIVE_FILE, document_in

BUILT_IN: dict[str, frozenset[str]] = {
    "s3": frozenset({"read", "write", "cas", "create"}),
    "s3x": frozenset({"read", "write", "cas", "append", "create"}),
    "azure": frozenset({"read", "write", "cas", "append", "create"}),
    "azurex": frozenset({"read", "write", "cas", "append", "create"}),
    "gcp": frozenset({"read", "write", "cas", "create"}),
    "instant": frozenset({"read", "write", "cas", "append", "tail_append", "create"}),
    "fifo": frozenset({"read", "tail_append"}),
    "constant": frozenset({"read", "write", "cas", "append", "tail_append", "create"}),
}
OPERATIONS = ("read", "write", "cas", "append", "tail_append", "create")
HAVE_NO_VINTAGES = ("constant", "fifo")
IN_ORIGINAL_VINTAGE = ("s3", "s3x", "azure", "azurex", "instant")


def providers_with(*operations: str) -> list[str]:
    """Built-in providers that have all of these operations."""
    return [name for name, has in BUILT_IN.items() if has.issuperset(operations)]


def is_profile_path(provider: str) -> bool:
    """Whether ``storage.provider`` names a file of the user's instead of a built-in provider."""
    return provider.endswith(".toml") or "/" in provider or "\\" in provider


def profile_capabilities(path: str) -> frozenset[str] | str:
    """The operations a user's profile claims, or the end of a sentence on what is wrong with the file."""
    profile = document_in(path)
    if isinstance(profile, str):
        wanted = "Give the path of a profile (.toml) or the name of a built-in provider."
        return profile.replace(GIVE_FILE, wanted)
    claimed = profile.get("capabilities")
    if not isinstance(claimed, list) or not claimed or not set(map(str, claimed)) <= set(OPERATIONS):
        return f"must list its operations as capabilities = [...]; known are: {', '.join(OPERATIONS)}."
    return frozenset(claimed)
