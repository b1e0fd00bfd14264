"""Methods made from calls have their signatures, documentation and order of requests."""

from __future__ import annotations

import asyncio
import inspect
import pydoc
from collections.abc import Callable
from typing import Any

import pytest

from contractlog.clients import AsyncRegistry, Registry, calls
from contractlog.clients.cache import CachedLookups
from contractlog.clients.calls import Call, CallSequence, Pages, extensions
from contractlog.clients.method_factories import (
    async_paged_endpoint,
    async_sequence_endpoint,
    endpoint,
    paged_endpoint,
    sequence_endpoint,
)

OPERATIONS = {
    name: member
    for source in (calls, extensions, CachedLookups)
    for name, member in vars(source).items()
    if inspect.isfunction(member) and name[0] != "_"
}
#: Operations that a client has under other names, as sequences with caches, or not as a method.
NOT_METHODS = {"by_id", "by_guid", "invalidate_after", "parse_version", "query_parameters"}


def number(value: int) -> Call[int]:
    """Return a number."""
    return Call("GET", (str(value),), int)


class Client:
    """Sends nothing: the response is the number in the path, and 13 is an error."""

    def __init__(self) -> None:
        self.sent: list[int] = []
        self._operations = self

    def _send(self, call: Call[Any]) -> Any:
        value = int(call.segments[0])
        self.sent.append(value)
        if value == 13:
            raise LookupError(value)
        return value

    def add(self, first: int, second: int = 1) -> CallSequence[int]:
        """Add two numbers; an unlucky one counts as 0."""
        total = 0
        for value in (first, second):
            try:
                total += yield number(value)
            except LookupError:
                continue
        return total

    def fail(self) -> CallSequence[int]:
        """Return an unlucky number."""
        return (yield number(13))

    def count_pages(last: int) -> Pages[int]:  # type: ignore[misc] # noqa: N805 - described without the client
        """Count in pages."""
        for value in range(1, last + 1):
            top = yield number(value)
            yield list(range(top))


class AsyncClient(Client):
    async def _send(self, call: Call[Any]) -> Any:
        return super()._send(call)


def drive(describe: Callable[..., Any], *args: Any) -> list[Any]:
    """Return what a blocking and an asynchronous client return and send."""
    blocking, asynchronous = Client(), AsyncClient()
    result = sequence_endpoint(describe)(blocking, *args)  # type: ignore[arg-type]
    other = asyncio.run(async_sequence_endpoint(describe)(asynchronous, *args))  # type: ignore[arg-type]
    assert (other, asynchronous.sent) == (result, blocking.sent)
    return [result, blocking.sent]


def test_a_sequence_is_sent_in_order_and_its_result_returned() -> None:
    assert drive(Client.add, 3, 4) == [7, [3, 4]]


def test_an_error_is_thrown_into_the_sequence() -> None:
    assert drive(Client.add, 13, 4) == [4, [13, 4]]


def test_an_error_that_the_sequence_does_not_handle_is_raised() -> None:
    with pytest.raises(LookupError):
        sequence_endpoint(Client.fail)(Client())  # type: ignore[arg-type]
    with pytest.raises(LookupError):
        asyncio.run(async_sequence_endpoint(Client.fail)(AsyncClient()))  # type: ignore[arg-type]


def test_pages_are_fetched_when_the_items_before_are_used_up() -> None:
    client = Client()
    items = paged_endpoint(Client.count_pages)(client, 3)
    assert client.sent == []
    assert [next(items) for _ in range(2)] == [0, 0]
    assert client.sent == [1, 2]
    assert list(items) == [1, 0, 1, 2]

    async def collect() -> list[int]:
        return [item async for item in async_paged_endpoint(Client.count_pages)(AsyncClient(), 3)]

    assert asyncio.run(collect()) == [0, 0, 1, 0, 1, 2]


def test_wrong_arguments_are_reported_for_the_operation() -> None:
    with pytest.raises(TypeError, match=r"number\(\)"):
        endpoint(number)(Client(), 1, 2)  # type: ignore[arg-type, call-arg]


def test_every_operation_is_a_method_of_both_clients() -> None:
    for registry in (Registry, AsyncRegistry):
        assert {name for name in OPERATIONS if not hasattr(registry, name)} == NOT_METHODS & set(OPERATIONS)


@pytest.mark.parametrize("registry", [Registry, AsyncRegistry])
@pytest.mark.parametrize("name", sorted(set(OPERATIONS) - NOT_METHODS))
def test_a_method_has_the_signature_and_documentation_of_its_operation(registry: type, name: str) -> None:
    method, operation = getattr(registry, name), OPERATIONS[name]
    expected, shown = inspect.signature(operation), inspect.signature(method)
    assert [each for each in shown.parameters.values() if each.name != "self"] == [
        each for each in expected.parameters.values() if each.name != "self"
    ]
    assert next(iter(shown.parameters)) == "self"
    assert "self" not in inspect.signature(getattr(object.__new__(registry), name)).parameters
    container, _, result = str(expected.return_annotation).removesuffix("]").partition("[")
    if container == "Pages":
        result = f"{'Async' if registry is AsyncRegistry else ''}Iterator[{result}]"
    assert (shown.return_annotation, method.__annotations__["return"]) == (result, result)
    assert inspect.getdoc(method) == inspect.getdoc(operation)
    assert method.__name__ == name


def test_a_subclass_may_override_how_calls_are_sent() -> None:
    class Recorded(Registry):
        def send(self, call: Call[Any]) -> Any:
            return call.target

    registry = Recorded("http://127.0.0.1:9")
    assert [registry.contexts(), registry.latest("s")] == ["/contexts", "/subjects/s/versions/latest"]

    class AsyncRecorded(AsyncRegistry):
        async def send(self, call: Call[Any]) -> Any:
            return call.target

    assert asyncio.run(AsyncRecorded("http://127.0.0.1:9").latest("s")) == "/subjects/s/versions/latest"  # type: ignore[comparison-overlap]


def test_help_shows_parameters_result_and_errors() -> None:
    text = pydoc.plain(pydoc.render_doc(Registry.version))
    assert "version(self, subject: 'SubjectLike', version: 'VersionLike', *, deleted: 'bool' = False" in text
    assert "-> 'RegisteredSchema'" in text
    assert "VersionNotFound: the subject has no such version." in text
