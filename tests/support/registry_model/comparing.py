"""Asks a service, and holds its answers, and all that it holds, against the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from copy import deepcopy
from typing import Any, ClassVar, Final

import httpx2
from hypothesis.stateful import RuleBasedStateMachine, invariant

from contractlog.registry.settings import Settings

from support.described import judge
from support.registry import in_process
from support.registry_model.bindings import Registry
from support.registry_model.bodies import config_body, content_body
from support.registry_model.contents import Refused
from support.registry_model.scopes import DEFAULT, GLOBAL, context_of

__all__ = ["OPERATIONS", "Comparing", "Seen"]

#: What the machine calls; nothing else can be called.
OPERATIONS: Final = frozenset(
    {
        "DELETE /associations/resources/{resource}",
        "DELETE /config",
        "DELETE /config/{subject}",
        "DELETE /contexts/{context}",
        "DELETE /mode",
        "DELETE /mode/{subject}",
        "DELETE /subjects/{subject}",
        "DELETE /subjects/{subject}/versions/{version}",
        "POST /associations",
        "POST /associations:batchMutate",
        "POST /subjects/{subject}",
        "POST /subjects/{subject}/versions",
        "POST /subjects/{subject}/versions/{version}/tags",
        "PUT /associations/resources/{resource}",
        "PUT /config",
        "PUT /config/{subject}",
        "PUT /mode",
        "PUT /mode/{subject}",
    }
)


class Seen:
    """What was asked and answered in a run."""

    def __init__(self) -> None:
        self.answers: Counter[tuple[str, int]] = Counter()  #: (operation, code)
        self.members: set[tuple[str, str]] = set()  #: (operation, member of its body or query)

    @property
    def codes(self) -> set[int]:
        """Return the codes of refusals."""
        return {code for _, code in self.answers if code >= 400}


class Comparing(RuleBasedStateMachine):
    """Asks a service, and holds its answers and all that it holds against the model."""

    database: ClassVar[Callable[[], str]] = lambda: "sqlite://"
    seen: ClassVar[Seen] = Seen()

    def __init__(self) -> None:
        super().__init__()
        self.model = Registry()
        self.opened = ExitStack()
        self.http: httpx2.Client = self.opened.enter_context(in_process(Settings(database_url=type(self).database())))

    def teardown(self) -> None:
        """Hold what is asked for seldom against each other, too."""
        try:
            self.settings_are_the_same()
            self.ids_stand_for_their_content_or_for_nothing()
        finally:
            self.opened.close()

    def call(self, operation: str, body: Any = None, *, names: dict[str, str] | None = None, **asked: Any) -> Any:
        """Send a request; note what was sent, and return its answer, which is as openapi.yaml says."""
        assert operation in OPERATIONS
        method, _, template = operation.partition(" ")
        path = template.format(**names or {})
        params = {name: value if isinstance(value, list) else str(value) for name, value in asked.items()}
        answer = self.http.request(method, path, json=body, params=params)
        code = answer.status_code if answer.status_code < 300 else answer.json().get("error_code")
        self.seen.answers[operation, code] += 1
        self.seen.members |= {(operation, name) for name in (*_members(body), *asked)}
        judge(method, template, answer)
        return answer

    def agree(self, expected: Callable[[], Any], answer: httpx2.Response, read: Callable[[Any], Any]) -> None:
        """Hold an answer against the model's."""
        code, value, before = 200, None, deepcopy(self.model)
        try:
            value = expected()
        except Refused as refused:
            code, self.model = refused.args[0], before
        found = answer.json() if answer.content else None
        told = 200 if answer.status_code in {200, 204} else found.get("error_code")
        assert told == code, f"the model says {code}, {value}: {answer.status_code} {answer.text}"
        if code == 200:
            assert read(found) == value

    def registered(self, subject: str) -> Callable[[Any], tuple[int, int]]:
        """Read an answer to a registration, which shows what was registered."""

        def read(found: Any) -> tuple[int, int]:
            content = self.model.subjects[self.model.scopes.meant(subject)][found["version"]].content
            assert {name: found.get(name) for name in content_body(content)} == content_body(content)
            return found["id"], found["version"]

        return read

    @invariant()
    def they_hold_the_same(self) -> None:
        """Each version has its id and its content; contexts and associations are there."""
        listed = self.http.get("/schemas?deleted=true&subjectPrefix=:*:").json()
        beside = {"ts", "guid", "associations", "aliases"}
        held = [{name: value for name, value in one.items() if name not in beside} for one in listed]
        expected = [
            {"subject": subject, "version": number, "id": one.id, "deleted": one.deleted, **content_body(one.content)}
            for subject in self.model.subjects
            for number, one in self.model.versions(subject).items()
        ]
        assert _sorted(held) == _sorted(expected)
        assert self.http.get("/contexts").json() == sorted(one.strip(":") for one in self.model.contexts)
        found = self.http.get("/associations/resources/eu/-").json()
        bound = {(one["resourceName"], one["associationType"]): (one["subject"], one["lifecycle"]) for one in found}
        assert bound == {key: (one.subject, one.lifecycle) for key, one in self.model.bound.items()}

    def settings_are_the_same(self) -> None:
        """Each scope has its own config and mode, and what it inherits."""
        scopes = ["a", "b", "r", ":.eu:a", ":.eu:r", ":.eu:t-value", ":.eu:", GLOBAL]
        for scope in scopes:
            own, mode = self.model.scopes.own(scope), self.model.scopes.set.get(scope, {}).get("mode")
            answer = self.http.get(f"/config/{scope}").json()
            if own:
                level = self.model.scopes.in_force(scope).get("compatibility", "BACKWARD")
                renamed = {"compatibilityLevel": level} | config_body(own)
                renamed.pop("compatibility", None)
                assert answer == renamed
            else:
                assert answer.get("error_code") == 40408
            assert self.http.get(f"/mode/{scope}").json().get("mode") == mode
            inherited = self.http.get(f"/mode/{scope}?defaultToGlobal=true").json().get("mode")
            assert inherited == self.model.scopes.mode(scope)

    def ids_stand_for_their_content_or_for_nothing(self) -> None:
        """An id answers with its content as long as a version holds it, and never again after that."""
        held = {(context_of(subject), one.id) for subject, one in self.model.within(GLOBAL)}
        for (context, schema_id), content in self.model.owners.items():
            answer = self.http.get(f"/schemas/ids/{schema_id}?subject={'' if context == DEFAULT else context}")
            if (context, schema_id) in held:
                found = answer.json()
                assert {name: found.get(name) for name in content_body(content)} == content_body(content)
            else:
                assert answer.json().get("error_code") == 40403


def _members(body: Any) -> Iterator[str]:
    """Yield the members of a body, with those of what is inside it."""
    if isinstance(body, dict):
        for name, value in body.items():
            yield name
            yield from _members(value)
    elif isinstance(body, list):
        for value in body:
            yield from _members(value)


def _sorted(held: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(held, key=lambda one: (one["subject"], one["version"]))
