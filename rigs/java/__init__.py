"""Real Java Iceberg, driven and served on this machine: a local S3, a REST server, the JVM and what is played on them.

What is recorded with it, and the model held against the recordings, live in ``verification.suites.java``.
"""
