"""Table formats, a package each: what an attempt plans and pays, what a commit leaves behind, who conflicts with whom.

Nothing is imported here: ``endive.vocabulary``, far below, takes the words of the formats from their ``words``.
"""
