"""The rules for schema files, and their fixes."""
