"""Versions of subjects: list, read, registration, tags, deletion."""
