"""The charts of a report and of a run: what is drawn, its data, and files of it."""
