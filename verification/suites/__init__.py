"""The suites of ``endive verify`` that a checkout has: recordings of real tables, measured curves, claims of documents.

Those that an installed package has too are in ``endive.verification``, which also knows the names of these.
"""
