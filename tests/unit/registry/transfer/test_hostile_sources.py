"""Sources with one changed value: it is skipped, or the imported registry works."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.clients.async_transport import AsyncTransport
from contractlog.clients.transport import MemoryBudget
from contractlog.compatibility.errors import RegistryError, UnreadableResponse
from contractlog.registry.app import create_app
from contractlog.registry.database import open_store
from contractlog.registry.settings import Settings
from contractlog.registry.transfer.file_format import read_lines
from contractlog.registry.transfer.importer import import_contents
from contractlog.registry.transfer.registry_contents import RegistryContents
from contractlog.registry.transfer.report import OddityKind, TransferReport
from contractlog.registry.transfer.rest_source import RestReader
from contractlog.registry.transfer.topic_records import LogRecord, build_records
from contractlog.registry.transfer.topic_source import TopicReplay

from support.exhaustive_reads import empty_registry, read_everything
from support.export_lines import EVERY_KIND, create_export, generate_mutations
from support.registry import in_process

if TYPE_CHECKING:
    import httpx2

Answers = dict[str, tuple[int, Any]]  #: status and body by path and query
NOW = 1_700_000_000_000


@pytest.fixture(scope="module")
def target() -> Iterator[httpx2.Client]:
    with in_process(Settings(database_url="sqlite://")) as client:
        yield client


def whole() -> RegistryContents:
    return read_lines(create_export(*EVERY_KIND), TransferReport())


def require_stored(target: httpx2.Client, state: RegistryContents, report: TransferReport) -> None:
    """Import what came out of a source: it contradicts itself, or everything answers."""
    empty_registry(target)
    store = target.app.state.services.store  # type: ignore[attr-defined]
    import_contents(store, state, report)
    json.dumps(report.body(), ensure_ascii=False).encode()
    if not report.conflicts:
        read_everything(target, store)


class Source:
    """A registry that gives the answers it was given."""

    def __init__(self, answers: Mapping[str, tuple[int, Any]]) -> None:
        self._answers = answers

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:
        status, body = self._answers.get(_asked(scope), (404, {"error_code": 404, "message": "HTTP 404 Not Found"}))
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})


class _Recorder:
    """Passes requests on, and keeps what was answered."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.answers: Answers = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        found = [0, b""]

        async def note(message: Any) -> None:
            found[0] = message.get("status", found[0])
            found[1] += message.get("body", b"")
            await send(message)

        await self._app(scope, receive, note)
        self.answers[_asked(scope)] = (int(found[0]), json.loads(found[1]))


def _asked(scope: Any) -> str:
    return f"{scope['raw_path'].decode()}?{scope['query_string'].decode()}"


def read_live(app: Any, report: TransferReport, memory: int = 1 << 30, **limits: int) -> RegistryContents:
    async def ask() -> RegistryContents:
        transport = AsyncTransport(None, app=app)
        transport.budget = MemoryBudget(memory)
        try:
            return await RestReader(transport, report, **limits).copy_contents()
        finally:
            await transport.close()

    return asyncio.run(ask())


@cache
def answers() -> Answers:
    """What a registry that holds one of each kind answers to whoever imports from it."""
    configured = Settings(database_url="sqlite://")
    store = open_store(configured)
    import_contents(store, whole(), TransferReport())
    app = create_app(configured, store)
    recorder = _Recorder(app)
    read_live(recorder, TransferReport())
    app.state.close()
    return recorder.answers


@cache
def spoiled_answers() -> list[tuple[str, str, Any]]:
    """Every change of one value in one answer."""
    found = []
    for path, (status, body) in answers().items():
        if status == 200:
            found += [(path, place, changed[0]) for place, changed in generate_mutations([body]) if len(changed) == 1]
    return found


def read_spoiled(path: str, body: Any) -> tuple[RegistryContents | None, TransferReport]:
    report = TransferReport()
    try:
        return read_live(Source(answers() | {path: (200, body)}), report), report
    except RegistryError as error:  # the whole answer is of no use: the import ends with that
        assert isinstance(error, UnreadableResponse), error  # noqa: PT017
        return None, report


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_changed_answer_of_a_live_registry_is_left_out_or_everything_answers(
    target: httpx2.Client, data: st.DataObject
) -> None:
    path, _place, body = data.draw(st.sampled_from(spoiled_answers()))
    state, report = read_spoiled(path, body)
    if state is not None:
        require_stored(target, state, report)


@pytest.mark.slow
def test_no_changed_answer_of_a_live_registry_breaks_an_import() -> None:
    for path, place, body in spoiled_answers()[::20]:
        try:
            read_spoiled(path, body)
        except Exception as error:
            raise AssertionError((path, place)) from error


def test_invalid_responses_of_a_source_are_reported() -> None:
    path = "/subjects/%3A.eu%3Atarget/versions?deleted=true"
    assert path in answers()
    state, report = read_spoiled(path, ["x", 2**40, {}, 1])
    assert state is not None
    assert {str(subject) for subject, _ in state.versions} == {":.eu:orders", ":.eu:target"}
    assert [one.kind for one in report.oddities] == [OddityKind.UNREADABLE] * 3
    (path,) = (path for path in answers() if path.startswith("/subjects?"))
    assert read_spoiled(path, {"a": 1})[0] is None


class _Endless:
    """A registry whose list of versions has no end."""

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:
        path, number = scope["path"], int(dict(parse_qsl(scope["query_string"].decode())).get("offset", 0))
        body = [{"subject": "s", "version": number + 1, "id": 1, "schema": '"int"'}] if path == "/schemas" else []
        await Source({_asked(scope): (200, body)})(scope, _receive, send)


def test_a_live_registry_whose_list_does_not_end_ends_the_import() -> None:
    with pytest.raises(UnreadableResponse, match="more than 50 versions"):
        read_live(_Endless(), TransferReport(), most_versions=50)


def test_responses_of_a_source_are_limited_in_size() -> None:
    """Pages of a thousand versions, of a mebibyte each, would fill the memory before their number ends the import."""
    with pytest.raises(UnreadableResponse, match=r"exceeds the limit of 0\.5 MiB for all responses together"):
        read_live(_Endless(), TransferReport(), memory=1 << 19)
    subjects = next(path for path in answers() if path.startswith("/subjects?"))
    empty_registry = Source(answers() | {subjects: (200, [[]] * 100_000)})  # 0.3 MB, and 6 MB in memory
    with pytest.raises(UnreadableResponse, match="exceeds the limit of 4 MiB"):
        read_live(empty_registry, TransferReport(), memory=4 << 20)


@cache
def records() -> list[tuple[bytes, bytes, int]]:
    return list(build_records(whole(), TransferReport(), NOW))


def replayed(number: int, key: bytes, value: bytes | None) -> tuple[RegistryContents, TransferReport]:
    report = TransferReport()
    replay = TopicReplay(report)
    for offset, (own_key, own_value, timestamp) in enumerate(records()):
        pair = (key, value) if offset == number else (own_key, own_value)
        replay.apply(LogRecord(offset, timestamp, *pair))
    replay.conclude()
    return replay.copy_contents(), report


@cache
def spoiled_records() -> list[tuple[int, bytes, bytes | None]]:
    """Every change of one value in the key or the value of a record."""
    found: list[tuple[int, bytes, bytes | None]] = []
    for number, (key, value, _) in enumerate(records()):
        found += [(number, json.dumps(changed).encode(), value) for _, changed in generate_mutations(json.loads(key))]
        found += [(number, key, json.dumps(changed).encode()) for _, changed in generate_mutations(json.loads(value))]
    return found


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_changed_record_of_a_topic_is_left_out_or_everything_answers(
    target: httpx2.Client, data: st.DataObject
) -> None:
    require_stored(target, *replayed(*data.draw(st.sampled_from(spoiled_records()))))


def test_no_changed_record_of_a_topic_ends_a_replay() -> None:
    for number, key, value in spoiled_records()[::5]:
        state, report = replayed(number, key, value)
        assert all(version.schema in state.schemas for version in state.versions.values()), (key, value)
        json.dumps(report.body(), ensure_ascii=False).encode()
