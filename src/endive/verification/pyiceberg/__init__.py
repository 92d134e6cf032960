"""The model held against PyIceberg: the requests of one commit, and a table under load.

Owns what is PyIceberg's: the scenarios, how they are recorded from the real library (``record``, ``drive``: they need
the library) and what the model says to the same (``requests``, ``load``: they read recordings and need nothing).
"""
