"""A text that the registry returns is found by a lookup under its subject, also after an import."""

from __future__ import annotations

import json
from typing import Any

import httpx2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.registry.settings import Settings

from support.registry import in_process

NAMES = st.sampled_from(["a", "b", "c"])
TYPES = st.sampled_from(["int", {"type": "string", "avro.java.string": "String"}, ["null", "long"], "Base"])
FIELDS = st.lists(
    st.fixed_dictionaries(
        {"name": NAMES, "type": TYPES},
        optional={"doc": st.sampled_from(["", "text"]), "x": st.just(1), "aliases": st.just(["z", "y"])},
    ),
    max_size=3,
    unique_by=lambda field: field["name"],
)
AVRO = st.builds(
    lambda fields, doc: {"fields": fields, "name": "R", "namespace": "n", "type": "record", **doc},
    FIELDS,
    st.sampled_from([{}, {"doc": ""}, {"doc": "text", "b": 1, "a": 2}]),
)
JSON = st.fixed_dictionaries(
    {"type": st.sampled_from(["object", "string", ["null", "number"]])},
    optional={
        "title": st.sampled_from(["T", "é\u2028"]),
        "maximum": st.sampled_from([1e2, 1.50, 10**20]),
        "properties": st.dictionaries(NAMES, st.sampled_from([True, {"$ref": "base.json"}]), max_size=2),
    },
)
METADATA = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {},
        optional={
            "tags": st.dictionaries(NAMES, st.lists(st.sampled_from(["PII", "A"]), max_size=2), max_size=2),
            "properties": st.dictionaries(st.sampled_from(["k", "confluent:version"]), st.sampled_from(["1", "v"])),
            "sensitive": st.lists(st.just("k"), max_size=2),
        },
    ),
)
RULES = st.sampled_from([None, {}, {"domainRules": [{"name": "n", "type": "CEL", "tags": ["b", "a"], "expr": "true"}]}])
BASES = {
    "AVRO": ("base", '{"type":"record","name":"Base","namespace":"n","fields":[]}', "n.Base"),
    "JSON": ("base-json", '{"type":"integer"}', "base.json"),
}


@st.composite
def drafts(draw: st.DrawFn) -> dict[str, Any]:
    """A schema with what stands beside it, as somebody may send it."""
    kind = draw(st.sampled_from(["AVRO", "JSON"]))
    value = draw(AVRO if kind == "AVRO" else JSON)
    text = json.dumps(value, indent=draw(st.sampled_from([None, 2])))
    subject, _, name = BASES[kind]
    leans = '"Base"' in text or "base.json" in text
    reference = {"name": name, "subject": subject, "version": draw(st.sampled_from([1, -1]))}
    body: dict[str, Any] = {"schema": text, "schemaType": kind, "references": [reference] * leans}
    metadata, rules = draw(METADATA), draw(RULES)
    return body | ({} if metadata is None else {"metadata": metadata}) | ({} if rules is None else {"ruleSet": rules})


def looks_up(http: httpx2.Client, subject: str, query: str = "") -> None:
    """Ask for everything that is there, and look each answer up."""
    numbers = http.get(f"/subjects/{subject}/versions{query}").json()
    assert numbers
    for number in numbers:
        shown = http.get(f"/subjects/{subject}/versions/{number}{query}").json()
        by_id = http.get(f"/schemas/ids/{shown['id']}?subject={subject}").json()
        for answer in (shown, by_id):
            for lookup in (query or "?", (query or "?") + "&normalize=true"):
                found = http.post(f"/subjects/{subject}{lookup}", json=sent(answer))
                assert found.status_code == 200, (answer, found.text)
            exactly = http.post(f"/subjects/{subject}{query}", json=sent(answer)).json()
            assert exactly["id"] == shown["id"] or exactly["schema"] == shown["schema"]


def sent(answer: dict[str, Any]) -> dict[str, Any]:
    members = ("schema", "schemaType", "references", "metadata", "ruleSet")
    return {name: answer[name] for name in members if name in answer}


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=st.lists(st.tuples(drafts(), st.booleans()), min_size=1, max_size=5))
def test_returned_texts_are_found_by_lookup(history: list[tuple[dict[str, Any], bool]]) -> None:
    with (
        in_process(Settings(database_url="sqlite://")) as http,
        in_process(Settings(database_url="sqlite://")) as other,
    ):
        http.put("/config", json={"compatibility": "NONE"})
        for subject, text, _ in BASES.values():
            kind = "JSON" if subject.endswith("json") else "AVRO"
            http.post(f"/subjects/{subject}/versions", json={"schema": text, "schemaType": kind})
        accepted = [
            http.post(f"/subjects/s/versions?normalize={normalize}", json=draft).status_code
            for draft, normalize in history
        ]
        assert set(accepted) == {200}
        looks_up(http, "s")
        other.put("/mode", json={"mode": "IMPORT"})
        for subject in ("base", "base-json", "s"):
            for number in http.get(f"/subjects/{subject}/versions").json():
                shown = http.get(f"/subjects/{subject}/versions/{number}").json()
                answer = other.post(f"/subjects/{subject}/versions", json=shown)
                assert (answer.status_code, answer.json().get("id")) == (200, shown["id"]), answer.text
        looks_up(other, "s")
        assert http.delete("/subjects/s").status_code == 200
        looks_up(http, "s", "?deleted=true")


CONTEXTS = st.sampled_from(["", ":.lv:"])
QUALIFIED = ("", "?referenceFormat=qualified")


@st.composite
def leaning_drafts(draw: st.DrawFn, context: str) -> dict[str, Any]:
    """A schema that leans on one or two others, named with their context or without."""
    named = st.sampled_from(["", context or ":.:"])
    bases = draw(st.sampled_from([("a",), ("a", "b"), ("b", "a")]))
    fields = [{"name": base, "type": f"n.{base.upper()}"} for base in bases]
    text = json.dumps(
        {"type": "record", "name": "R", "fields": fields} | draw(st.sampled_from([{}, {"doc": "text"}])),
        indent=draw(st.sampled_from([None, 2])),
    )
    references = [{"name": f"n.{base.upper()}", "subject": draw(named) + base, "version": 1} for base in bases]
    metadata = draw(st.sampled_from([{}, {"metadata": {"properties": {"k": "v"}}}]))
    return {"schema": text, "references": references, **metadata}


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), context=CONTEXTS, importing=st.booleans())
def test_responses_with_qualified_references_equal_the_stored_schema(
    data: st.DataObject, context: str, *, importing: bool
) -> None:
    history = data.draw(st.lists(leaning_drafts(context), min_size=1, max_size=4))
    with in_process(Settings(database_url="sqlite://")) as http:
        http.put("/config", json={"compatibility": "NONE"})
        http.put("/config/:.__GLOBAL:", json={"compatibility": "NONE"})
        for base in ("a", "b"):
            text = f'{{"type":"record","name":"{base.upper()}","namespace":"n","fields":[]}}'
            assert http.post(f"/subjects/{context}{base}/versions", json={"schema": text}).status_code == 200
        subject = f"{context}s"
        if importing:
            http.put("/mode/" + subject, json={"mode": "IMPORT"})
        for number, draft in enumerate(history, 10):
            body = draft | ({"id": number} if importing else {})
            answer = http.post(f"/subjects/{subject}/versions", json=body)
            assert answer.status_code == 200, answer.text
        if importing:
            http.put("/mode/" + subject, json={"mode": "READWRITE"})
        numbers = http.get(f"/subjects/{subject}/versions").json()
        for number in numbers:
            for query in QUALIFIED:
                shown = http.get(f"/subjects/{subject}/versions/{number}{query}").json()
                by_id = http.get(f"/schemas/ids/{shown['id']}{query or '?'}&subject={subject}").json()
                for answer in (shown, by_id):
                    found = http.post(f"/subjects/{subject}", json=sent(answer))
                    assert found.status_code == 200, (answer, found.text)
                    again = http.post(f"/subjects/{subject}/versions", json=sent(answer))
                    assert again.status_code == 200, again.text
                    if not importing:  # which may bring one content under many numbers
                        assert found.json()["version"] == again.json()["version"] == number
                    assert found.json()["schema"] == shown["schema"]
        assert http.get(f"/subjects/{subject}/versions").json() == numbers
