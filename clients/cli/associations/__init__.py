"""Associations of the manifest: compared with those of a registry, and what prevents a change."""
