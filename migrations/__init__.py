"""The history of the registry's tables, as alembic revisions."""
