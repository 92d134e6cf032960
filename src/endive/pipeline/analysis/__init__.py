"""A dataset becomes tables: figures across seeds, latencies, timelines, verdicts, warnings."""
