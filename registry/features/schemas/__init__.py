"""Schemas by id and guid, and the list of all schemas."""
