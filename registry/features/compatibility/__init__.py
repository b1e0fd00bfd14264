"""Compatibility checks without registration."""
