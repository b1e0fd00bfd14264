"""Retries, failover and parsing of responses, without a network or waiting."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contractlog.clients import calls
from contractlog.clients.calls import Call
from contractlog.clients.response import Response
from contractlog.clients.retry_and_failover import Attempt, NoResponse, PreferredAddress, Retries, send_with_retries
from contractlog.compatibility.errors import (
    Forbidden,
    IncompatibleSchema,
    Overloaded,
    RegistryError,
    ServerError,
    SubjectNotFound,
    Unauthorized,
    Unreachable,
    UnreadableResponse,
)
from contractlog.compatibility.schema import SchemaDraft

READ = calls.subjects()
DELETE = calls.delete_subject("s")
FOUND = Response(200, b'["a"]')
LOST = NoResponse("the connection broke", sent=True)
REFUSED = NoResponse("connection refused", sent=False)
URLS = ("http://one", "http://two")


def error(code: int, message: str = "m") -> Response:
    return Response(int(str(code)[:3]), json.dumps({"error_code": code, "message": message}).encode())


def told(
    call: Call[Any], *outcomes: Response | NoResponse, urls: tuple[str, ...] = URLS[:1]
) -> tuple[Any, list[Attempt]]:
    """Carry a call through with these outcomes; return its result and the attempts that were made."""
    attempts: list[Attempt] = []
    talk = send_with_retries(call, urls, Retries())
    attempts.append(next(talk))
    for outcome in outcomes:
        try:
            attempts.append(talk.send(outcome))
        except StopIteration as done:
            return done.value, attempts
        except (RegistryError, Unreachable) as problem:
            return problem, attempts
    raise AssertionError("more attempts than outcomes")


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_temporary_errors_are_retried(status: int) -> None:
    result, attempts = told(READ, Response(status, b""), error(status * 100 + 1), FOUND)
    assert result == ["a"]
    assert len(attempts) == 3
    assert attempts[0].pause == 0


@pytest.mark.parametrize("code", [40401, 40901, 42201, 42205, 401, 403, 413])
def test_final_errors_are_not_retried(code: int) -> None:
    result, attempts = told(READ, error(code))
    assert (result.error_code, len(attempts)) == (code, 1)


def test_a_deletion_whose_answer_was_lost_is_not_sent_twice() -> None:
    result, attempts = told(DELETE, LOST)
    assert isinstance(result, Unreachable)
    assert len(attempts) == 1
    assert isinstance(told(DELETE, error(500))[0], ServerError)


def test_a_deletion_that_never_arrived_is_sent_again() -> None:
    assert told(DELETE, REFUSED, error(503), Response(200, b"[1]"))[0] == [1]


def test_attempts_end_and_the_url_is_named() -> None:
    result, attempts = told(READ, *[REFUSED] * 4, urls=URLS)
    assert isinstance(result, Unreachable)
    assert [attempt.address for attempt in attempts] == [0, 1, 0, 1]
    for hint in ("http://one", "http://two", "connection refused", "check that it runs"):
        assert hint in str(result)


def test_the_library_suggests_its_argument_and_no_flag_of_the_command_line() -> None:
    """The command line has a message of its own."""
    result, _ = told(READ, *[REFUSED] * 4, urls=URLS)
    assert str(result).endswith("(connection refused); check that it runs, and the url given")
    assert "--" not in str(result)


def test_pauses_grow_stay_bounded_and_differ() -> None:
    retries = Retries(first=1.0, longest=3.0)
    spans = [{retries.pause(attempt) for _ in range(200)} for attempt in range(5)]
    assert spans[0] == {0.0}
    assert all(len(pauses) > 100 for pauses in spans[1:])
    assert [max(pauses) <= limit for pauses, limit in zip(spans[1:], (1, 2, 3, 3), strict=True)] == [True] * 4
    assert max(spans[2]) > 1


def test_a_server_may_ask_for_a_pause_within_bounds() -> None:
    busy = Response(429, b"", {"retry-after": "2"})
    assert told(READ, busy, FOUND)[1][1].pause == 2.0
    assert told(READ, Response(429, b"", {"retry-after": "86400"}), FOUND)[1][1].pause == 5.0
    assert told(READ, Response(429, b"", {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}), FOUND)[0] == ["a"]


@pytest.mark.parametrize("code", list(RegistryError.catalogue()))
def test_every_error_of_the_service_is_raised_as_its_class(code: int) -> None:
    result, _ = told(DELETE, *[error(code, "the server's words")] * 4)
    expected = IncompatibleSchema if code == 409 else RegistryError.catalogue()[code]
    assert (type(result), str(result), result.error_code) == (expected, "the server's words", code)


def test_the_old_code_of_incompatibility_is_the_new_one() -> None:
    for code in (409, 40901):
        assert isinstance(told(READ, error(code))[0], IncompatibleSchema)


def test_an_unknown_code_is_its_status_class_and_keeps_its_number() -> None:
    result, _ = told(READ, error(40499))
    assert (type(result).code, result.error_code) == (404, 40499)


def test_a_code_that_contradicts_its_status_counts_as_the_status() -> None:
    assert isinstance(told(READ, Response(403, b'{"error_code": 7, "message": "no"}'))[0], Forbidden)


def test_refusals_are_understood_without_a_body() -> None:
    assert isinstance(told(READ, Response(401, b"<html>"))[0], Unauthorized)
    assert isinstance(told(READ, Response(403, b""))[0], Forbidden)


@pytest.mark.parametrize(
    "answer",
    [
        Response(200, b"<html>welcome</html>"),
        Response(200, b""),
        Response(200, b"\xff\xfe"),
        Response(200, b'{"not": "a list"'),
        Response(200, b"5"),
        Response(200, b"null"),
        Response(200, b"[" * 100_000),
        Response(404, b"<html>nothing here</html>"),
        Response(404, b'{"detail": "Not Found"}'),
        Response(400, b'"text"'),
    ],
    ids=lambda answer: repr(answer.body[:20]),
)
def test_foreign_responses_are_unreadable_and_their_start_is_shown(answer: Response) -> None:
    result, _ = told(READ, answer)
    assert isinstance(result, UnreadableResponse)
    assert result.status == answer.status
    assert result.start == answer.body[:200].decode(errors="replace")
    assert len(str(result)) < 1_000


def test_an_answer_that_lacks_a_member_is_unreadable() -> None:
    for body in (b"{}", b'{"id": "x"}', b'{"id": 1, "schemaType": "XML"}', b"[]", b'{"id": 1, "references": [5]}'):
        result, _ = told(calls.register("s", SchemaDraft("{}")), Response(200, body))
        assert isinstance(result, UnreadableResponse), body


def test_a_schema_without_text_is_unreadable() -> None:
    for call in (calls.by_id(1), calls.version("s", 1)):
        for body in (b'{"id": 1}', b'{"status": "ok"}', b'{"id": 1, "schema": 5}'):
            assert isinstance(told(call, Response(200, body))[0], UnreadableResponse)


def test_a_redirect_names_its_target() -> None:
    result, _ = told(READ, Response(301, b"", {"location": "https://registry.example/"}))
    assert isinstance(result, UnreadableResponse)
    assert "https://registry.example/" in str(result)


@pytest.mark.parametrize("code", [40101, 40301, 403, 404, 409, 50001])
def test_an_error_about_the_registry_or_the_caller_names_the_address_that_responded(code: int) -> None:
    outcomes = [error(code)] if code < 50000 else [error(code)] * 4
    result, _ = told(READ, *outcomes)
    assert result.facts["url"] == URLS[0]


def test_after_a_busy_server_the_last_word_is_raised() -> None:
    result, attempts = told(READ, *[error(503)] * 4)
    assert isinstance(result, Overloaded)
    assert len(attempts) == 4
    assert isinstance(told(READ, LOST, error(40401))[0], SubjectNotFound)


def test_every_address_is_asked_once_and_at_once_however_few_the_retries() -> None:
    urls = tuple(f"http://{number}" for number in range(6))
    talk = send_with_retries(READ, urls, Retries(attempts=1))
    attempts = [next(talk)]
    attempts.extend(talk.send(REFUSED) for _ in urls[1:])
    assert [attempt.address for attempt in attempts] == [0, 1, 2, 3, 4, 5]
    assert {attempt.pause for attempt in attempts} == {0}
    with pytest.raises(Unreachable):
        talk.send(REFUSED)


def test_a_deletion_that_may_have_arrived_is_not_sent_to_another_address() -> None:
    talk = send_with_retries(DELETE, URLS, Retries())
    next(talk)
    with pytest.raises(Unreachable):
        talk.send(LOST)


def test_a_fallback_that_responded_is_preferred_for_a_while() -> None:
    now = 0.0
    preference = PreferredAddress(lambda: now)

    def asked(*outcomes: Response | NoResponse) -> list[int]:
        talk = send_with_retries(READ, URLS, Retries(), preference=preference)
        addresses = [next(talk).address]
        for outcome in outcomes:
            try:
                addresses.append(talk.send(outcome).address)
            except (StopIteration, RegistryError):
                return addresses
        raise AssertionError("more attempts than outcomes")

    assert asked(FOUND) == [0]
    assert asked(LOST, FOUND) == [0, 1]
    assert asked(FOUND) == asked(error(40401)) == [1]
    now = 29.0
    assert asked(FOUND) == [1]
    now = 30.0
    assert asked(LOST, FOUND) == [0, 1], "the first is tried again"
    assert asked(FOUND) == [1]
    now = 60.0
    probe = send_with_retries(READ, URLS, Retries(), preference=preference)
    assert next(probe).address == 0
    assert asked(FOUND) == [1], "by one call"
    with pytest.raises(StopIteration):
        probe.send(FOUND)
    assert asked(FOUND) == [0]
    assert asked(Response(503, b""), FOUND) == [0, 1]
    assert asked(LOST, FOUND) == [1, 0], "who fails is left at once"
    assert asked(FOUND) == [0]
