"""Pytest plug-in for users: each test gets its own registry, the real service on an empty database.

```python
def test_orders_evolve(schema_registry):
    schema_registry.register("orders-value", first)
    with pytest.raises(IncompatibleSchema):
        schema_registry.register("orders-value", broken)
```

pytest loads this module in every project where contractlog is installed, so importing it must cost nothing: the service
is imported by the first test that requests a registry. This is the only module that imports both the service and its
clients.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from fastapi import FastAPI

    from contractlog.clients import AsyncRegistry, Registry
    from contractlog.clients.confluent import SchemaRegistryClient

__all__ = [
    "Registries",
    "async_schema_registry",
    "schema_registries",
    "schema_registry",
    "schema_registry_app",
    "schema_registry_client",
    "schema_registry_settings",
]


class Registries:
    """Factory of registries that share only code; empty tables are copied."""

    def __init__(self) -> None:
        from contractlog.registry.app import create_app  # noqa: PLC0415 - see the module's docstring
        from contractlog.registry.settings import Settings  # noqa: PLC0415
        from contractlog.registry.storage import engines  # noqa: PLC0415
        from contractlog.registry.storage.store import Store, create_tables  # noqa: PLC0415

        self._create_app, self._settings, self._store, self._engines = create_app, Settings, Store, engines
        self._url = engines.parse_url("sqlite://")
        self._empty = engines.open_engines(self._url)
        with self._empty.writer.begin() as connection:
            create_tables(connection)
        self._free: list[engines.Engines] = []

    def make(self, settings: Mapping[str, Any]) -> FastAPI:
        """Create the service on an empty database; ``app.state.close()`` ends it.

        Args:
            settings: members of ``registry/settings.py``, except the database.
        """
        names = {member.name for member in fields(self._settings)} - {"database_url"}
        if unknown := settings.keys() - names:
            raise ValueError(
                f"{', '.join(sorted(unknown))}: a registry for tests can be given {', '.join(sorted(names))}"
            )
        return self._create_app(self._settings(database_url="sqlite://", **settings), store=self._copy_store())

    def close(self) -> None:
        """Release the connections."""
        for engines in (self._empty, *self._free):
            engines.dispose()

    def _copy_store(self) -> Any:
        """Create a store on a free or new connection, with a copy of the empty database.

        A connection is free again when its store has ended all its threads. It keeps its cache of compiled statements.
        """
        with ExitStack() as stack:
            engines = self._free.pop() if self._free else self._engines.open_engines(self._url)
            stack.callback(self._free.append, engines)
            source, target = self._empty.writer.raw_connection(), engines.writer.raw_connection()
            target.rollback()
            source.driver_connection.backup(target.driver_connection)  # type: ignore[union-attr]
            source.close()  # back to their pools
            target.close()
            return self._store(engines, max_pending_writes=self._settings().max_pending_writes, closing=stack.pop_all())


@pytest.fixture(scope="session")
def schema_registries() -> Iterator[Registries]:
    """The factory of registries, for your own fixtures that need several, or one per module."""
    try:
        registries = Registries()
    except ModuleNotFoundError as error:
        pytest.fail(
            f"{error.name} is missing; a registry in tests needs: pip install 'contractlog[server]'", pytrace=False
        )
    yield registries
    registries.close()


@pytest.fixture
def schema_registry_settings() -> dict[str, Any]:
    """Members of ``registry/settings.py``; override to change them, for example ``{"level": Level.FULL}``."""
    return {}


@pytest.fixture
def schema_registry_app(
    schema_registries: Registries, schema_registry_settings: Mapping[str, Any]
) -> Iterator[FastAPI]:
    """The service itself, an ASGI application; the test's other fixtures use this instance."""
    app = schema_registries.make(schema_registry_settings)
    yield app
    app.state.close()


@pytest.fixture
def schema_registry(schema_registry_app: FastAPI) -> Iterator[Registry]:
    """An empty ``Registry`` client; levels, modes and contexts behave as in production."""
    from contractlog.clients import Registry  # noqa: PLC0415

    with Registry(app=schema_registry_app) as registry:
        yield registry


@pytest.fixture
def async_schema_registry(schema_registry_app: FastAPI) -> Iterator[AsyncRegistry]:
    """An ``AsyncRegistry`` client of the same service."""
    from contractlog.clients import AsyncRegistry  # noqa: PLC0415

    registry = AsyncRegistry(app=schema_registry_app)
    yield registry
    asyncio.run(registry.close())


@pytest.fixture
def schema_registry_client(schema_registry: Registry) -> SchemaRegistryClient:
    """A ``SchemaRegistryClient`` of ``contractlog.clients.confluent`` for the same service."""
    from contractlog.clients.confluent import SchemaRegistryClient  # noqa: PLC0415

    return SchemaRegistryClient.over(schema_registry)
