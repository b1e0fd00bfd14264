"""Random states of whole registries, including states that only imports can create."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from contractlog.compatibility.association_values import Lifecycle
from contractlog.compatibility.data_contract import Metadata, Rule, RuleSet
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import Reference, SchemaType
from contractlog.registry.database import open_store
from contractlog.registry.settings import Settings
from contractlog.registry.storage.associations import StoredAssociation
from contractlog.registry.storage.store import Store
from contractlog.registry.transfer.registry_contents import (
    RegistryContents,
    RetiredId,
    SchemaKey,
    TransferredSchema,
    TransferredVersion,
    VersionKey,
)

CONTEXTS = [".", ".eu", ".é"]
NAMES = ["orders-value", "a/b", "späße", "with space", "x" * 300]
TEXTS = [
    (SchemaType.AVRO, '"string"'),
    (SchemaType.AVRO, '{"type": "string"}'),  # spelled differently, the same content
    (SchemaType.AVRO, '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'),
    (SchemaType.AVRO, '{"type":"enum","name":"E","symbols":["not a symbol"]}'),  # stored, though no longer accepted
    (SchemaType.AVRO, "{ no json"),
    (SchemaType.JSON, '{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"number"}}}'),
    (SchemaType.JSON, '"string"'),
    (SchemaType.PROTOBUF, 'syntax = "proto3";\nmessage M {\n  string name = 1;\n}\n'),
]
MILLISECONDS = st.integers(1_500_000_000_000, 1_900_000_000_000)
METADATA = st.none() | st.builds(
    Metadata,
    tags=st.sampled_from([{}, {"**.a": ("PII",)}]),
    properties=st.dictionaries(st.sampled_from(["owner", "é"]), st.sampled_from(["x", "✓"]), max_size=2),
    sensitive=st.sampled_from([(), ("owner",)]),
)
RULES = st.none() | st.builds(
    RuleSet,
    domain_rules=st.sampled_from([(), (Rule("r1", kind="CONDITION", type="CEL", expr="message.a > 0"),)]),
    enable_at=st.sampled_from([None, "CLIENT"]),
)
CONFIG = st.fixed_dictionaries(
    {},
    optional={
        "alias": st.sampled_from(["other", "späße"]),
        "normalize": st.booleans(),
        "validateFields": st.booleans(),
        "compatibilityLevel": st.sampled_from([level.value for level in Level]),
        "compatibilityPolicy": st.sampled_from(["STRICT", "LENIENT"]),
        "compatibilityGroup": st.just("major"),
        "defaultMetadata": st.just({"properties": {"owner": "me"}}),
        "overrideRuleSet": st.just(RuleSet(domain_rules=(Rule("r"),)).body()),
        "contractlogPolicy": st.just("EXACT"),
        "strictJsonSchemas": st.booleans(),
    },
).filter(bool)


@contextmanager
def empty_store() -> Iterator[Store]:
    store = open_store(Settings(database_url="sqlite://"))
    try:
        yield store
    finally:
        store.close()


@st.composite
def snapshots(draw: st.DrawFn) -> RegistryContents:
    """Generate a state with several contexts, gaps, shared ids, references and deletions."""
    snapshot = RegistryContents()
    for context in draw(st.lists(st.sampled_from(CONTEXTS), unique=True, min_size=1)):
        _fill(draw, snapshot, context)
    scopes = [Subject(context, name) for context in (*CONTEXTS, ".__GLOBAL") for name in ("", NAMES[0])]
    snapshot.settings = draw(st.dictionaries(st.sampled_from(scopes), CONFIG, max_size=3))
    snapshot.modes = draw(
        st.dictionaries(st.sampled_from(scopes), st.sampled_from([mode.value for mode in Mode]), max_size=3)
    )
    snapshot.raise_counters()
    snapshot.contexts["."] = snapshot.contexts.get(".", 1) + draw(st.integers(0, 3))
    return snapshot


def _fill(draw: st.DrawFn, snapshot: RegistryContents, context: str) -> None:
    ids = draw(st.lists(st.integers(1, 40), unique=True, min_size=1, max_size=8))
    newest: dict[tuple[Any, ...], SchemaKey] = {}
    for schema_id in sorted(ids):
        schema = draw(_schema(context, schema_id, [key for key in snapshot.versions if key[0].context == context]))
        for number in range(draw(st.integers(1, 3))):
            _add_version(draw, snapshot, schema, number)
        snapshot.schemas[schema.key] = schema
        newest[_content_key(schema)] = schema.key
    for key, schema in snapshot.schemas.items():
        if key[0] == context and newest[_content_key(schema)] != key:
            snapshot.schemas[key] = replace(schema, reused=False)
    for schema_id in draw(st.lists(st.integers(41, 60), unique=True, max_size=2)):
        snapshot.retired[context, schema_id] = RetiredId(
            draw(MILLISECONDS), "somebody", draw(st.sampled_from([None, "0" * 64]))
        )
    if draw(st.booleans()):
        subject = next(subject for subject, _ in snapshot.versions if subject.context == context)
        association = StoredAssociation(
            str(draw(st.uuids())), subject, "id-1", "orders", "lkc-1", "topic", "value", Lifecycle.WEAK, frozen=False
        )
        snapshot.associations[association.guid] = replace(
            association, created_at=draw(MILLISECONDS), updated_at=draw(MILLISECONDS)
        )


@st.composite
def _schema(draw: st.DrawFn, context: str, schema_id: int, available_versions: list[VersionKey]) -> TransferredSchema:
    kind, text = draw(st.sampled_from(TEXTS))
    references = ()
    if available_versions and draw(st.booleans()):
        subject, version = draw(st.sampled_from(available_versions))
        named = subject.name if draw(st.booleans()) else str(subject)
        references = (Reference("other.json", named, version),)
    return TransferredSchema(
        context,
        schema_id,
        kind,
        text,
        references,
        draw(METADATA),
        draw(RULES),
        created_at=draw(MILLISECONDS),
        submitted=draw(st.sampled_from([None, " " + text])),
    )


def _add_version(draw: st.DrawFn, snapshot: RegistryContents, schema: TransferredSchema, number: int) -> None:
    subject = Subject(schema.context, NAMES[(schema.id + number) % len(NAMES)])
    highest = max((version_number for holder, version_number in snapshot.versions if holder == subject), default=0)
    created = draw(MILLISECONDS)
    version = TransferredVersion(
        subject,
        highest + draw(st.integers(1, 2)),  # numbers may be missing after hard deletions
        schema.id,
        created,
        draw(st.none() | MILLISECONDS),
    )
    snapshot.versions[version.key] = version


def _content_key(schema: TransferredSchema) -> tuple[Any, ...]:
    """Return a key that two schemas share if they have the same content, however they are spelled."""
    text = schema.text
    if schema.type is not SchemaType.PROTOBUF and text == '{"type": "string"}':
        text = '"string"'
    bodies = [
        json.dumps(body.body(), sort_keys=True) if body else str(body) for body in (schema.metadata, schema.rule_set)
    ]
    return schema.context, schema.type, text, schema.references, *bodies
