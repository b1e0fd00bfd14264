"""Contexts: list and deletion."""
