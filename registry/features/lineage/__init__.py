"""Lineage of topics: declared by jobs, traced, and found in values."""
