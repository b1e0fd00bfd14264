"""Adapters that use sync and async clients with confluent-kafka's interface as sources of schemas.

They allow a migration in parts. The caches of such clients mix what a registry holds with what a caller looked up in
it, which may lack rules: for an id under a subject, for a version, and for a guid, they may return the caller's own
schema. So contents are requested by id and context alone, which a lookup does not affect.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, Final, Literal, TypeVar

from contractlog.clients import Registry, calls
from contractlog.compatibility.errors import NotFound, RegistryError
from contractlog.compatibility.names import DEFAULT_CONTEXT, Subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.serdes.asking import Steps, answered, ask, awaited

__all__ = ["AsyncConfluentSource", "ConfluentSource", "awaiting", "source_of", "waiting", "walked"]

T = TypeVar("T")
_HOMES: Final = ("contractlog.clients.confluent", "confluent_kafka.schema_registry")


def source_of(client: Any) -> Any:
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


def waiting(serde: Any, source: Any) -> None:
    """Check that a client is synchronous.

    Raises:
        TypeError: the client has to be awaited.
    """
    if isinstance(source, AsyncConfluentSource) or inspect.iscoroutinefunction(getattr(source, "schema_by_id", None)):
        name = type(serde).__name__
        raise TypeError(f"{name} waits for its client, and {_named(source)} has to be awaited: use Async{name}")


def awaiting(serde: Any, source: Any) -> None:
    """Check that a client does not block the event loop.

    Raises:
        TypeError: the client would block.
    """
    if isinstance(source, ConfluentSource | Registry):
        name = type(serde).__name__
        told = f"use its async twin, or {name.removeprefix('Async')}"
        raise TypeError(f"{name} awaits its client, and {_named(source)} would hold up the event loop: {told}")


def walked(draft: SchemaDraft, subject: str | None) -> Steps[Mapping[str, str]]:
    """Resolve the references of a draft with any source."""
    walk = calls.referenced(draft, subject=subject)
    try:
        call = next(walk)
        while True:
            _, home, _, number = call.segments
            wanted = "latest" if number == "latest" else int(number)
            found = yield ask("version", home, wanted, deleted=True)
            call = walk.send(found)
    except StopIteration as done:
        texts: Mapping[str, str] = done.value
        return texts


class _Shapes:
    """Translation of our requests into the client's calls, and of its responses into our types."""

    def __init__(self, client: Any) -> None:
        self.client_name = type(client).__name__
        self._client = client
        modules = [kind.__module__ for kind in type(client).__mro__]
        known = (home for home in _HOMES for module in modules if module.startswith(home))
        self._words = import_module(next(known, _HOMES[-1]))
        self._told = self._words.__name__ == _HOMES[0]  #: whether what it caches came from the registry

    @property
    def latest_generation(self) -> int | None:
        """Number of times that the client dropped its newest versions; None if it does not count."""
        return getattr(self._client, "latest_generation", None)

    def register(self, subject: str, draft: SchemaDraft, *, normalize: bool = False) -> Any:
        """Register a schema, or return the existing version with its content."""
        schema = self._schema(draft)
        return self._ask(_registered(draft), "register_schema_full_response", subject, schema, normalize)

    def lookup(self, subject: str, draft: SchemaDraft, *, normalize: bool = False, deleted: bool = False) -> Any:
        """Return the version of a subject that has this content."""
        schema = self._schema(draft)
        asked = {"normalize_schemas": normalize, "deleted": deleted}
        return self._ask(_registered(draft, echoed=True), "lookup_schema", subject, schema, **asked)

    def schema_by_id(self, schema_id: int, *, subject: str | None = None) -> Any:
        """Return the schema of an id."""
        return self._go(_content(schema_id, subject))

    def schema_by_guid(self, guid: str) -> Any:
        """Return the schema of a guid."""
        return self.named(guid) if self._told else self._go(_by_guid(guid))

    def version(self, subject: str, version: int | Literal["latest"], *, deleted: bool = False) -> Any:
        """Return a version of a subject."""
        if version == "latest" and not deleted:
            return self._ask(_registered(None), "get_latest_version", subject)
        if version == "latest" or self._told:
            return self.placed(subject, version, deleted=deleted)
        return self._go(_version(subject, version, deleted=deleted))

    def placed(self, subject: str, version: int | Literal["latest"], *, deleted: bool = False) -> Any:
        """Return a version of a subject; its content may be the one that a caller looked up."""
        return self._ask(_registered(None), "get_version", subject, version, deleted)

    def named(self, guid: str) -> Any:
        """Return the schema of a guid; it may be the one that a caller looked up."""
        return self._ask(_bare(0, guid), "get_schema_by_guid", guid)

    def cleared(self) -> Any:
        """Clear the client's caches."""
        return self._ask(lambda _: None, "clear_caches") if hasattr(self._client, "clear_caches") else None

    def held(self, schema_id: int, subject: str | None) -> Any:
        """Return the schema of an id, requested under a subject or context."""
        return self._ask(_bare(schema_id, None), "get_schema", schema_id, subject)

    def versions(self, subject: str, *, deleted: bool = False) -> Any:
        """Return the versions of a subject."""
        return self._ask(list, "get_versions", subject, deleted)

    def latest_with_metadata(self, subject: str, metadata: Mapping[str, str], *, deleted: bool = False) -> Any:
        """Return the newest version with these properties."""
        return self._ask(_registered(None), "get_latest_with_metadata", subject, dict(metadata), deleted)

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
        return self._ask(list, "get_associations_by_resource_name", name, namespace, resource_type, kinds, 0, -1)

    def _schema(self, draft: SchemaDraft) -> Any:
        return self._words.Schema.from_dict({"schemaType": draft.type.value} | draft.body())

    def _ask(self, read: Callable[[Any], Any], method: str, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def _go(self, steps: Steps[T]) -> Any:
        raise NotImplementedError


class ConfluentSource(_Shapes):
    """Source of schemas from a ``SchemaRegistryClient``."""

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def referenced(self, draft: SchemaDraft, *, subject: str | None = None) -> Mapping[str, str]:
        """Return the texts of all dependencies of a draft."""
        return answered(walked(draft, subject), self)

    def _go(self, steps: Steps[T]) -> Any:
        return answered(steps, self)

    def _ask(self, read: Callable[[Any], Any], method: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return read(getattr(self._client, method)(*args, **kwargs))
        except Exception as error:
            raise _ours(error) from error


class AsyncConfluentSource(_Shapes):
    """Source of schemas from an ``AsyncSchemaRegistryClient``."""

    async def close(self) -> None:
        """Close the client."""
        await self._client.aclose()

    async def referenced(self, draft: SchemaDraft, *, subject: str | None = None) -> Mapping[str, str]:
        """Return the texts of all dependencies of a draft."""
        return await awaited(walked(draft, subject), self)

    async def _go(self, steps: Steps[T]) -> Any:
        return await awaited(steps, self)

    async def _ask(self, read: Callable[[Any], Any], method: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return read(await getattr(self._client, method)(*args, **kwargs))
        except Exception as error:
            raise _ours(error) from error


def _named(source: Any) -> str:
    return str(getattr(source, "client_name", type(source).__name__))


def _content(schema_id: int, subject: str | None) -> Steps[RegisteredSchema]:
    """Request an id in the context of a subject; if it is not found, by the subject itself.

    A registry looks up plain subject names in all contexts.
    """
    context = Subject.parse(subject or "").context
    found: RegisteredSchema
    try:
        found = yield ask("held", schema_id, None if context == DEFAULT_CONTEXT else f":{context}:")
    except NotFound:
        if subject is None or context != DEFAULT_CONTEXT:
            raise
        found = yield ask("held", schema_id, subject)
    return found


def _by_guid(guid: str) -> Steps[RegisteredSchema]:
    """Request a guid after the client's caches are cleared, as a cached response may be a caller's schema."""
    yield ask("cleared")
    found: RegisteredSchema = yield ask("named", guid)
    return found


def _version(subject: str, version: int, *, deleted: bool) -> Steps[RegisteredSchema]:
    """Request the id of a version, and then the schema of that id."""
    found: RegisteredSchema = yield ask("placed", subject, version, deleted=deleted)
    if not found.schema_id:  # a response by id and subject, which has no id, is cached as the version
        yield ask("cleared")
        found = yield ask("placed", subject, version, deleted=deleted)
    held = yield from _content(int(found.schema_id), subject)
    return replace(held, subject=found.subject, version=found.version, guid=found.guid)


def _registered(draft: SchemaDraft | None, *, echoed: bool = False) -> Callable[[Any], RegisteredSchema]:
    """Return a parser of responses with a version; fields that an older server omits come from the draft.

    A response without a version comes from an older server or the client's cache: its content is the caller's.
    """

    def read(answer: Any) -> RegisteredSchema:
        schema = getattr(answer, "schema", None)
        body = {} if schema is None else schema.to_dict()
        facts = {"id": answer.schema_id or 0, "guid": answer.guid, "subject": answer.subject, "version": answer.version}
        found = RegisteredSchema.from_body(body | facts, draft=draft)
        return replace(found, echoed=found.echoed or echoed or found.version is None)

    return read


def _bare(schema_id: int, guid: str | None) -> Callable[[Any], RegisteredSchema]:
    """Return a parser of responses that hold a schema alone."""
    return lambda schema: RegisteredSchema.from_body(schema.to_dict() | {"guid": guid}, schema_id=schema_id)


def _ours(error: Exception) -> Exception:
    """Convert an error of the client to our class for its code; return other errors unchanged."""
    status = getattr(error, "http_status_code", None)
    if isinstance(error, RegistryError) or not isinstance(status, int):
        return error
    code, message = getattr(error, "error_code", None), str(getattr(error, "error_message", error))
    return RegistryError.of(code if isinstance(code, int) and code > 0 else status, message)
