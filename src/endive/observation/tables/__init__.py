"""Tables as they are found: through a catalog, by their metadata file, or by the log of a Delta table."""
