"""The copy of a registry to a folder."""
