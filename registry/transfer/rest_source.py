"""Source of an import: a running registry, read over the reference's REST API."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeVar

from contractlog.clients.async_transport import AsyncTransport
from contractlog.clients.calls import Call
from contractlog.clients.cli.progress_line import ProgressLine
from contractlog.clients.settings import Security
from contractlog.clients.transport import MemoryBudget
from contractlog.compatibility.association_values import Lifecycle
from contractlog.compatibility.errors import Forbidden, RegistryError, Unauthorized, Unreachable, UnreadableResponse
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, GLOBAL_CONTEXT, Subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.registry.storage.associations import StoredAssociation
from contractlog.registry.transfer import import_parsers
from contractlog.registry.transfer.config_columns import read_config, read_mode, scope_subject
from contractlog.registry.transfer.import_parsers import InvalidField
from contractlog.registry.transfer.registry_contents import (
    RegistryContents,
    TransferredSchema,
    TransferredVersion,
)
from contractlog.registry.transfer.report import OddityKind, TransferReport
from contractlog.registry.transfer.rest_contracts import RestContractReader
from contractlog.registry.transfer.rest_keys import RestKeyReader

__all__ = [
    "ProgressCallback",
    "RestReader",
    "RestSource",
    "SourceAccess",
    "get_call",
    "get_scope_call",
    "run_concurrently",
]

_PAGE: Final = 1_000  #: the reference's limit for one page
_MAX_CONCURRENT: Final = 16
_MAX_MEMORY: Final = 4 << 30  #: for the responses of a live registry; an endless one would fill the memory
_MAX_VERSIONS: Final = 10_000_000  #: limit for a registry; a longer list is considered endless
_ABSENT: Final = frozenset({"400", "404", "405", "422"})  #: responses for what does not exist or is unsupported
_DEFAULT_CONFIG: Final = {"compatibilityLevel": Level.BACKWARD.value}

T = TypeVar("T")
ProgressCallback = Callable[[int, int], None]


def get_call(*segments: str, **query: str) -> Call[Any]:
    """Build a GET call."""
    return Call("GET", segments, lambda body: body, tuple(query.items()))


def get_scope_call(resource: str, scope: Subject) -> Call[Any]:
    """Build a GET call for the config or mode of a scope."""
    subject = scope_subject(scope)
    return get_call(resource) if subject is None else get_call(resource, subject)


class RestReader:
    """Reader of a whole registry, with a bounded number of concurrent requests."""

    def __init__(
        self,
        transport: AsyncTransport,
        report: TransferReport,
        report_progress: ProgressCallback = lambda _done, _all: None,
        *,
        most_versions: int = _MAX_VERSIONS,
    ) -> None:
        self._transport = transport
        self._most_versions = most_versions
        self._now = time.time_ns() // 1_000_000  #: for deletions without a time
        self._report = report
        self._report_progress = report_progress
        self._turns = asyncio.Semaphore(_MAX_CONCURRENT)
        self._done = 0
        self.contents = RegistryContents()

    async def copy_contents(self) -> RegistryContents:
        """Return the state; changes made during the read may or may not be included.

        Raises:
            Unreachable: the registry does not respond.
            UnreadableResponse: the list of subjects is invalid, or a list of versions does not end.
        """
        self.contents = RegistryContents()
        await self._change_log_head()
        contexts = await self._contexts()
        subjects = await self._subjects()
        bodies = await self._pages()
        self._done = 0
        await run_concurrently(self._subject(subject, bodies, len(subjects)) for subject in subjects)
        self.contents.select_reused_ids(sorted(self.contents.schemas))  # independent of the order of responses
        await run_concurrently(self._counter(context) for context in contexts)
        await self._shared_settings(contexts)
        await self._associations()
        await RestKeyReader(self._ask, self.contents, self._report).read()
        await RestContractReader(self._maybe, self.contents, self._report).read()
        self.contents.raise_counters()
        return self.contents

    async def _ask(self, call: Call[Any]) -> Any:
        async with self._turns:
            return await self._transport.send(call)

    async def _maybe(self, call: Call[Any]) -> Any:
        """Return the response; None if the registry does not have or support this."""
        try:
            return await self._ask(call)
        except RegistryError as error:
            if str(error.error_code)[:3] not in _ABSENT:  # such as 429: it may have it
                raise
            return None

    async def _change_log_head(self) -> None:
        """Read where the change log ends, which only contractlog has, before anything else is read."""
        body = await self._maybe(get_call("contractlog", "v1", "changes", since="latest"))
        if isinstance(body, dict):
            read = partial(import_parsers.read_change_log_head, sequence="head", hash_name="head_hash")
            self.contents.change_log_head = self._fits("the change log", read, body)

    async def _contexts(self) -> list[str]:
        names = await self._maybe(get_call("contexts"))
        valid_names = [
            name
            for name in self._read_list(names, "GET /contexts")
            if self._fits("a context", import_parsers.parse_context, name)
        ]
        return valid_names or [DEFAULT_CONTEXT]

    async def _subjects(self) -> list[Subject]:
        names = await self._ask(get_call("subjects", subjectPrefix=":*:", deleted="true"))
        if not isinstance(names, list):
            raise UnreadableResponse("to GET /subjects with something that is not a list of names")
        subjects = [self._fits("a subject", import_parsers.parse_subject, name) for name in names]
        return [subject for subject in dict.fromkeys(subjects) if subject is not None]

    def _read_list(self, response: Any, where: str) -> list[Any]:
        """Return a list from a response; anything else is reported as an oddity."""
        if response is None or isinstance(response, list):
            return response or []
        self._report.odd(OddityKind.UNREADABLE, where, f"{type(response).__name__} instead of a list")
        return []

    def _fits(self, where: str, read: Callable[[Any], T], value: Any) -> T | None:
        """Parse a value; an invalid one is reported as an oddity."""
        try:
            return read(value)
        except InvalidField as error:
            self._report.odd(OddityKind.UNREADABLE, where, str(error))
            return None

    async def _pages(self) -> dict[tuple[str, int], Mapping[str, Any]]:
        """Read all versions in pages of a thousand, if the registry supports it.

        Versions that are missing in the result are read one by one later.
        """
        bodies: dict[tuple[str, int], Mapping[str, Any]] = {}
        while True:
            offset = str(len(bodies))
            page = await self._maybe(
                get_call("schemas", subjectPrefix=":*:", deleted="true", offset=offset, limit=str(_PAGE))
            )
            before = len(bodies)
            for body in page if isinstance(page, list) else ():
                if isinstance(body, dict) and "id" in body and "schema" in body:
                    bodies[str(body.get("subject")), _integer_or_zero(body.get("version"))] = body
            if len(bodies) == before:
                return bodies
            if len(bodies) > self._most_versions:
                raise UnreadableResponse(f"to GET /schemas with more than {self._most_versions:,} versions")
            self._report_progress(len(bodies), 0)

    async def _subject(self, subject: Subject, bodies: Mapping[tuple[str, int], Mapping[str, Any]], total: int) -> None:
        await self._scope(subject)
        if "alias" in self.contents.settings.get(subject, {}):  # its paths lead to another subject
            self._read_hidden_versions(subject, bodies)
            return
        path = ("subjects", str(subject), "versions")
        every = await self._numbers(subject, get_call(*path, deleted="true"))
        live = await self._numbers(subject, get_call(*path))
        for number in every:
            body = bodies.get((str(subject), number))
            if body is None:
                body = await self._maybe(get_call(*path, str(number), deleted="true"))
            if body is not None:
                self._version(subject, number, body, deleted=number not in live)
        self._done += 1
        self._report_progress(self._done, total)

    async def _numbers(self, subject: Subject, call: Call[Any]) -> dict[int, None]:
        """Return the version numbers, in the order of the response."""
        where = f"versions of {subject}"
        numbers = (
            self._fits(where, lambda value: import_parsers.read_version({"version": value}), value)
            for value in self._read_list(await self._maybe(call), where)
        )
        return dict.fromkeys(number for number in numbers if number is not None)

    def _read_hidden_versions(self, subject: Subject, bodies: Mapping[tuple[str, int], Mapping[str, Any]]) -> None:
        """Read the versions of a subject with an alias from the list of all versions; nothing else shows them."""
        own = {number: body for (name, number), body in bodies.items() if name == str(subject)}
        if not own:
            self._report.odd(OddityKind.HIDDEN, str(subject))
        for number, body in own.items():
            self._version(subject, number, body, deleted=body.get("deleted") is True)

    def _version(self, subject: Subject, number: int, body: Any, *, deleted: bool) -> None:
        where = f"{subject}/{number}"
        if not isinstance(body, dict) or self._fits(where, import_parsers.read_version, {"version": number}) is None:
            self._report.odd(OddityKind.UNREADABLE, where, f"{type(body).__name__} instead of a version")
            return
        schema = self._schema(subject, body, where)
        if schema is None:
            return
        created = schema.created_at
        if created is None:
            self._report.odd(OddityKind.NO_TIMESTAMP, where)
        if schema.encrypted:
            self._report.odd(OddityKind.ENCRYPTED, where)
        version = TransferredVersion(subject, number, schema.id, created, (created or self._now) if deleted else None)
        first = self.contents.schemas.setdefault(schema.key, schema)
        if first.text != schema.text:
            self._report.odd(OddityKind.ID_CONFLICT, where, f"id {schema.id} of context {schema.context}")
            return
        if first.content_without_text != schema.content_without_text:
            self._report.odd(OddityKind.SECOND_CONTENT, where, f"id {schema.id}")
        if created is not None and (first.created_at is None or created < first.created_at):
            self.contents.schemas[schema.key] = replace(first, created_at=created)  # as old as its first version
        self.contents.versions[version.key] = version

    def _schema(self, subject: Subject, body: Mapping[str, Any], where: str) -> TransferredSchema | None:
        plain = {**body, "metadata": body.get("metadata") or None, "ruleSet": body.get("ruleSet") or None}
        try:
            schema = import_parsers.read_reference_schema(plain, subject.context, self._report, where)
            guid = import_parsers.parse_guid(body["guid"]) if body.get("guid") else None
            return schema and replace(schema, guid=guid, created_at=import_parsers.read_time(body, "ts"))
        except KeyError as error:
            self._report.odd(OddityKind.UNREADABLE, where, f"it has no `{error.args[0]}`")
        except InvalidField as error:
            self._report.odd(OddityKind.UNREADABLE, where, str(error))
        return None

    async def _counter(self, context: str) -> None:
        ids = [schema_id for home, schema_id in self.contents.schemas if home == context]
        next_id = 1
        if ids:
            query = {"fetchMaxId": "true"} | ({} if context == DEFAULT_CONTEXT else {"subject": f":{context}:"})
            body = await self._maybe(get_call("schemas", "ids", str(max(ids)), **query))
            highest = body.get("maxId") if isinstance(body, dict) else None
            largest = (
                None
                if highest is None
                else self._fits("maxId", lambda value: import_parsers.read_id({"maxId": value}, "maxId"), highest)
            )
            next_id = (max(ids) if largest is None else largest) + 1
        self.contents.contexts[context] = next_id

    async def _shared_settings(self, contexts: Iterable[str]) -> None:
        everywhere = Subject(GLOBAL_CONTEXT, "")
        await self._scope(everywhere, _DEFAULT_CONFIG, Mode.READWRITE)
        config = self.contents.settings.get(everywhere, _DEFAULT_CONFIG)
        mode = self.contents.modes.get(everywhere, Mode.READWRITE)
        for context in dict.fromkeys((DEFAULT_CONTEXT, *contexts)):
            await self._scope(Subject(context, ""), config, mode)

    async def _scope(
        self, scope: Subject, inherited: Mapping[str, Any] | None = None, inherited_mode: str | None = None
    ) -> None:
        """Read the settings of a scope; a config or mode equal to the inherited one is not the scope's own."""
        where = f"config of {scope if scope.name else scope.context}"
        config = await self._maybe(get_scope_call("config", scope))
        settings = read_config(config, where, self._report) if isinstance(config, dict) else {}
        if settings and settings != inherited:
            self.contents.settings[scope] = settings
        response = await self._maybe(get_scope_call("mode", scope))
        if isinstance(response, dict) and response.get("mode"):
            mode = read_mode(response["mode"], where, self._report)
            if mode is not None and mode != inherited_mode:
                self.contents.modes[scope] = mode

    async def _associations(self) -> None:
        response = await self._maybe(get_call("associations", "resources", "-", "-"))
        for body in self._read_list(response, "associations"):
            association = self._fits("an association", _parse_association, body)
            if association is not None:
                self.contents.associations[association.guid] = association


def _parse_association(body: Any) -> StoredAssociation:
    if not isinstance(body, dict):
        raise InvalidField(f"{type(body).__name__} instead of an association")
    try:
        association = import_parsers.read_association(
            body | {"resourceId": body.get("resourceId") or ""}, frozen=body["lifecycle"] == Lifecycle.STRONG
        )
        return replace(
            association,
            created_at=import_parsers.read_time(body, "createTs"),
            updated_at=import_parsers.read_time(body, "updateTs"),
        )
    except KeyError as error:
        raise InvalidField(f"it has no `{error.args[0]}`") from None


def _integer_or_zero(value: Any) -> int:
    """Return an integer; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


async def run_concurrently(tasks: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run all of them, and return when the last one is done.

    Raises:
        Exception: the error of the task that failed first, unchanged.
    """
    try:
        async with asyncio.TaskGroup() as group:
            for task in tasks:
                group.create_task(task)
    except BaseExceptionGroup as failed:
        error: BaseException = failed
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None


_UNAUTHENTICATED: Final = (
    "requires credentials: pass --source-user NAME and --source-password-file FILE (or CONTRACTLOG_SOURCE_PASSWORD), "
    "--source-token-file FILE, or --source-certificate FILE"
)


@dataclass(frozen=True, slots=True)
class SourceAccess:
    """Credentials, TLS settings and headers for requests to a live registry."""

    security: Security = field(default_factory=Security)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class RestSource:
    """A running registry with the reference's API."""

    url: str
    timeout: float
    access: SourceAccess = field(default_factory=SourceAccess)

    def read_contents(self, report: TransferReport) -> RegistryContents:
        """Read everything."""
        with ProgressLine("reading the registry", "subjects or versions", sys.stderr, logged=False) as report_progress:
            return asyncio.run(self._take_snapshot(report, report_progress))

    def poll(self, _report: TransferReport) -> RegistryContents | None:
        """Read everything again; oddities were reported the first time."""
        return asyncio.run(self._take_snapshot(TransferReport(), lambda _done, _all: None))

    async def _take_snapshot(self, report: TransferReport, report_progress: ProgressCallback) -> RegistryContents:
        transport = AsyncTransport(
            self.url, timeout=self.timeout, security=self.access.security, headers=self.access.headers
        )
        transport.budget = MemoryBudget(_MAX_MEMORY)
        transport.untrusted_advice = "name its CA by --source-ca FILE or CONTRACTLOG_SOURCE_CA"
        try:
            return await RestReader(transport, report, report_progress).copy_contents()
        except Unauthorized:
            raise Unauthorized(f"{transport.urls[0]} {_UNAUTHENTICATED}") from None
        except Forbidden as error:
            raise Forbidden(f"{transport.urls[0]} lets us read only a part of it: {error}") from None
        except Unreachable as error:
            reason = error.facts.get("reason") or error
            raise Unreachable(f"the source at {transport.urls[0]} cannot be reached ({reason})") from None
        except RegistryError as error:
            raise Unreachable(
                f"{transport.urls[0]} cannot be read: it responded with error {error.error_code}: {error}"
            ) from None
        finally:
            await transport.close()
