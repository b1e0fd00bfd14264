"""Sources of schemas: a client of ours, or one with confluent-kafka's interface through an adapter.

Adapters allow a migration in parts. The caches of the adapted clients mix what a registry holds with what a caller
looked up in it, which may lack rules: for an id under a subject, for a version, and for a guid, they may return the
caller's own schema. So contents are requested by id and context alone, which a lookup does not affect.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, Final, Literal, TypeVar

from contractlog.clients import Registry, calls
from contractlog.compatibility.errors import NotFound, RegistryError
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.serdes.source_requests import Steps, request, run_async, run_sync

__all__ = [
    "AsyncConfluentSource",
    "ConfluentSource",
    "fetch_references",
    "make_source",
    "require_async_client",
    "require_sync_client",
]

T = TypeVar("T")
_CONFLUENT_PACKAGES: Final = ("contractlog.clients.confluent", "confluent_kafka.schema_registry")


def make_source(client: Any) -> Any:
    """Return a source for a client: one of ours, one of confluent-kafka's, or a folder of pulled schemas.

    Raises:
        TypeError: the client is none of these.
    """
    if hasattr(client, "schema_by_id"):
        return client
    if hasattr(client, "get_schema") and hasattr(client, "lookup_schema"):
        return (
            AsyncConfluentSource(client) if inspect.iscoroutinefunction(client.get_schema) else ConfluentSource(client)
        )
    raise TypeError(f"a registry client is needed, not {type(client).__name__}")


def require_sync_client(serde: Any, source: Any) -> None:
    """Check that a client is synchronous.

    Raises:
        TypeError: the client has to be awaited.
    """
    if isinstance(source, AsyncConfluentSource) or inspect.iscoroutinefunction(getattr(source, "schema_by_id", None)):
        name = type(serde).__name__
        raise TypeError(f"{name} waits for its client, and {_client_name(source)} has to be awaited: use Async{name}")


def require_async_client(serde: Any, source: Any) -> None:
    """Check that a client does not block the event loop.

    Raises:
        TypeError: the client would block.
    """
    if isinstance(source, ConfluentSource | Registry):
        name = type(serde).__name__
        advice = f"use its async twin, or {name.removeprefix('Async')}"
        raise TypeError(f"{name} awaits its client, and {_client_name(source)} would hold up the event loop: {advice}")


def fetch_references(draft: SchemaDraft, subject: str | None) -> Steps[Mapping[str, str]]:
    """Resolve the references of a draft with any source."""
    walk = calls.referenced(draft, subject=subject)
    try:
        call = next(walk)
        while True:
            _, subject_name, _, number = call.segments
            requested = "latest" if number == "latest" else int(number)
            version = yield request("version", subject_name, requested, deleted=True)
            call = walk.send(version)
    except StopIteration as done:
        texts: Mapping[str, str] = done.value
        return texts


class _ConfluentAdapter:
    """Translation of our requests into the client's calls, and of its responses into our types."""

    def __init__(self, client: Any) -> None:
        self.client_name = type(client).__name__
        self._client = client
        modules = [kind.__module__ for kind in type(client).__mro__]
        packages = (home for home in _CONFLUENT_PACKAGES for module in modules if module.startswith(home))
        self._client_module = import_module(next(packages, _CONFLUENT_PACKAGES[-1]))
        self._caches_registry_content = (
            self._client_module.__name__ == _CONFLUENT_PACKAGES[0]
        )  #: whether what it caches came from the registry

    @property
    def latest_generation(self) -> int | None:
        """Number of times that the client dropped its newest versions; None if it does not count."""
        return getattr(self._client, "latest_generation", None)

    def register(self, subject: str, draft: SchemaDraft, *, normalize: bool = False) -> Any:
        """Register a schema, or return the existing version with its content."""
        schema = self._schema(draft)
        return self._call_client(_version_parser(draft), "register_schema_full_response", subject, schema, normalize)

    def lookup(self, subject: str, draft: SchemaDraft, *, normalize: bool = False, deleted: bool = False) -> Any:
        """Return the version of a subject that has this content."""
        schema = self._schema(draft)
        options = {"normalize_schemas": normalize, "deleted": deleted}
        return self._call_client(_version_parser(draft, echoed=True), "lookup_schema", subject, schema, **options)

    def schema_by_id(self, schema_id: int, *, subject: str | None = None) -> Any:
        """Return the schema of an id."""
        return self._run_steps(_request_content(schema_id, subject))

    def schema_by_guid(self, guid: str) -> Any:
        """Return the schema of a guid."""
        return (
            self.cached_schema_by_guid(guid)
            if self._caches_registry_content
            else self._run_steps(_request_by_guid(guid))
        )

    def version(self, subject: str, version: int | Literal["latest"], *, deleted: bool = False) -> Any:
        """Return a version of a subject."""
        if version == "latest" and not deleted:
            return self._call_client(_version_parser(None), "get_latest_version", subject)
        if version == "latest" or self._caches_registry_content:
            return self.cached_version(subject, version, deleted=deleted)
        return self._run_steps(_request_version(subject, version, deleted=deleted))

    def cached_version(self, subject: str, version: int | Literal["latest"], *, deleted: bool = False) -> Any:
        """Return a version of a subject; its content may be the one that a caller looked up."""
        return self._call_client(_version_parser(None), "get_version", subject, version, deleted)

    def cached_schema_by_guid(self, guid: str) -> Any:
        """Return the schema of a guid; it may be the one that a caller looked up."""
        return self._call_client(_schema_parser(0, guid), "get_schema_by_guid", guid)

    def clear_caches(self) -> Any:
        """Clear the client's caches."""
        return self._call_client(lambda _: None, "clear_caches") if hasattr(self._client, "clear_caches") else None

    def schema_in_subject(self, schema_id: int, subject: str | None) -> Any:
        """Return the schema of an id, requested under a subject or context."""
        return self._call_client(_schema_parser(schema_id, None), "get_schema", schema_id, subject)

    def versions(self, subject: str, *, deleted: bool = False) -> Any:
        """Return the versions of a subject."""
        return self._call_client(list, "get_versions", subject, deleted)

    def latest_with_metadata(self, subject: str, metadata: Mapping[str, str], *, deleted: bool = False) -> Any:
        """Return the newest version with these properties."""
        return self._call_client(_version_parser(None), "get_latest_with_metadata", subject, dict(metadata), deleted)

    def associations_by_resource_name(
        self,
        name: str,
        *,
        namespace: str = "-",
        resource_type: str | None = None,
        association_types: Iterable[str] = (),
    ) -> Any:
        """Return the associations of a resource; older clients without associations return none."""
        if not hasattr(self._client, "get_associations_by_resource_name"):
            return []
        kinds = list(association_types)
        return self._call_client(
            list, "get_associations_by_resource_name", name, namespace, resource_type, kinds, 0, -1
        )

    def _schema(self, draft: SchemaDraft) -> Any:
        return self._client_module.Schema.from_dict({"schemaType": draft.type.value} | draft.body())

    def _call_client(self, read: Callable[[Any], Any], method: str, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def _run_steps(self, steps: Steps[T]) -> Any:
        raise NotImplementedError


class ConfluentSource(_ConfluentAdapter):
    """Source of schemas from a ``SchemaRegistryClient``."""

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def referenced(self, draft: SchemaDraft, *, subject: str | None = None) -> Mapping[str, str]:
        """Return the texts of all dependencies of a draft."""
        return run_sync(fetch_references(draft, subject), self)

    def _run_steps(self, steps: Steps[T]) -> Any:
        return run_sync(steps, self)

    def _call_client(self, read: Callable[[Any], Any], method: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return read(getattr(self._client, method)(*args, **kwargs))
        except Exception as error:
            raise _convert_error(error) from error


class AsyncConfluentSource(_ConfluentAdapter):
    """Source of schemas from an ``AsyncSchemaRegistryClient``."""

    async def close(self) -> None:
        """Close the client."""
        await self._client.aclose()

    async def referenced(self, draft: SchemaDraft, *, subject: str | None = None) -> Mapping[str, str]:
        """Return the texts of all dependencies of a draft."""
        return await run_async(fetch_references(draft, subject), self)

    async def _run_steps(self, steps: Steps[T]) -> Any:
        return await run_async(steps, self)

    async def _call_client(self, read: Callable[[Any], Any], method: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return read(await getattr(self._client, method)(*args, **kwargs))
        except Exception as error:
            raise _convert_error(error) from error


def _client_name(source: Any) -> str:
    return str(getattr(source, "client_name", type(source).__name__))


def _request_content(schema_id: int, subject: str | None) -> Steps[RegisteredSchema]:
    """Request an id in the context of a subject; if it is not found, by the subject itself.

    A registry looks up plain subject names in all contexts.
    """
    context = Subject.parse(subject or "").context
    schema: RegisteredSchema
    try:
        schema = yield request("schema_in_subject", schema_id, None if context == DEFAULT_CONTEXT else f":{context}:")
    except NotFound:
        if subject is None or context != DEFAULT_CONTEXT:
            raise
        schema = yield request("schema_in_subject", schema_id, subject)
    return schema


def _request_by_guid(guid: str) -> Steps[RegisteredSchema]:
    """Request a guid after the client's caches are cleared, as a cached response may be a caller's schema."""
    yield request("clear_caches")
    schema: RegisteredSchema = yield request("cached_schema_by_guid", guid)
    return schema


def _request_version(subject: str, version: int, *, deleted: bool) -> Steps[RegisteredSchema]:
    """Request the id of a version, and then the schema of that id."""
    registered: RegisteredSchema = yield request("cached_version", subject, version, deleted=deleted)
    if not registered.schema_id:  # a response by id and subject, which has no id, is cached as the version
        yield request("clear_caches")
        registered = yield request("cached_version", subject, version, deleted=deleted)
    content = yield from _request_content(int(registered.schema_id), subject)
    return replace(content, subject=registered.subject, version=registered.version, guid=registered.guid)


def _version_parser(draft: SchemaDraft | None, *, echoed: bool = False) -> Callable[[Any], RegisteredSchema]:
    """Return a parser of responses with a version; fields that an older server omits come from the draft.

    A response without a version comes from an older server or the client's cache: its content is the caller's.
    """

    def read(response: Any) -> RegisteredSchema:
        schema = getattr(response, "schema", None)
        body = {} if schema is None else schema.to_dict()
        facts = {
            "id": response.schema_id or 0,
            "guid": response.guid,
            "subject": response.subject,
            "version": response.version,
        }
        registered = RegisteredSchema.from_body(body | facts, draft=draft)
        return replace(registered, echoed=registered.echoed or echoed or registered.version is None)

    return read


def _schema_parser(schema_id: int, guid: str | None) -> Callable[[Any], RegisteredSchema]:
    """Return a parser of responses that hold a schema alone."""
    return lambda schema: RegisteredSchema.from_body(schema.to_dict() | {"guid": guid}, schema_id=schema_id)


def _convert_error(error: Exception) -> Exception:
    """Convert an error of the client to our class for its code; return other errors unchanged."""
    status = getattr(error, "http_status_code", None)
    if isinstance(error, RegistryError) or not isinstance(status, int):
        return error
    code, message = getattr(error, "error_code", None), str(getattr(error, "error_message", error))
    return RegistryError.of(code if isinstance(code, int) and code > 0 else status, message)
