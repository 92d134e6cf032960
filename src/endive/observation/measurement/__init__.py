"""Stores and catalogs measured, and their figures as profiles that give those figures back."""
