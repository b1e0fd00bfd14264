"""Bytes to values and back, one record at a time."""
