"""Verify that a registry answers like its source.

Compared are every version, id, lookup, setting, mode and association.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final

from contractlog.clients.atransport import AsyncTransport
from contractlog.clients.calls import Call
from contractlog.compatibility.contract import Metadata, RuleSet
from contractlog.compatibility.errors import RegistryError
from contractlog.compatibility.identity import guid
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import Reference, SchemaType
from contractlog.registry.moving.live import get, scope_of
from contractlog.registry.moving.picture import Association, HeldSchema, HeldVersion, Picture, SchemaKey
from contractlog.registry.moving.together import together
from contractlog.registry.moving.understanding import identified

__all__ = ["Verified", "verify"]

_AT_ONCE: Final = 16
_LONGEST: Final = 80  #: characters of a value in a difference


@dataclass(slots=True)
class Verified:
    """Numbers of compared responses by kind, and the differences."""

    compared: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


async def verify(
    transport: AsyncTransport,
    picture: Picture,
    told: Callable[[int, int], None] = lambda _done, _all: None,
    *,
    modes: bool = True,
) -> Verified:
    """Compare the responses of a target with the state of the source.

    Args:
        transport: connected to the target.
        picture: of the source.
        told: called with the number of requests done, and the total.
        modes: whether to compare modes; at the cutover the source's differs on purpose.
    """
    return await _Verification(transport, picture, told, modes=modes).run()


class _Verification:
    """A verification run, with a bounded number of concurrent requests."""

    def __init__(
        self, transport: AsyncTransport, picture: Picture, told: Callable[[int, int], None], *, modes: bool
    ) -> None:
        self._transport = transport
        self._picture = picture
        self._shown = [
            version
            for version in picture.versions.values()
            if "alias" not in picture.settings.get(version.subject, {})  # its paths lead to another subject
        ]
        self._told = told
        self._modes = picture.modes if modes else {}
        self._held = {(version.subject, version.schema_id) for version in picture.versions.values()}
        self._found = Verified()

    async def run(self) -> Verified:
        """Send all requests and compare the responses."""
        picture = self._picture
        questions: Iterator[Coroutine[Any, Any, None]] = chain(
            (self._version(one) for one in self._shown),
            (self._lookup(one) for one in self._shown),
            (self._id(key) for key in {one.schema for one in picture.versions.values()}),
            (self._retired(key) for key in picture.retired),
            (self._config(scope, config) for scope, config in picture.settings.items()),
            (self._mode(scope, mode) for scope, mode in self._modes.items()),
            (self._association(one) for one in picture.associations.values()),
        )
        total = 2 * len(self._shown) + len({one.schema for one in picture.versions.values()})
        total += len(picture.retired) + len(picture.settings) + len(self._modes) + len(picture.associations)
        done = 0

        async def work() -> None:
            nonlocal done
            for question in questions:
                await question
                done += 1
                self._told(done, total)

        await together(work() for _ in range(_AT_ONCE))
        self._found.differences.sort()
        return self._found

    async def _answer(self, what: str, call: Call[Any]) -> Mapping[str, Any] | None:
        self._found.compared[what] += 1
        try:
            body = await self._transport.send(call)
        except RegistryError as error:
            return {"error": f"{error.error_code} {error.message}"}
        return body if isinstance(body, dict) else {"error": "an answer that is no object"}

    def _compare(self, where: str, body: Mapping[str, Any] | None, expected: Mapping[str, Any]) -> None:
        answered = body or {}
        if "error" in answered:
            self._found.differences.append(f"{where}: answers {answered['error']}")
            return
        for name, value in expected.items():
            if answered.get(name) != value:
                told = f"{_short(answered.get(name))} in place of {_short(value)}"
                self._found.differences.append(f"{where}: {name} is {told}")

    async def _version(self, version: HeldVersion) -> None:
        path = ("subjects", str(version.subject), "versions", str(version.version))
        body = await self._answer("versions", get(*path, deleted="true"))
        expected = {"id": version.schema_id, "deleted": version.deleted_at is not None}
        expected |= _body(self._picture.schemas[version.schema])
        if version.created_at is not None and version.deleted_at is None:
            expected["ts"] = version.created_at
        self._compare(f"{version.subject}/{version.version}", _read(body), expected)

    async def _id(self, key: SchemaKey) -> None:
        context, schema_id = key
        body = await self._answer("ids", get("schemas", "ids", str(schema_id), subject=f":{context}:"))
        self._compare(f"id {schema_id} of context {context}", _read(body), _body(self._picture.schemas[key]))

    async def _lookup(self, version: HeldVersion) -> None:
        """Look up a version's content: the result must be its id, or another id of the same content."""
        schema = self._picture.schemas[version.schema]
        path, query = ("subjects", str(version.subject)), (("deleted", "true"),)
        body = await self._answer("lookups", Call("POST", path, lambda answer: answer, query, schema.draft.body()))
        where = f"lookup of {version.subject}/{version.version}"
        if not self._same(version, (body or {}).get("id")):
            self._compare(where, body, {"id": version.schema_id})

    def _same(self, version: HeldVersion, schema_id: Any) -> bool:
        """Return whether an id is the version's, or another id of the subject with the same content."""
        other = self._picture.schemas.get((version.subject.context, schema_id)) if schema_id is not None else None
        if other is None or schema_id == version.schema_id:
            return other is not None
        pair = (_filled(other), _filled(self._picture.schemas[version.schema]))
        found = identified(self._picture, pair)
        return len({one.hash for one in found.values()}) == 1 and (version.subject, schema_id) in self._held

    async def _retired(self, key: SchemaKey) -> None:
        context, schema_id = key
        body = await self._answer("retired ids", get("schemas", "ids", str(schema_id), subject=f":{context}:"))
        if "error" not in (body or {}):
            self._found.differences.append(f"id {schema_id} of context {context}: answers, and was deleted for good")

    async def _config(self, scope: Subject, config: Mapping[str, Any]) -> None:
        body = await self._answer("settings", get("config", *scope_of(scope)))
        self._compare(f"config of {scope if scope.name else scope.context}", body, config)

    async def _mode(self, scope: Subject, mode: str) -> None:
        body = await self._answer("modes", get("mode", *scope_of(scope)))
        self._compare(f"mode of {scope if scope.name else scope.context}", body, {"mode": mode})

    async def _association(self, one: Association) -> None:
        path = ("associations", "resources", one.resource_namespace, one.resource_name)
        body = await self._answer("associations", Call("GET", path, lambda found: {one["guid"]: one for one in found}))
        expected = {
            "subject": str(one.subject),
            "resourceId": one.resource_id,
            "resourceType": one.resource_type,
            "associationType": one.association_type,
            "lifecycle": one.lifecycle,
        }
        where = f"{one.association_type} of {one.resource_namespace}/{one.resource_name}"
        found = body if body and "error" in body else (body or {}).get(one.guid, {"error": "without it"})
        self._compare(where, found, expected)


def _filled(schema: HeldSchema) -> HeldSchema:
    """Return a schema without empty metadata and rules: for a lookup that is the same."""
    metadata, rule_set = schema.metadata, schema.rule_set
    return replace(
        schema,
        metadata=metadata if metadata and metadata.body() else None,
        rule_set=rule_set if rule_set and rule_set.body() else None,
    )


def _body(schema: HeldSchema) -> dict[str, Any]:
    """Return the members of a schema in API responses, in one form for all registries."""
    return {
        "schema": schema.text,
        "schemaType": schema.type.value,
        "references": [one.body() for one in schema.references],
        "metadata": _metadata(schema.metadata),
        "ruleSet": {} if schema.rule_set is None else schema.rule_set.body(),
        "guid": schema.guid or guid(schema.text, schema.references, schema.metadata, schema.rule_set),
    }


def _read(body: Mapping[str, Any] | None) -> dict[str, Any]:
    answered = dict(body or {})
    if "error" not in answered:
        metadata, rule_set = answered.get("metadata"), answered.get("ruleSet")
        answered["schemaType"] = answered.get("schemaType") or SchemaType.AVRO.value
        answered["references"] = [Reference.from_body(one).body() for one in answered.get("references") or ()]
        answered["metadata"] = _metadata(Metadata.from_body(metadata) if metadata else None)
        answered["ruleSet"] = RuleSet.from_body(rule_set).body() if rule_set else {}
    return answered


def _metadata(metadata: Metadata | None) -> dict[str, Any]:
    body = {} if metadata is None else metadata.body()
    if "sensitive" in body:
        body["sensitive"] = sorted(body["sensitive"])
    if "tags" in body:
        body["tags"] = {path: sorted(tags) for path, tags in body["tags"].items()}
    return body


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
