"""A program has the same results with confluent-kafka's client and with contractlog's."""

from __future__ import annotations

import inspect
import re
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import confluent_kafka.schema_registry.schema_registry_client as theirs
import pytest

import contractlog.clients.confluent as ours
from contractlog.compatibility.errors import RegistryError, Unreachable

from support.client_program import list_steps, transcript
from support.registry import serve_in_thread

pytestmark = pytest.mark.e2e

#: Where the transcripts differ, and what is better so.
DIFFERENCES: dict[str, str] = {
    "json again": "what is known already is answered with its version, not with None",
    "resolved": "a format that was not asked for before is asked for, not answered with the other one",
    "so it is there": "a subject that this client deleted softly is registered again, not believed to be there",
    "the latest after": "the newest version is asked for again once this client has registered another",
}

#: And where besides, when the answer to a registration is the id alone, as up to 7.4.
OLDER: dict[str, str] = {
    "by id and subject": "the registry's text is asked for, not answered as it was given when it was registered",
    "by id in a context": "likewise",
}

#: Codes that no step meets, and why.
UNMET = {
    400: "the client sends no request that cannot be read",
    401: "the registry of this program asks for no names",
    403: "likewise",
    404: "the client asks for no path that is not there",
    405: "nor by a method that is not",
    406: "never answered by this service",
    408: "the client sends its body at once",
    409: "the code of servers before 8.0",
    413: "nothing here is over a megabyte",
    415: "the client sends JSON",
    422: "the client sends a body wherever one is needed",
    429: "one client takes little work",
    431: "the client sends few headers",
    500: "no input makes the service fail",
    503: "nobody else writes",
    40301: "the registry of this program knows no rights",
    40902: "never answered",
    42207: "of servers up to 7.1",
    42209: "never answered by this service",
    42211: "the client deletes no contexts",
    50005: "made by clients",
}
_ELSEWHERE = {40370, 40470, 40471, 40472, 40971, 40972, 42271, 42272, 50070}  # encryption keys, which are not there yet
_FAILING = {50001, 50002, 50003, 50004}  # the database fails, or there is a leader


def both(tmp_path: Path, name: str, **settings: str) -> tuple[dict[str, str], dict[str, str]]:
    seen = []
    for number, module in enumerate((theirs, ours)):
        with serve_in_thread(f"sqlite:///{tmp_path / f'{number}.db'}", **settings) as url:
            seen.append(transcript(module, name, url))
    return seen[0], seen[1]


@pytest.mark.parametrize("name", ["SchemaRegistryClient", "AsyncSchemaRegistryClient"])
def test_the_transcripts_are_equal_but_for_what_is_listed(tmp_path: Path, name: str) -> None:
    their, our = both(tmp_path, name)
    assert list(their) == list(our)
    different = {label: (their[label], our[label]) for label in their if their[label] != our[label]}
    assert different.keys() == DIFFERENCES.keys(), different
    met = {int(came.split()[1]) for came in our.values() if re.match(r"\d{3} -?\d+ ", came)}
    own = {code for code in RegistryError.catalogue() if 80 <= code % 100 <= 89}
    assert set(RegistryError.catalogue()) - met <= UNMET.keys() | _ELSEWHERE | _FAILING | own
    assert not met & UNMET.keys()


@pytest.mark.parametrize("profile", ["5.5", "7.6"])
def test_the_transcripts_are_equal_with_answers_of_older_releases_too(tmp_path: Path, profile: str) -> None:
    their, our = both(tmp_path, "SchemaRegistryClient", CONTRACTLOG_RESPONSE_PROFILE=profile)
    different = {label: (their[label], our[label]) for label in their if their[label] != our[label]}
    assert different.keys() - DIFFERENCES.keys() == (OLDER.keys() if profile == "5.5" else set()), different


@pytest.mark.parametrize("name", ["SchemaRegistryClient", "AsyncSchemaRegistryClient"])
def test_the_program_uses_every_method(name: str) -> None:
    used = {method for _, method, _, _ in list_steps(theirs)}
    there = {method for method, _ in inspect.getmembers(getattr(theirs, name), inspect.isroutine) if method[0] != "_"}
    assert there - used == {"config", "new_client"} | ({"aclose"} if name.startswith("Async") else {"close"})


def test_our_client_takes_their_values(tmp_path: Path) -> None:
    mixed: Any = SimpleNamespace(**(vars(theirs) | {"SchemaRegistryClient": ours.SchemaRegistryClient}))
    with serve_in_thread(f"sqlite:///{tmp_path / 'mixed.db'}") as url:
        seen = transcript(mixed, "SchemaRegistryClient", url)
    with serve_in_thread(f"sqlite:///{tmp_path / 'ours.db'}") as url:
        assert seen == transcript(ours, "SchemaRegistryClient", url)


def test_an_unreachable_registry_is_reported_in_a_sentence() -> None:
    nobody = f"http://127.0.0.1:{free_port()}"
    client = ours.SchemaRegistryClient({"url": nobody, "max.retries": 0})
    with pytest.raises(Unreachable, match="cannot be reached"):
        client.get_subjects()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
