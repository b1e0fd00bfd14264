"""Validation of many records at once: Arrow in, codes out; no Spark."""
