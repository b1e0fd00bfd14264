"""Lineage between topics, inferred from sampled values."""
