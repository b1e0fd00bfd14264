"""What the registry keeps, on SQLite and PostgreSQL."""
