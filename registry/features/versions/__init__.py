"""Versions of subjects: registration, and reading a version."""
