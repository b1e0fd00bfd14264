"""Client methods made from descriptions of operations, for blocking and asynchronous clients.

An operation is described once, by a function without I/O, and each client has a method made of it::

    class Registry:
        versions = endpoint(calls.versions)

    class AsyncRegistry:
        versions = async_endpoint(calls.versions)

The method has the name, parameters and documentation of the function. It returns what the function describes: the
parsed response of a ``Call``, the result of a ``CallSequence``, or the items of ``Pages``. Sequences that use caches
are methods of a class; the client's instance of it is its ``_operations``.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from functools import update_wrapper
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from contractlog.clients.calls.call import Call, CallSequence, Pages
from contractlog.clients.step_drivers import drive, drive_async

__all__ = [
    "AsyncSender",
    "Sender",
    "async_endpoint",
    "async_paged_endpoint",
    "async_sequence_endpoint",
    "endpoint",
    "paged_endpoint",
    "sequence_endpoint",
]

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
O = TypeVar("O")  # noqa: E741 - the class of the operations
O_co = TypeVar("O_co", covariant=True)
_SELF: Final = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Sender(Protocol[O_co]):
    """Blocking client."""

    @property
    def _operations(self) -> O_co: ...

    def _send(self, call: Call[T]) -> T: ...


class AsyncSender(Protocol[O_co]):
    """Asynchronous client."""

    @property
    def _operations(self) -> O_co: ...

    async def _send(self, call: Call[T]) -> T: ...


def endpoint(describe: Callable[P, Call[T]]) -> Callable[Concatenate[Sender[Any], P], T]:
    """Return a method that sends a call and returns its parsed response."""

    def method(self: Sender[Any], /, *args: P.args, **options: P.kwargs) -> T:
        return self._send(describe(*args, **options))

    return _describe_method(method, describe)


def async_endpoint(
    describe: Callable[P, Call[T]],
) -> Callable[Concatenate[AsyncSender[Any], P], Coroutine[Any, Any, T]]:
    """Return a coroutine method that sends a call and returns its parsed response."""

    async def method(self: AsyncSender[Any], /, *args: P.args, **options: P.kwargs) -> T:
        return await self._send(describe(*args, **options))

    return _describe_method(method, describe)


def sequence_endpoint(
    describe: Callable[Concatenate[O, P], CallSequence[T]],
) -> Callable[Concatenate[Sender[O], P], T]:
    """Return a method that sends the calls of a sequence and returns its result."""

    def method(self: Sender[O], /, *args: P.args, **options: P.kwargs) -> T:
        return drive(self._send, describe(self._operations, *args, **options))

    return _describe_method(method, describe)


def async_sequence_endpoint(
    describe: Callable[Concatenate[O, P], CallSequence[T]],
) -> Callable[Concatenate[AsyncSender[O], P], Coroutine[Any, Any, T]]:
    """Return a coroutine method that sends the calls of a sequence and returns its result."""

    async def method(self: AsyncSender[O], /, *args: P.args, **options: P.kwargs) -> T:
        return await drive_async(self._send, describe(self._operations, *args, **options))

    return _describe_method(method, describe)


def paged_endpoint(describe: Callable[P, Pages[T]]) -> Callable[Concatenate[Sender[Any], P], Iterator[T]]:
    """Return a generator method that yields the items of all pages."""

    def method(self: Sender[Any], /, *args: P.args, **options: P.kwargs) -> Iterator[T]:
        pages = describe(*args, **options)
        response: Any = None
        while (step := _next_step(pages, response)) is not None:
            if isinstance(step, Call):
                response = self._send(step)
            else:
                response = None
                yield from step

    return _describe_method(method, describe, "Iterator")


def async_paged_endpoint(
    describe: Callable[P, Pages[T]],
) -> Callable[Concatenate[AsyncSender[Any], P], AsyncIterator[T]]:
    """Return an asynchronous generator method that yields the items of all pages."""

    async def method(self: AsyncSender[Any], /, *args: P.args, **options: P.kwargs) -> AsyncIterator[T]:
        pages = describe(*args, **options)
        response: Any = None
        while (step := _next_step(pages, response)) is not None:
            if isinstance(step, Call):
                response = await self._send(step)
            else:
                response = None
                for item in step:
                    yield item

    return _describe_method(method, describe, "AsyncIterator")


def _next_step(pages: Pages[T], response: Any) -> Call[Any] | Sequence[T] | None:
    try:
        return pages.send(response)
    except StopIteration:
        return None


def _describe_method(method: F, describe: Callable[..., Any], container: str = "") -> F:
    """Give a method the name, documentation and parameters of what it is made of, and its own result."""
    update_wrapper(method, describe)
    signature = inspect.signature(describe)
    parameters = [each for each in signature.parameters.values() if each.name != "self"]
    result = str(signature.return_annotation).partition("[")[2].removesuffix("]")  # of `Call[…]`
    if container:
        result = f"{container}[{result}]"
    method.__signature__ = inspect.Signature([_SELF, *parameters], return_annotation=result)  # type: ignore[attr-defined]
    method.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": result}
    return method
