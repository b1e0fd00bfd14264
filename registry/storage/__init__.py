"""Storage of the registry, on SQLite and PostgreSQL."""
