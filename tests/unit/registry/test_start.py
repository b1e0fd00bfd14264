"""Startup imports only the modules that serving needs immediately."""

from __future__ import annotations

import subprocess
import sys

#: What one database, one verb or one answer needs is loaded when that comes.
LATER = ("alembic", "psycopg", "sqlalchemy.dialects.postgresql", "sqlalchemy.orm", "jinja2", "numpy", "httpx2")


def test_a_registry_on_sqlite_starts_without_what_others_need() -> None:
    program = """if True:
        import sys
        from contractlog.registry import cli
        from contractlog.registry.app import create_app
        from contractlog.registry.settings import Settings
        app = create_app(Settings(database_url="sqlite://"))
        app.state.close()
        print(*sorted(sys.modules))
    """
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert set(LATER) & set(told.split()) == set()
    assert "sqlalchemy.dialects.sqlite" in told.split()


def test_settings_are_read_without_the_service() -> None:
    modules = "contractlog.registry.access.cli, contractlog.registry.healthcheck"
    program = f"import sys; import {modules}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert {"fastapi", "pydantic", "sqlalchemy", "uvicorn"} & set(loaded) == set()
