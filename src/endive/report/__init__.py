"""Charts and pages made from results.

Owns every use of a chart library. Refuses to simulate: what it shows was made elsewhere.
"""
