"""Real Java Iceberg, driven and served on this machine, and the simulator held against it.

Owns the local S3, the gateway to the JVM, what was recorded from it and the comparisons. Nothing else in Endive
imports it, and nothing here is needed to simulate.
"""
