"""Fetch counts: the clients that still use a schema."""
