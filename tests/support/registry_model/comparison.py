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

from support.openapi_checks import check_response
from support.registry import in_process
from support.registry_model.association_model import RegistryModel
from support.registry_model.bodies import format_config, format_content
from support.registry_model.contents import Rejected
from support.registry_model.scopes import DEFAULT, GLOBAL, context_of

__all__ = ["OPERATIONS", "Coverage", "ServiceComparison"]

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


class Coverage:
    """Operations, codes and members that occurred in a run."""

    def __init__(self) -> None:
        self.answers: Counter[tuple[str, int]] = Counter()  #: (operation, code)
        self.members: set[tuple[str, str]] = set()  #: (operation, member of its body or query)

    @property
    def codes(self) -> set[int]:
        """Return the error codes."""
        return {code for _, code in self.answers if code >= 400}


class ServiceComparison(RuleBasedStateMachine):
    """State machine that compares responses and the state of a service with the model."""

    database: ClassVar[Callable[[], str]] = lambda: "sqlite://"
    coverage: ClassVar[Coverage] = Coverage()

    def __init__(self) -> None:
        super().__init__()
        self.model = RegistryModel()
        self.exit_stack = ExitStack()
        self.http: httpx2.Client = self.exit_stack.enter_context(
            in_process(Settings(database_url=type(self).database()))
        )

    def teardown(self) -> None:
        """Also compare what is compared only once per run."""
        try:
            self.settings_are_equal()
            self.ids_return_their_contents()
        finally:
            self.exit_stack.close()

    def call(self, operation: str, body: Any = None, *, names: dict[str, str] | None = None, **parameters: Any) -> Any:
        """Send a request, record it, check the response against openapi.yaml, and return it."""
        assert operation in OPERATIONS
        method, _, template = operation.partition(" ")
        path = template.format(**names or {})
        params = {name: value if isinstance(value, list) else str(value) for name, value in parameters.items()}
        response = self.http.request(method, path, json=body, params=params)
        code = response.status_code if response.status_code < 300 else response.json().get("error_code")
        self.coverage.answers[operation, code] += 1
        self.coverage.members |= {(operation, name) for name in (*_iterate_members(body), *parameters)}
        check_response(method, template, response)
        return response

    def compare(self, expected: Callable[[], Any], response: httpx2.Response, read: Callable[[Any], Any]) -> None:
        """Compare a response with the model's result."""
        code, value, before = 200, None, deepcopy(self.model)
        try:
            value = expected()
        except Rejected as refused:
            code, self.model = refused.args[0], before
        body = response.json() if response.content else None
        response_code = 200 if response.status_code in {200, 204} else body.get("error_code")
        assert response_code == code, f"the model says {code}, {value}: {response.status_code} {response.text}"
        if code == 200:
            assert read(body) == value

    def parse_registration(self, subject: str) -> Callable[[Any], tuple[int, int]]:
        """Return a parser of the response to a registration, which contains the schema."""

        def parse(body: Any) -> tuple[int, int]:
            content = self.model.subjects[self.model.scopes.resolve_alias(subject)][body["version"]].content
            assert {name: body.get(name) for name in format_content(content)} == format_content(content)
            return body["id"], body["version"]

        return parse

    @invariant()
    def states_are_equal(self) -> None:
        """Compare versions with ids and contents, contexts and associations."""
        listed = self.http.get("/schemas?deleted=true&subjectPrefix=:*:").json()
        ignored_members = {"ts", "guid", "associations", "aliases"}
        versions = [{name: value for name, value in item.items() if name not in ignored_members} for item in listed]
        expected = [
            {
                "subject": subject,
                "version": number,
                "id": item.id,
                "deleted": item.deleted,
                **format_content(item.content),
            }
            for subject in self.model.subjects
            for number, item in self.model.versions(subject).items()
        ]
        assert _sort_versions(versions) == _sort_versions(expected)
        assert self.http.get("/contexts").json() == sorted(item.strip(":") for item in self.model.contexts)
        associations = self.http.get("/associations/resources/eu/-").json()
        associations_by_key = {
            (item["resourceName"], item["associationType"]): (item["subject"], item["lifecycle"])
            for item in associations
        }
        assert associations_by_key == {
            key: (item.subject, item.lifecycle) for key, item in self.model.associations.items()
        }

    def settings_are_equal(self) -> None:
        """Compare the config and mode of each scope, and the inherited mode."""
        scopes = ["a", "b", "r", ":.eu:a", ":.eu:r", ":.eu:t-value", ":.eu:", GLOBAL]
        for scope in scopes:
            own, mode = self.model.scopes.get_own_config(scope), self.model.scopes.set.get(scope, {}).get("mode")
            answer = self.http.get(f"/config/{scope}").json()
            if own:
                level = self.model.scopes.get_effective_config(scope).get("compatibility", "BACKWARD")
                renamed = {"compatibilityLevel": level} | format_config(own)
                renamed.pop("compatibility", None)
                assert answer == renamed
            else:
                assert answer.get("error_code") == 40408
            assert self.http.get(f"/mode/{scope}").json().get("mode") == mode
            inherited = self.http.get(f"/mode/{scope}?defaultToGlobal=true").json().get("mode")
            assert inherited == self.model.scopes.mode(scope)

    def ids_return_their_contents(self) -> None:
        """Check that an id returns its content while a version has it, and afterwards never again."""
        used_ids = {(context_of(subject), version.id) for subject, version in self.model.iterate_versions(GLOBAL)}
        for (context, schema_id), content in self.model.content_by_id.items():
            answer = self.http.get(f"/schemas/ids/{schema_id}?subject={'' if context == DEFAULT else context}")
            if (context, schema_id) in used_ids:
                body = answer.json()
                assert {name: body.get(name) for name in format_content(content)} == format_content(content)
            else:
                assert answer.json().get("error_code") == 40403


def _iterate_members(body: Any) -> Iterator[str]:
    """Yield the names of all members of a body, including nested ones."""
    if isinstance(body, dict):
        for name, value in body.items():
            yield name
            yield from _iterate_members(value)
    elif isinstance(body, list):
        for value in body:
            yield from _iterate_members(value)


def _sort_versions(versions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(versions, key=lambda version: (version["subject"], version["version"]))
