"""Records of a ``_schemas`` topic are applied as by the reference.

Bytes are written out by hand; the comments name the sections of the facts on the reference that they come from.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.content_identity import compute_guid
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.identifiers import Subject
from contractlog.registry.transfer import topic_source
from contractlog.registry.transfer.config_columns import CONTRACTLOG_CONFIG_NAMES
from contractlog.registry.transfer.database_access import read_database
from contractlog.registry.transfer.importer import import_contents
from contractlog.registry.transfer.registry_contents import Deletions, RegistryContents
from contractlog.registry.transfer.report import OddityKind, TransferReport
from contractlog.registry.transfer.topic_records import KeyType, LogRecord, build_records
from contractlog.registry.transfer.topic_source import TopicReplay

from support.snapshots import empty_store, snapshots

A, B = '"int"', '"long"'
MEMBERS = ["keytype", "subject", "version", "magic", "id", "schema", "deleted", "mode"]


def key(subject: str, version: int) -> bytes:
    """11.1: the key of a schema since 5.3, magic 1."""
    return f'{{"keytype":"SCHEMA","subject":"{subject}","version":{version},"magic":1}}'.encode()


def value(subject: str, version: int, schema_id: int, text: str, **members: Any) -> bytes:
    """11.2: members in this order; ``deleted`` is always there."""
    body = {"subject": subject, "version": version, "id": schema_id, **members, "schema": text}
    return json.dumps({"deleted": False} | body, separators=(",", ":"), ensure_ascii=False).encode()


def put(subject: str, version: int, schema_id: int, text: str, **members: Any) -> tuple[bytes, bytes]:
    return key(subject, version), value(subject, version, schema_id, text, **members)


Raw = tuple[bytes | None, bytes | None]


def replayed(records: Iterable[LogRecord], report: TransferReport) -> RegistryContents:
    applied = TopicReplay(report)
    for record in records:
        applied.apply(record)
    applied.conclude()
    return applied.copy_contents()


def replay(*raw: Raw) -> tuple[RegistryContents, TransferReport]:
    report = TransferReport()
    records = [LogRecord(offset, 1_000 + offset, *pair) for offset, pair in enumerate(raw)]
    return replayed(records, report), report


def shown(state: RegistryContents) -> dict[str, tuple[int, bool]]:
    """Each version with its id, and whether it is live."""
    return {f"{s}/{v}": (one.schema_id, one.deleted_at is None) for (s, v), one in sorted(state.versions.items())}


def oddities(report: TransferReport) -> Counter[OddityKind]:
    return Counter(oddity.kind for oddity in report.oddities)


# 11.1: members in today's order (5.3 and later); before 5.3 the order annotation did not work; magic 0 up to 3.2.
KEY_FORMS = [
    b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}',
    b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":0}',
    b'{"subject":"s","version":1,"magic":0,"keytype":"SCHEMA"}',
    b'{"subject":"s","version":1,"magic":1,"keytype":"SCHEMA"}',  # Karapace's fallback too, 11.6
]


@pytest.mark.parametrize("form", KEY_FORMS)
@pytest.mark.parametrize("other", KEY_FORMS)
def test_a_key_is_what_it_means_whatever_its_bytes(form: bytes, other: bytes) -> None:
    first, second = value("s", 1, 1, A), value("s", 1, 1, A, deleted=True)
    assert shown(replay((form, first), (other, second))[0]) == {"s/1": (1, False)}
    assert shown(replay((form, first), (other, None))[0]) == {}


def test_another_magic_is_skipped() -> None:  # 11.1: the reader accepts 0 and 1, skips others
    state, report = replay((key("s", 1).replace(b'"magic":1', b'"magic":2'), value("s", 1, 1, A)))
    assert (shown(state), oddities(report)) == ({}, {OddityKind.BAD_RECORD: 1})


def test_subjects_are_qualified_but_in_the_default_context() -> None:  # 11.1
    state, _ = replay(put("s", 1, 1, A), put(":.eu:s", 1, 1, B))
    assert shown(state) == {"s/1": (1, True), ":.eu:s/1": (1, True)}
    assert state.contexts == {".": 2, ".eu": 2}


# 11.1: no subject is the default context; null is written out before 6.2 and by Karapace; later offsets win.
@pytest.mark.parametrize(
    ("config_key", "scope"),
    [
        (b'{"keytype":"CONFIG","magic":0}', Subject(".", "")),
        (b'{"keytype":"CONFIG","subject":null,"magic":0}', Subject(".", "")),
        (b'{"subject":null,"magic":0,"keytype":"CONFIG"}', Subject(".", "")),
        (b'{"keytype":"CONFIG","subject":":.eu:","magic":0}', Subject(".eu", "")),
        (b'{"keytype":"CONFIG","subject":":.__GLOBAL:","magic":0}', Subject(".__GLOBAL", "")),
        (b'{"keytype":"CONFIG","subject":":.eu:s","magic":0}', Subject(".eu", "s")),
    ],
)
def test_settings_are_put_replaced_and_removed(config_key: bytes, scope: Subject) -> None:
    before = (b'{"keytype":"CONFIG","subject":"other","magic":0}', b'{"compatibilityLevel":"NONE"}')
    put_config = (config_key, b'{"alias":"a","normalize":true,"compatibilityLevel":"FULL"}')
    state, _ = replay(before, put_config)
    assert state.settings[scope] == {"alias": "a", "normalize": True, "compatibilityLevel": "FULL"}
    # 11.2: the record is the full state, not a patch
    state, _ = replay(put_config, (config_key, b'{"compatibilityLevel":"NONE"}'))
    assert state.settings == {scope: {"compatibilityLevel": "NONE"}}
    state, _ = replay(put_config, (config_key, None))
    assert state.settings == {}
    assert state.deletions.settings == {scope}


def test_every_member_of_a_config_is_kept() -> None:  # 11.2
    members = {
        "subject": "s",
        "alias": "a",
        "aliasForDeks": "b",
        "normalize": True,
        "validateFields": True,
        "validateNewSchemas": False,
        "validateRules": True,
        "compatibilityLevel": "FULL_TRANSITIVE",
        "compatibilityPolicy": "LENIENT",
        "compatibilityGroup": "g",
        "defaultMetadata": {"properties": {"o": "x"}},
        "overrideMetadata": {"tags": {"p": ["T"]}},
        "defaultRuleSet": {"domainRules": [RULE]},
        "overrideRuleSet": {"migrationRules": [RULE], "enableAt": "ALL"},
    }
    state, report = replay((b'{"keytype":"CONFIG","subject":"s","magic":0}', json.dumps(members).encode()))
    assert state.settings[Subject(".", "s")] == {name: one for name, one in members.items() if name != "subject"}
    assert report.oddities == []


RULE = {"name": "r", "kind": "CONDITION", "mode": "WRITEREAD", "type": "CEL", "expr": "true", "disabled": False}


@pytest.mark.parametrize("mode", ["READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD"])
def test_modes_are_kept(mode: str) -> None:  # 11.2
    raw = (b'{"keytype":"MODE","subject":"s","magic":0}', json.dumps({"subject": "s", "mode": mode}).encode())
    assert replay(raw)[0].modes == {Subject(".", "s"): mode}
    assert replay(raw, (raw[0], None))[0].modes == {}


def test_every_member_of_a_schema_is_kept() -> None:  # 11.2
    members = {
        "schemaType": "JSON",
        "references": [{"name": "n", "subject": "t", "version": 2}],
        "metadata": {"tags": {"p": ["T"]}, "properties": {"o": "x"}, "sensitive": ["o"]},
        "ruleSet": {"migrationRules": [RULE | {"mode": "UPDOWN"}], "encodingRules": [RULE], "enableAt": "CLIENT"},
    }
    state, report = replay(put("s", 3, 7, "{}", **members))
    schema = state.schemas[".", 7]
    assert schema.type.value == "JSON"
    assert [one.body() for one in schema.references] == members["references"]
    assert schema.metadata is not None
    assert schema.metadata.body() == members["metadata"]
    assert schema.rule_set is not None
    assert schema.rule_set.body() == members["ruleSet"]
    assert (schema.guid, schema.created_at, report.oddities) == (None, 1_000, [])


def test_offset_and_ts_of_a_value_are_ignored_for_the_records_own() -> None:  # 11.2
    state, _ = replay(put("s", 1, 1, A, offset=99, ts=42))
    assert state.versions[Subject(".", "s"), 1].created_at == 1_000


def test_encrypted_metadata_is_opaque_and_its_guid_is_the_one_it_carries() -> None:  # 11.2: md5, only when encrypted
    metadata = {"properties": {"__enc__": "true", "key": "AAAA"}, "sensitive": ["key"]}
    state, report = replay(put("s", 1, 1, A, md5="CV1xzxJVa51eMwrVdbPfXQ==", metadata=metadata))
    assert state.schemas[".", 1].guid == "095d71cf-1255-6b9d-5e33-0ad575b3df5d"
    assert oddities(report) == {OddityKind.ENCRYPTED: 1}


def test_deleting_a_subject_does_not_delete_later_versions() -> None:  # 11.3, 3
    deletion = (b'{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}', b'{"subject":"s","version":2}')
    state, _ = replay(put("s", 1, 1, A), put("s", 2, 2, B), put("s", 3, 3, '"string"'), deletion)
    assert shown(state) == {"s/1": (1, False), "s/2": (2, False), "s/3": (3, True)}
    # deleted, deleted for good, made again from 1: live
    state, _ = replay(put("s", 1, 1, A), deletion, (key("s", 1), None), put("s", 1, 2, B))
    assert shown(state) == {"s/1": (2, True)}
    # 11.6: Karapace deletes an empty subject up to version -1
    assert shown(replay((deletion[0], b'{"subject":"s","version":-1}'), put("s", 1, 1, A))[0]) == {"s/1": (1, True)}


def test_a_version_comes_back_by_a_record_that_says_so() -> None:  # 11.3, 2
    state, _ = replay(put("s", 1, 1, A), put("s", 1, 1, A, deleted=True), put("s", 1, 1, A))
    assert shown(state) == {"s/1": (1, True)}


# 11.3, 4: a subject, a context, every context
@pytest.mark.parametrize(
    ("scope", "left"),
    [
        ("s", {"s/2": (2, True), ":.eu:t/1": (1, False)}),
        (":.eu:", {"s/1": (1, False), "s/2": (2, True)}),
        (":.__GLOBAL:", {"s/2": (2, True)}),
        (None, {"s/2": (2, True)}),
    ],
)
def test_clearing_removes_what_is_soft_deleted(scope: str | None, left: dict[str, tuple[int, bool]]) -> None:
    held = [put("s", 1, 1, A, deleted=True), put("s", 2, 2, B), put(":.eu:t", 1, 1, A, deleted=True)]
    body = {} if scope is None else {"subject": scope}
    clear = (json.dumps({"keytype": "CLEAR_SUBJECT", **body, "magic": 0}).encode(), json.dumps(body).encode())
    assert shown(replay(*held, clear)[0]) == left


def test_contexts_come_from_their_records_and_from_subjects() -> None:  # 11.1, 11.3, 5
    context = b'{"keytype":"CONTEXT","tenant":"default","context":".eu","magic":0}'
    body = b'{"tenant":"default","context":".eu"}'
    assert replay((context, body), put(":.us:s", 1, 4, A))[0].contexts == {".eu": 1, ".us": 5}
    assert replay((context, body), (context, None))[0].contexts == {}


def test_associations_are_put_and_removed() -> None:  # 11.1, 11.2: createTs is what the first record's time says
    names = {
        "resourceName": "orders",
        "resourceNamespace": "lkc-1",
        "resourceType": "topic",
        "associationType": "value",
        "subject": ":.lkc-1:orders-value",
    }
    association_key = json.dumps({"keytype": "ASSOC", "tenant": "default", **names, "magic": 0}).encode()
    body = names | {"guid": "095d71cf-1255-6b9d-5e33-0ad575b3df5d", "tenant": "default", "resourceId": "id-1"}
    first = json.dumps(body | {"lifecycle": "WEAK", "frozen": False, "createTs": 5}).encode()
    second = json.dumps(body | {"lifecycle": "STRONG", "frozen": True, "createTs": 6}).encode()
    state, report = replay((association_key, first), (association_key, second))
    (one,) = state.associations.values()
    assert (one.lifecycle, one.frozen, one.created_at, one.updated_at) == ("STRONG", True, 1_000, 1_001)
    assert (one.subject, report.oddities) == (Subject(".lkc-1", "orders-value"), [])
    assert replay((association_key, first), (association_key, None))[0].associations == {}


def test_records_that_the_reference_skips_or_fails_on_are_skipped_and_counted() -> None:  # 11.3, 8
    state, report = replay(
        (b'{"keytype":"NOOP","magic":0}', None),
        (None, b"{}"),
        (b"{}", b"{}"),
        (b"no json", b"{}"),
        (b'{"keytype":"EXPORTER","magic":0}', b"{}"),
        (key("s", 1), b"no json"),
        (key("s", 2), b'{"subject":"s","version":2,"id":"x","schema":"1"}'),
        (b'{"keytype":"SCHEMA","version":1,"magic":1}', value("", 1, 9, A)),  # 11.1: the empty subject
        put("t", 1, 1, A, unknown={"member": 1}),
    )
    assert shown(state) == {"t/1": (1, True)}
    assert oddities(report) == {OddityKind.BAD_RECORD: 5, OddityKind.UNKNOWN_KEYTYPE: 1, OddityKind.EMPTY_SUBJECT: 1}
    assert report.read["NOOP records"] == 1


def test_the_first_text_of_an_id_in_log_order_owns_it_and_the_rest_are_listed_by_offset() -> None:  # 11.4
    state, report = replay(put("s", 1, 1, A), put("t", 1, 1, B), put("u", 1, 1, A), put("s", 1, 1, B))
    assert shown(state) == {"s/1": (1, True), "u/1": (1, True)}
    assert state.schemas[".", 1].text == A
    assert [oddity.where for oddity in report.oddities] == ["offset 1", "offset 3"]
    assert oddities(report) == {OddityKind.ID_CONFLICT: 2}


def test_one_id_with_two_contents_shows_the_first_and_says_so() -> None:  # 11.4: same text, other metadata
    state, report = replay(put("s", 1, 1, A), put("t", 1, 1, A, metadata={"properties": {"a": "b"}}))
    assert shown(state) == {"s/1": (1, True), "t/1": (1, True)}
    assert state.schemas[".", 1].metadata is None
    assert oddities(report) == {OddityKind.SECOND_CONTENT: 1}


def test_of_several_ids_of_one_content_the_one_applied_last_is_reused() -> None:  # 11.3, 7 and 12.1
    state, _ = replay(put("s", 1, 5, A), put("t", 1, 3, A))
    assert [(one.id, one.reused) for one in state.schemas.values()] == [(5, False), (3, True)]


def test_a_version_written_again_with_another_id_has_that_id() -> None:  # 11.4
    state, report = replay(put("s", 1, 1, A), put("s", 1, 2, B))
    assert shown(state) == {"s/1": (2, True)}
    assert set(state.retired) == {(".", 1)}
    assert oddities(report) == {OddityKind.REWRITTEN: 1}


def test_an_id_that_nobody_holds_any_more_is_retired_and_counted() -> None:  # 11.3, 6
    state, _ = replay(put("s", 1, 1, A), put("s", 2, 9, B), put("s", 2, 9, B, deleted=True), (key("s", 2), None))
    assert state.contexts == {".": 10}
    assert set(state.retired) == {(".", 9)}
    assert state.deletions.versions == {(Subject(".", "s"), 2, 9)}


def test_an_id_given_out_again_stands_for_the_later_text() -> None:  # 2.2, 5: after compaction and a restart
    state, report = replay(put("s", 1, 1, A), (key("s", 1), None), put("s", 1, 1, B))
    assert (state.schemas[".", 1].text, state.retired) == (B, {})
    assert oddities(report) == {OddityKind.REISSUED: 1}


def test_keys_of_an_old_form_without_a_new_one_are_reported() -> None:  # 11.5
    old = b'{"subject":"s","version":1,"magic":1,"keytype":"SCHEMA"}'
    state, report = replay((old, value("s", 1, 1, A)), put("t", 1, 2, B))
    assert shown(state) == {"s/1": (1, True), "t/1": (2, True)}
    assert [(one.kind, one.where) for one in report.oddities] == [(OddityKind.OLD_KEY_FORM, "offset 0")]
    assert replay((old, value("s", 1, 1, A)))[1].oddities == []  # all of a log in one form is nothing odd


def test_leftovers_of_a_compaction_are_normal() -> None:  # 11.5
    state, report = replay(
        (b'{"keytype":"DELETE_SUBJECT","subject":"gone","magic":0}', b'{"subject":"gone","version":4}'),
        (b'{"keytype":"CLEAR_SUBJECT","subject":"gone","magic":0}', b'{"subject":"gone"}'),
        (b'{"keytype":"CONFIG","subject":"gone","magic":0}', b'{"compatibilityLevel":"NONE"}'),
        (key("gone", 2), None),
        put("s", 4, 8, A, deleted=True),
    )
    assert (shown(state), report.oddities) == ({"s/4": (8, False)}, [])


@pytest.mark.parametrize("nothing", [b"", b"null", b'""'])
def test_an_empty_value_deletes_as_in_karapace(nothing: bytes) -> None:  # 11.6
    state, report = replay(put("s", 1, 1, A, deleted=True), (key("s", 1), nothing))
    assert (shown(state), set(state.retired)) == ({}, {(".", 1)})
    assert oddities(report) == {OddityKind.ZERO_LENGTH: 1}


def test_karapace_escapes_what_is_not_ascii_and_leaves_out_deleted() -> None:  # 11.6
    escaped = rb'{"keytype":"SCHEMA","subject":"caf\u00e9","version":1,"magic":1}'
    body = rb'{"subject":"caf\u00e9","version":1,"id":1,"schema":"\"int\""}'
    assert shown(replay((escaped, body))[0]) == {"café/1": (1, True)}


def test_karapace_subjects_that_look_like_another_context_are_reported() -> None:  # 11.6: it has no contexts
    report = TransferReport()
    one = LogRecord(0, 1, *put(":.eu:s", 1, 1, A), headed=True)
    assert shown(replayed([one], report)) == {":.eu:s/1": (1, True)}
    assert oddities(report) == {OddityKind.QUALIFIED_IN_KARAPACE: 1}


def test_subjects_that_no_plain_name_means_are_left_out_and_counted() -> None:
    state, report = replay(put(":.::.eu:s", 1, 1, A), put(":*:s", 1, 2, B), put(":.eu:s", 1, 3, A))
    assert shown(state) == {":.eu:s/1": (3, True)}
    assert oddities(report) == {OddityKind.NO_NAME: 2}


def test_records_may_come_in_parts() -> None:
    replay_ = TopicReplay(TransferReport())
    replay_.apply(LogRecord(0, 1, *put("s", 1, 1, A)))
    before = replay_.copy_contents()
    replay_.apply(LogRecord(1, 2, *put("s", 2, 2, B)))
    replay_.apply(LogRecord(2, 3, key("s", 1), None))
    change = replay_.copy_contents().changes_since(before)
    assert shown(change) == {"s/2": (2, True)}
    assert change.deletions.versions == {(Subject(".", "s"), 1, 1)}


@settings(max_examples=20, deadline=None)
@given(state=snapshots())
def test_a_picture_written_as_a_log_and_read_again_is_that_picture(state: RegistryContents) -> None:
    report = TransferReport()
    raw = [LogRecord(n, ts, k, v) for n, (k, v, ts) in enumerate(build_records(state, report, 77))]
    again = replayed(raw, TransferReport())
    assert again.versions == state.versions
    assert {key: _expressible(one) for key, one in again.schemas.items()} == {
        key: _expressible(one) for key, one in state.schemas.items()
    }
    expected = {s: {n: v for n, v in c.items() if n not in CONTRACTLOG_CONFIG_NAMES} for s, c in state.settings.items()}
    assert again.settings == {scope: config for scope, config in expected.items() if config}
    assert again.modes == state.modes
    assert {g: replace(a, created_at=a.updated_at) for g, a in state.associations.items()} == again.associations
    assert again.deletions == Deletions()


def _expressible(schema: Any) -> Any:
    """Times of a schema are those of its first version; empty metadata is none; which id is reused is not written."""
    metadata, rule_set = schema.metadata, schema.rule_set
    return replace(
        schema,
        guid=schema.guid or compute_guid(schema.text, schema.references, metadata, rule_set),
        metadata=metadata if metadata and metadata.body() else None,
        rule_set=rule_set if rule_set and rule_set.body() else None,
        created_at=None,
        submitted=None,
        reused=True,
    )


RAW = st.one_of(
    st.none(),
    st.binary(max_size=20),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=6),
        max_leaves=12,
    ).map(lambda body: json.dumps(body).encode()),
)
KEYS = st.one_of(
    RAW,
    st.fixed_dictionaries(
        {"keytype": st.sampled_from([*KeyType, "OTHER"]), "magic": st.sampled_from([0, 1, 2, "x"])},
        optional={
            "subject": st.sampled_from(["s", ":.eu:", ":.eu:s", "", None, 5]),
            "version": st.sampled_from([1, 2, 0, -1, 2**40, "1", True]),
            "context": st.sampled_from([".eu", "", 3]),
        },
    ).map(lambda body: json.dumps(body).encode()),
)
VALUES = st.one_of(
    RAW,
    st.fixed_dictionaries(
        {},
        optional={
            "subject": st.sampled_from(["s", ":.eu:s", None, 5]),
            "version": st.sampled_from([1, 2, -1, "x"]),
            "id": st.sampled_from([1, 2, 2**31, -1, True, "1"]),
            "schema": st.sampled_from([A, B, "\0", "\ud800", None, 5]),
            "schemaType": st.sampled_from(["AVRO", "JSON", "XML", 5]),
            "deleted": st.booleans(),
            "references": st.sampled_from([[], [{}], [5], 5, [{"name": "n", "subject": "s", "version": 1}]]),
            "metadata": st.sampled_from([{}, 5, {"tags": 5}, {"properties": {"a": "b"}}]),
            "ruleSet": st.sampled_from([{}, 5, {"domainRules": [5]}]),
            "md5": st.sampled_from(["x", 5, "CV1xzxJVa51eMwrVdbPfXQ=="]),
            "mode": st.sampled_from(["READONLY", "x", 5]),
            "compatibilityLevel": st.sampled_from(["FULL", "x", 5]),
            "defaultMetadata": st.sampled_from([5, {"tags": {"a": 5}}]),
            "guid": st.sampled_from(["x", 5, "095d71cf-1255-6b9d-5e33-0ad575b3df5d"]),
        },
    ).map(lambda body: json.dumps(body).encode()),
)


@settings(max_examples=40, deadline=None)
@given(raw=st.lists(st.tuples(KEYS, VALUES), max_size=8))
def test_no_record_stops_a_replay_and_what_comes_out_can_be_stored(raw: list[Raw]) -> None:
    state, report = replay(*raw)
    assert all(version.schema in state.schemas for version in state.versions.values())
    assert not state.retired.keys() & {version.schema for version in state.versions.values()}
    with empty_store() as store:
        import_contents(store, state, report)
        assert report.conflicts == []
        with store.open_snapshot() as snapshot:
            stored = read_database(snapshot)
    assert stored.versions.keys() == state.versions.keys()
    assert stored.contexts.items() >= state.contexts.items()


def test_records_that_do_not_fit_into_memory_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_source, "_MAX_MEMORY", 100_000)
    endless = TopicReplay(TransferReport())

    def apply_all() -> None:
        for offset in range(1_000):
            endless.apply(LogRecord(offset, 0, b'{"keytype":"NOOP","magic":0}', b"x" * 1_000))

    with pytest.raises(UsageError, match="the limit of an import"):
        apply_all()
