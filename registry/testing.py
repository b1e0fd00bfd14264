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
import os
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, fields, is_dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from fastapi import FastAPI

    from contractlog.clients import AsyncRegistry, Registry
    from contractlog.clients.confluent import SchemaRegistryClient

__all__ = [
    "Registries",
    "SchemaGate",
    "async_schema_registry",
    "schema_gate",
    "schema_registries",
    "schema_registry",
    "schema_registry_app",
    "schema_registry_client",
    "schema_registry_settings",
]

_OPTION: Final = "--contractlog-registry"


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


class SchemaGate:
    """Assertions about schema files and events, which only read the registry."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry

    def assert_compatible(self, *paths: str | PathLike[str], subject: str | None = None) -> None:
        """Assert that files and folders can be registered, as ``contractlog check`` decides it.

        Args:
            paths: schema files and folders of them; a manifest is found as by ``contractlog check``.
            subject: of all files, instead of the one in their names.

        Raises:
            AssertionError: a file is invalid, incompatible, or may not be registered.
        """
        __tracebackhide__ = True
        from contractlog.clients.cli.check.check_text import describe_verdict, detail_lines  # noqa: PLC0415
        from contractlog.clients.cli.check.checked_files import check_files  # noqa: PLC0415 - see the module's docstring
        from contractlog.clients.cli.check.file_check import FAILED  # noqa: PLC0415
        from contractlog.clients.cli.check.write_access import WriteAccess  # noqa: PLC0415
        from contractlog.clients.cli.schema_folder.argument_files import read_files  # noqa: PLC0415
        from contractlog.clients.cli.schema_folder.collection import UnreadableFiles  # noqa: PLC0415

        unreadable = UnreadableFiles()
        options = Namespace(
            files=[str(path) for path in paths],
            subject=subject,
            references=[],
            manifest=None,
            environment=None,
            normalize=False,
            verbose=False,
        )
        lines = []
        for check in check_files(options, WriteAccess(self.registry), read_files(options, unreadable), unreadable, []):
            if check.outcome in {*FAILED, "refused"}:
                lines += [f"{check.file.path}: {describe_verdict(check)}", *detail_lines(check)]
        lines += [str(error) for _, error in unreadable.problems]
        if lines:
            raise AssertionError("\n".join(lines))

    def assert_serializable(
        self,
        event: Any,
        subject: str,
        *,
        to_dict: Callable[[Any, Any], Any] | None = None,
        from_dict: Callable[[Any, Any], Any] | None = None,
    ) -> Any:
        """Write an event with the latest version of a subject, read it back, and return what was read.

        Args:
            event: a value, an instance of a dataclass or of a class of pydantic, or any object with ``to_dict``; or
                such a class itself, of which instances with example values are checked: then a list is returned.
            subject: its latest version is used; nothing is registered.
            to_dict: converts the event to a dict, as for serializers; default: for dataclasses ``asdict``, for classes
                of pydantic ``model_dump`` with aliases.
            from_dict: converts a dict to an event, as for deserializers; what it returns must equal ``event``.

        Raises:
            AssertionError: the subject has no version, the event does not fit the schema, or comes back different; or
                there are no example values for a class.
        """
        __tracebackhide__ = True
        from contractlog.compatibility.errors import SubjectNotFound, VersionNotFound  # noqa: PLC0415
        from contractlog.compatibility.schema import SchemaType  # noqa: PLC0415
        from contractlog.serdes.avro import AvroDeserializer, AvroSerializer  # noqa: PLC0415
        from contractlog.serdes.context import MessageField, SerializationContext  # noqa: PLC0415
        from contractlog.serdes.errors import SerializationError  # noqa: PLC0415
        from contractlog.serdes.event_class_examples import is_event_class, make_events  # noqa: PLC0415
        from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer  # noqa: PLC0415

        if is_event_class(event):
            try:
                events = list(make_events(event))
            except TypeError as error:
                raise AssertionError(f"{event.__name__}: {error}; pass an instance in place of the class") from None
            return [self.assert_serializable(each, subject, to_dict=to_dict, from_dict=from_dict) for each in events]
        if to_dict is None and is_dataclass(event):
            to_dict = _dataclass_to_dict
        try:
            latest = self.registry.latest(subject)
        except (SubjectNotFound, VersionNotFound):
            raise AssertionError(f"`{subject}` has no version: register its schema first") from None
        is_model = to_dict is None and hasattr(event, "model_dump")
        conf = {"auto.register.schemas": False, "use.latest.version": True, "subject.name.strategy": lambda *_: subject}
        context = SerializationContext(subject, MessageField.VALUE)
        strict = conf | {"validate.strict": True, "validate.strict.allow.default": True}
        serdes: dict[SchemaType, Callable[[], tuple[Any, Any]]] = {
            SchemaType.AVRO: lambda: (
                AvroSerializer(self.registry, None, _model_to_dict if is_model else to_dict, conf=strict),
                AvroDeserializer(self.registry, None, from_dict),
            ),
            SchemaType.JSON: lambda: (
                JSONSerializer(None, self.registry, _model_to_json if is_model else to_dict, conf=conf),
                JSONDeserializer(None, from_dict, self.registry),
            ),
        }
        if latest.type not in serdes:
            raise AssertionError(f"`{subject}` is of type {latest.type}, for which there are no serializers")
        serializer, deserializer = serdes[latest.type]()
        try:
            result = deserializer(serializer(event, context), context)
        except SerializationError as error:
            raise AssertionError(
                f"{type(event).__name__} does not fit version {latest.version} of `{subject}`: {error}"
            ) from None
        if from_dict is not None and result != event:
            raise AssertionError(f"version {latest.version} of `{subject}` returns {result!r} for {event!r}")
        return result


def _dataclass_to_dict(event: Any, context: Any) -> Any:  # noqa: ARG001 - as serializers call it
    return asdict(event)


def _model_to_dict(event: Any, context: Any) -> Any:  # noqa: ARG001 - as serializers call it
    return event.model_dump(by_alias=True)


def _model_to_json(event: Any, context: Any) -> Any:  # noqa: ARG001 - as serializers call it
    return event.model_dump(mode="json", by_alias=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and the setting that name the registry of ``schema_gate``."""
    purpose = "URL of the registry that the fixture schema_gate reads"
    parser.getgroup("contractlog").addoption(_OPTION, metavar="URL", help=purpose)
    parser.addini("contractlog_registry", purpose, default="")


@pytest.fixture
def schema_gate(request: pytest.FixtureRequest) -> Iterator[SchemaGate]:
    """Assertions about your schema files and events.

    The registry is that of ``--contractlog-registry``, of the setting ``contractlog_registry``, or of the environment
    variable CONTRACTLOG_REGISTRY_URL; if none is given, the test's own (``schema_registry``). Credentials are not sent
    to a registry that only pytest's configuration names while a variable names another one.
    """
    config = request.config
    url = config.getoption(_OPTION) or config.getini("contractlog_registry")
    is_configured = bool(url) and not _is_named_by_arguments(config.invocation_params.args)
    url = url or os.environ.get("CONTRACTLOG_REGISTRY_URL")
    if not url:
        yield SchemaGate(request.getfixturevalue("schema_registry"))
        return
    from contractlog.clients import Registry, Security  # noqa: PLC0415
    from contractlog.clients.cli.credential_selection import select_security_of_config  # noqa: PLC0415
    from contractlog.compatibility.errors import UsageError  # noqa: PLC0415

    security = Security.from_environment()
    if is_configured:
        try:
            security = select_security_of_config(url, "configuration of pytest", f"pass {_OPTION}")
        except UsageError as error:
            pytest.fail(str(error), pytrace=False)
    with Registry(url, security=security) as registry:
        yield SchemaGate(registry)


def _is_named_by_arguments(arguments: Sequence[object]) -> bool:
    """Return whether the user names the registry.

    The option may also be in ``addopts`` of the configuration.
    """
    words = [str(argument) for argument in arguments] + os.environ.get("PYTEST_ADDOPTS", "").split()
    return any(word.partition("=")[0] == _OPTION for word in words)


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
