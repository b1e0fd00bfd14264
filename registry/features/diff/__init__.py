"""Differences between two versions, or a version and a candidate."""
