"""Rules between keys: which are read in which combination, and which combinations are refused."""
