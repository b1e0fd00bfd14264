"""Profiles of fields, computed from the values of a batch at once."""
