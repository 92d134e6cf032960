"""``python -m rigs.record``: the recordings that travel with the package, made anew from a real Iceberg."""
