"""The compiled engine's source, run by the Python interpreter: a tool for tests, not an engine for users."""
