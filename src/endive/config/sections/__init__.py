"""What may be written: one model for each section, and the tables they share."""
