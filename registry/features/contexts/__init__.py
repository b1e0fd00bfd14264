"""Contexts, and the metadata of the service."""
