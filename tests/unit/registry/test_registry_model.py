"""Random histories of all writing calls: the service and the model answer alike, and hold the same in the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, ClassVar

import httpx2
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from sqlalchemy import create_engine, insert, text

from contractlog.registry.settings import Settings
from contractlog.registry.storage import tables
from contractlog.registry.storage.engines import parse_url
from contractlog.registry.storage.values import JOURNAL

from support.registry import in_process
from support.registry_model import GLOBAL, Content, Model, Refused

SUBJECTS = st.sampled_from(["a", "b", ":.eu:a"])
SCOPES = st.sampled_from(["a", ":.eu:a", ".", ":.eu:", GLOBAL])
CONTENTS = st.builds(Content, st.sampled_from(["string", "boolean", "int"]), st.sampled_from([None, None, "x", "y"]))
MODES = st.sampled_from(["READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "IMPORT", "FORWARD", None, None])


def body(content: Content, **members: Any) -> dict[str, Any]:
    metadata = {} if content.owner is None else {"metadata": {"properties": {"owner": content.owner}}}
    return {"schema": json.dumps(content.text), **metadata, **{k: v for k, v in members.items() if v}}


class Agreement(RuleBasedStateMachine):
    """Makes each call to both."""

    database: ClassVar[Callable[[], str]] = lambda: "sqlite://"

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.opened = ExitStack()
        self.http: httpx2.Client = self.opened.enter_context(in_process(Settings(database_url=type(self).database())))

    def teardown(self) -> None:
        self.opened.close()

    def agree(self, expected: Callable[[], Any], answer: httpx2.Response, read: Callable[[Any], Any]) -> None:
        code, value = 200, None
        try:
            value = expected()
        except Refused as refused:
            code = refused.args[0]
        found = answer.json()
        told = 200 if answer.status_code == code else found.get("error_code")
        assert told == code, answer.text
        if code == 200:
            assert read(found) == value

    @rule(
        subject=SUBJECTS,
        content=CONTENTS,
        version=st.sampled_from([0, 0, 0, 1, 2, 3]),
        force=st.booleans(),
    )
    def register(self, subject: str, content: Content, version: int, *, force: bool) -> None:
        answer = self.http.post(f"/subjects/{subject}/versions?force={force}", json=body(content, version=version))
        self.agree(
            lambda: self.model.register(subject, content, version=version, force=force),
            answer,
            lambda found: (found["id"], found["version"]),
        )

    @rule(
        subject=SUBJECTS,
        content=CONTENTS,
        schema_id=st.integers(1, 8),
        version=st.sampled_from([0, 0, 1, 2, 5]),
    )
    def take_over(self, subject: str, content: Content, schema_id: int, version: int) -> None:
        answer = self.http.post(f"/subjects/{subject}/versions", json=body(content, id=schema_id, version=version))
        self.agree(
            lambda: self.model.register(subject, content, schema_id=schema_id, version=version),
            answer,
            lambda found: (found["id"], found["version"]),
        )

    @rule(subject=st.sampled_from(["b", ":.eu:a"]), content=CONTENTS, deleted=st.booleans())
    def lookup(self, subject: str, content: Content, *, deleted: bool) -> None:
        answer = self.http.post(f"/subjects/{subject}?deleted={deleted}", json=body(content))
        self.agree(lambda: self.model.lookup(subject, content, deleted=deleted), answer, lambda found: found["version"])

    @rule(subject=SUBJECTS, permanent=st.booleans())
    def delete_subject(self, subject: str, *, permanent: bool) -> None:
        answer = self.http.delete(f"/subjects/{subject}?permanent={permanent}")
        self.agree(lambda: self.model.delete_subject(subject, permanent=permanent), answer, lambda found: found)

    @rule(subject=SUBJECTS, number=st.integers(1, 6), permanent=st.booleans())
    def delete_version(self, subject: str, number: int, *, permanent: bool) -> None:
        answer = self.http.delete(f"/subjects/{subject}/versions/{number}?permanent={permanent}")
        self.agree(lambda: self.model.delete_version(subject, number, permanent=permanent), answer, lambda found: found)

    @rule(scope=SCOPES, level=st.sampled_from(["NONE", "NONE", "FULL", "BACKWARD", None]))
    def set_level(self, scope: str, level: str | None) -> None:
        path = "/config" if scope == "." else f"/config/{scope}"
        answer = self.http.put(path, json={"compatibility": level})
        self.agree(lambda: self.model.set_level(scope, level), answer, lambda found: found.get("mode"))

    @rule(scope=SCOPES, mode=MODES, force=st.booleans())
    def set_mode(self, scope: str, mode: str | None, *, force: bool) -> None:
        path = "/mode" if scope == "." else f"/mode/{scope}"
        answer = self.http.put(f"{path}?force={force}", json={"mode": mode})
        self.agree(lambda: self.model.set_mode(scope, mode, force=force), answer, lambda found: None)

    @precondition(lambda self: self.model.subjects)
    @invariant()
    def they_hold_the_same(self) -> None:
        for subject in ("a", "b", ":.eu:a"):
            versions = self.model.subjects.get(subject, {})
            answer = self.http.get(f"/subjects/{subject}/versions?deletedAsNegative=true")
            if subject != "a" or versions:
                expected = [-number if one.deleted else number for number, one in sorted(versions.items())]
                assert answer.json() == expected if versions else answer.status_code == 404


def run(steps: int, examples: int) -> None:
    run_state_machine_as_test(
        Agreement,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_the_service_and_the_model_agree() -> None:
    run(steps=25, examples=8)


@pytest.mark.slow
@pytest.mark.integration
def test_the_service_and_the_model_agree_on_postgresql(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from contractlog.registry.database import upgrade

    upgrade(postgres_url)
    engine = create_engine(parse_url(postgres_url))

    def emptied() -> str:
        with engine.begin() as connection:
            names = ", ".join(f'"{name}"' for name in tables.metadata.tables)
            connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY CASCADE"))
            connection.execute(insert(tables.contexts).values(name=".", next_schema_id=1))
            connection.execute(insert(tables.journal).values(name=JOURNAL, next_sequence=1))
        return postgres_url

    monkeypatch.setattr(Agreement, "database", staticmethod(emptied))
    run(steps=30, examples=25)
    engine.dispose()


@pytest.mark.slow
def test_the_service_and_the_model_agree_for_long() -> None:
    run(steps=30, examples=30)
