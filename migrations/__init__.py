"""Database migrations, run by alembic.

They import the tables (``registry/storage/tables.py``) and nothing else. A new one: a module in ``versions/``.
"""
