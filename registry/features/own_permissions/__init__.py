"""Permissions of the caller on a subject."""
