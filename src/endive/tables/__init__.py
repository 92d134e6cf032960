"""A study's tables, made of what its runs measured: means over seeds, intervals, percentiles, verdicts, warnings.

Nothing here needs Spark. The runs and their counts come from ``endive.pipeline``; ``endive.report`` draws the tables.
"""
