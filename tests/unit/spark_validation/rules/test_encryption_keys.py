"""Audits give ``UNDECRYPTABLE`` to records whose KEK or DEK was deleted, and to no others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.settings import Security
from contractlog.compatibility.data_contract import Rule, RuleSet
from contractlog.compatibility.schema import SchemaDraft
from contractlog.contracts.audit.mergeable_state import AuditState, merge_states
from contractlog.contracts.audit.report import TopicPart
from contractlog.contracts.audit.summary import summarize
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings
from contractlog.serdes.avro import AvroSerializer
from contractlog.serdes.context import SerializationContext
from contractlog.serdes.rules import RuleRegistry
from contractlog.serdes.rules.cel import CelExecutor
from contractlog.serdes.rules.encryption import EncryptionExecutor, FieldEncryptionExecutor
from contractlog.spark_validation.expectations.expectation_builder import ExpectationBuilder
from contractlog.spark_validation.offset_ranges.audit import audit_range
from contractlog.spark_validation.rules.checked_validators import describe_rules
from contractlog.spark_validation.rules.encryption_keys import RuleKeys, lack_same_versions
from contractlog.spark_validation.sources.source import ArchiveSource

from support.archives import Record, encode_frame, write_topic
from support.encryption_rules import PARAMETERS, SetClock

SUBJECT = "t-value"
PASSWORD = "password"  # noqa: S105
SECRET = "the planted secret 4711"  # noqa: S105
TEXT = json.dumps(
    {
        "type": "record",
        "name": "Customer",
        "fields": [
            {"name": "number", "type": "long"},
            {"name": "email", "type": ["null", "string"], "confluent:tags": ["PII"]},
            {"name": "scan", "type": ["null", "bytes"], "confluent:tags": ["PII"]},
        ],
    }
)
VALUES = [
    {"number": 1, "email": "a@b.example", "scan": None},
    {"number": 2, "email": None, "scan": None},
    {"number": 3, "email": None, "scan": b"scan"},
]


class Log:
    """A registry, and a topic with records that serializers encrypted."""

    schema_id = 0

    def __init__(self, registry: Registry, folder: Path) -> None:
        self.registry = registry
        self.folder = folder
        self.records: list[Record] = []

    def write(self, rule_type: str = "ENCRYPT", days: float = 0, **parameters: str) -> None:
        """Register the schema with a rule, and write the values when the first key has this age."""
        tags = ("PII",) if rule_type == "ENCRYPT" else ()
        rule = Rule("secret", type=rule_type, tags=tags, params=PARAMETERS | parameters)
        positive = Rule("positive", kind="CONDITION", mode="WRITE", type="CEL", expr="message.number > 0")
        rules = RuleSet(domain_rules=(positive, rule)) if tags else RuleSet(encoding_rules=(rule,))
        self.schema_id = int(self.registry.register(SUBJECT, SchemaDraft(TEXT, rule_set=rules)).schema_id)
        executors, clock = RuleRegistry(), SetClock(days)
        executors.register_executor(CelExecutor())
        executors.register_executor(FieldEncryptionExecutor(clock, registry=self.registry))
        executors.register_executor(EncryptionExecutor(clock, registry=self.registry))
        conf = {"auto.register.schemas": False, "use.latest.version": True}
        serializer = AvroSerializer(self.registry, conf=conf, rule_conf={"secret": SECRET}, rule_registry=executors)
        for value in VALUES:
            self.add(serializer(value, SerializationContext("t", "value")))

    def add(self, content: bytes | None) -> None:
        """Append a record."""
        self.records.append(Record(len(self.records), value=content))

    def audit(self) -> tuple[AuditState, TopicPart]:
        """Audit the topic."""
        write_topic(self.folder, "t", self.records)
        source = ArchiveSource(self.folder)
        expectations = ExpectationBuilder(self.registry, source, source.plan(())).build()
        state = merge_states(audit_range(source, each, expectations) for each in source.plan(()))
        entries = summarize(
            state,
            expectations.uses,
            notes=expectations.notes(),
            rules=describe_rules(expectations.schemas, expectations.schemas),
        )
        return state, next(entry for entry in entries if entry["part"] == "value")

    def codes(self) -> dict[str, int]:
        """Return the violating records by code."""
        codes: Counter[str] = Counter()
        for line in self.audit()[1]["violations"]:
            codes[line["code"]] += line["records"]
        return dict(codes)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    app = create_app(Settings(database_url="sqlite://"))
    with Registry(app=app) as registry:
        yield Log(registry, tmp_path / "archive")
    app.state.close()


def shred(registry: Registry, *, hard: bool = False) -> None:
    """Delete the DEKs and the KEK."""
    for permanent in (False, True) if hard else (False,):
        registry.delete_dek("pii", SUBJECT, permanent=permanent)
        registry.delete_kek("pii", permanent=permanent)


def test_records_pass_as_long_as_their_keys_exist(log: Log) -> None:
    log.write()
    _, entry = log.audit()
    assert (entry["conforming"], entry["violating"], entry["verdict"]) == (3, 0, "passing")
    use = entry["rules"][1]
    assert (use["rule"], use["reason"], use["records"], use["broken"]) == ("secret", "", 3, 0)
    assert use["sentence"] == "fields with the tags `PII` can be decrypted with a key under the KEK `pii`"
    log.registry.delete_dek("pii", SUBJECT)  # soft-deleted: consumers still decrypt with it
    assert log.codes() == {}


@pytest.mark.parametrize("hard", [False, True])
def test_a_deleted_kek_makes_the_records_with_encrypted_values_undecryptable(log: Log, *, hard: bool) -> None:
    log.write()
    log.add(encode_frame(log.schema_id, b"\x00\x02\x02x\x00"))  # breaks the condition, too
    shred(log.registry, hard=hard)
    state, entry = log.audit()
    codes = {(line["code"], line["field"]): line for line in entry["violations"]}
    assert {key: line["records"] for key, line in codes.items()} == {
        ("UNDECRYPTABLE", "email"): 2,
        ("UNDECRYPTABLE", "scan"): 1,
    }
    line = codes["UNDECRYPTABLE", "scan"]
    assert line["detail"] == "rule `secret`: the KEK `pii`, or the DEK that encrypted the value, was deleted"
    assert line["path"] == "/ruleSet/domainRules/1"
    assert entry["conforming"] == 1  # it has no encrypted value
    assert {use["rule"]: use["broken"] for use in entry["rules"]} == {"positive": 1, "secret": 3}
    assert SECRET not in repr(state) + json.dumps(entry)
    if not hard:
        log.registry.undelete_kek("pii")
        log.registry.undelete_dek("pii", SUBJECT)
        assert log.codes() == {"RULE_BROKEN": 1}


def test_only_values_of_a_deleted_version_are_undecryptable(log: Log) -> None:
    log.write(**{"encrypt.dek.expiry.days": "1"})
    log.write(days=2, **{"encrypt.dek.expiry.days": "1"})
    assert log.registry.dek_versions("pii", SUBJECT)[:2] == [1, 2]
    assert log.codes() == {}
    for permanent in (False, True):
        log.registry.delete_dek_version("pii", SUBJECT, 1, permanent=permanent)
    _, entry = log.audit()
    assert {example["offset"] for line in entry["violations"] for example in line["examples"]} == {0, 2}


def test_encrypted_bodies_are_not_decoded(log: Log) -> None:
    log.write("ENCRYPT_PAYLOAD")
    _, entry = log.audit()
    assert (entry["conforming"], entry["violating"], entry["unaudited"]) == (0, 0, 3)
    assert entry["verdict"] == "unknown"
    assert "The bodies of 3 records are encrypted, so they are not audited (`ENCRYPTED`)." in entry["notes"]
    shred(log.registry)
    assert log.codes() == {"UNDECRYPTABLE": 3}


@pytest.mark.parametrize("permanent", [False, True])
def test_encrypted_bodies_of_a_deleted_version_are_undecryptable(log: Log, *, permanent: bool) -> None:
    log.write("ENCRYPT_PAYLOAD", **{"encrypt.dek.expiry.days": "1"})
    for hard in (False, True) if permanent else (False,):
        log.registry.delete_dek_version("pii", SUBJECT, 1, permanent=hard)
    log.add(encode_frame(log.schema_id, b"\x00\x00"))  # has no version
    assert log.codes() == ({"UNDECRYPTABLE": 3} if permanent else {})


def test_keys_that_the_audit_may_not_read_decide_nothing(tmp_path: Path) -> None:
    users, password = tmp_path / "users.toml", HashedPassword.of(PASSWORD, n=2, r=1, p=1)
    entries = [
        format_entry("admin", password, [], ["*"], write_keys=["*"]),
        format_entry("auditor", password, ["*"], []),
    ]
    users.write_text("\n".join(entries))
    app = create_app(Settings(database_url="sqlite://", users_file=str(users)))
    with (
        Registry(app=app, security=Security(user="admin", password=PASSWORD)) as admin,
        Registry(app=app, security=Security(user="auditor", password=PASSWORD)) as auditor,
    ):
        log = Log(admin, tmp_path / "archive")
        log.write()
        shred(admin)
        assert log.codes() == {"UNDECRYPTABLE": 2}
        log.registry = auditor
        _, entry = log.audit()
    app.state.close()
    assert (entry["violating"], entry["conforming"]) == (0, 3)
    reason = "the registry does not permit this user to read its keys (`read_keys`)"
    assert entry["rules"][1]["reason"] == reason
    assert f"Rule `secret` of schema id 1 is not evaluated: {reason}." in entry["notes"]


KEYS = RuleKeys("pii", versioned=True, versions={"t-value": frozenset({1, 2, 3})})


@pytest.mark.parametrize(
    ("versions", "same"), [({1, 2, 3, 4, 9}, True), ({1, 3, 4}, False), ({1, 2}, False), (set(), False)]
)
def test_versions_that_are_new_change_nothing_for_records_audited_before(*, versions: set[int], same: bool) -> None:
    now = RuleKeys("pii", versioned=True, versions={"t-value": frozenset(versions)})
    assert lack_same_versions(json.loads(json.dumps(KEYS.body())), now.body()) is same


def test_a_key_that_exists_again_changes_the_records_audited_before() -> None:
    none = RuleKeys("pii", versions={"t-value": frozenset()})
    assert lack_same_versions(none.body(), none.body())
    assert not lack_same_versions(none.body(), KEYS.body())
    assert not lack_same_versions({}, KEYS.body())
    assert not lack_same_versions(KEYS.body(), RuleKeys("pii", reason="denied").body())
