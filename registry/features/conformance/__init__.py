"""Audit results by topic."""
