"""What drives a real Delta Lake: delta-rs against the rig's object server, Delta Spark through SQL.

Run by a Python of its own that has ``deltalake`` or ``pyspark``; nothing of the package is imported.
"""
