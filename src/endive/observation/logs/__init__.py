"""Logs of those who write: what they tried, how long it took, and why it failed."""
