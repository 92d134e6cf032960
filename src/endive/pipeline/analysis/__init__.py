"""A dataset becomes tables: figures across seeds, latencies, timelines, saturation, warnings."""
