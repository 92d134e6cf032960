"""The command line: one file per command, and nothing that a library user would miss."""
