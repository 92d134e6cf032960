"""A stretch of a run on a time axis: which txns, in which lanes, and what each did when."""
