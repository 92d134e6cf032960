"""The folder between a sweep and its analysis: layout, parts, columns, lock."""
