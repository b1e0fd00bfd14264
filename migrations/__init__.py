"""Revisions of the registry's tables, for alembic."""
