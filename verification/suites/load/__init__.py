"""The simulator held against Java Iceberg under load: what was measured, and how the model is asked the same."""
