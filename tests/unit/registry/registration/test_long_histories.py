"""Long histories are parsed once; recent verdicts need no trees."""

from __future__ import annotations

import json

import pytest

from contractlog.registry.registration import parser
from contractlog.registry.settings import Settings

from support.registry import in_process


def version(number: int, kind: str = "string") -> str:
    fields = [{"name": "kept", "type": kind}, {"name": f"f{number}", "type": ["null", "int"], "default": None}]
    return json.dumps({"type": "record", "name": "R", "fields": fields})


def test_versions_that_were_judged_are_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    parse = parser.parse_schema

    def counted(draft: parser.SchemaDraft, *rest: object, **options: bool) -> object:
        parsed.append(draft.text)
        return parse(draft, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(parser, "_CACHE_BYTES", 0)  # no tree is kept
    monkeypatch.setattr(parser, "parse_schema", counted)
    with in_process(Settings(database_url="sqlite://")) as http:
        http.put("/config", json={"compatibility": "BACKWARD_TRANSITIVE"})
        for number in range(30):
            assert http.post("/subjects/s/versions", json={"schema": version(number)}).status_code == 200
        parsed.clear()
        assert http.post("/subjects/s/versions", json={"schema": version(30)}).status_code == 200
        assert len(parsed) <= 3  # the candidate, and the version before it
        refused = http.post("/subjects/s/versions", json={"schema": version(31, "long")})
        assert refused.status_code == 409
        assert len(parsed) <= 6
        assert "/fields/0/type" in refused.json()["message"]
        assert http.post("/subjects/s/versions", json={"schema": version(32)}).status_code == 200


def test_a_check_that_takes_long_makes_nobody_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[parser.SchemaParser] = []
    begin = parser.SchemaParser.__init__

    def kept(self: parser.SchemaParser) -> None:
        begin(self)
        made.append(self)

    monkeypatch.setattr(parser.SchemaParser, "__init__", kept)
    with in_process(Settings(database_url="sqlite://")) as http:
        assert http.post("/subjects/s/versions", json={"schema": version(0)}).status_code == 200
        (shared,) = made
        with shared.memo_lock:  # as somebody else's check does
            assert http.post("/subjects/s/versions", json={"schema": version(1)}).status_code == 200
            assert http.post("/subjects/s/versions", json={"schema": version(2, "long")}).status_code == 409
