"""Table definitions; ``migrations/`` creates the same ones, and a test compares the two."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    false,
    text,
)

from contractlog.compatibility.content_identity import CANONICAL_FORM

__all__ = [
    "associations",
    "audit_summaries",
    "change_log_counters",
    "change_request_approvals",
    "change_request_comments",
    "change_requests",
    "changes",
    "conformance",
    "contents",
    "contexts",
    "contracts",
    "deks",
    "fetches",
    "keks",
    "lineage_edges",
    "marks",
    "metadata",
    "retired",
    "schema_references",
    "schemas",
    "search_terms",
    "settings",
    "subjects",
    "versions",
    "waivers",
    "webhook_positions",
]

NAMING: Final = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

metadata: Final = MetaData(naming_convention=NAMING)

# SQLite generates numbers for INTEGER keys only; PostgreSQL needs the range of BIGINT.
_number = BigInteger().with_variant(Integer, "sqlite")

#: Every write locks the row ``.`` first. A deleted context keeps its row; its counter only grows, unless an operator
#: lowers it (``db lower-ids``): new ids skip those in ``schemas`` and ``retired``.
contexts: Final = Table(
    "contexts",
    metadata,
    Column("name", String(255), primary_key=True),
    Column("next_schema_id", BigInteger, nullable=False),
    Column("deleted_at", BigInteger),  # null: listed; a new version lists the context again
)

#: ``key`` is a hash of context and name, because names may be too long for an index.
#: ``revision`` grows with every change of the versions: checks that were made at a revision apply until it changes.
subjects: Final = Table(
    "subjects",
    metadata,
    Column("id", _number, primary_key=True),
    Column("key", String(64), nullable=False, unique=True),
    Column("context", String(255), nullable=False),
    Column("name", Text, nullable=False),
    Column("revision", BigInteger, nullable=False),
)

#: Rows are never updated, except ``hash``, ``normalized_hash`` and ``canonical_form`` when a release changes the
#: canonical form. ``submitted`` is null if it equals ``text``; ``verbatim`` texts were imported, cannot be parsed by
#: this release, and are served unchanged.
schemas: Final = Table(
    "schemas",
    metadata,
    Column("context", String(255), primary_key=True),
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("hash", String(64), nullable=False),
    Column("normalized_hash", String(64), nullable=False),
    Column("canonical_form", Integer, nullable=False, default=CANONICAL_FORM, server_default=text("1")),
    Column("verbatim", Boolean, nullable=False, server_default=false()),
    Column("guid", String(36), nullable=False, index=True),
    Column("type", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("submitted", Text),
    Column("references", Text),
    Column("metadata", Text),
    Column("rule_set", Text),
    Column("created_at", BigInteger, nullable=False),
    Index("ix_schemas_context_hash", "context", "hash"),
    Index("ix_schemas_context_normalized_hash", "context", "normalized_hash"),
)

#: The id that new registrations of a content get.
contents: Final = Table(
    "contents",
    metadata,
    Column("context", String(255), primary_key=True),
    Column("hash", String(64), primary_key=True),
    Column("schema_id", BigInteger, nullable=False),
    Index("ix_contents_context_schema_id", "context", "schema_id"),
)

#: Hard-deleted ids: lookups respond with 40403. They belong to their content forever (``hash``, if it was recorded): an
#: import may restore that content under them, and no other.
retired: Final = Table(
    "retired",
    metadata,
    Column("context", String(255), primary_key=True),
    Column("schema_id", BigInteger, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
    Column("hash", String(64)),
)

versions: Final = Table(
    "versions",
    metadata,
    Column("subject_id", _number, ForeignKey("subjects.id"), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("context", String(255), nullable=False),
    Column("schema_id", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("deleted_at", BigInteger),  # null: live
    Index("ix_versions_context_schema_id", "context", "schema_id"),
)

schema_references: Final = Table(
    "schema_references",
    metadata,
    Column("context", String(255), primary_key=True),
    Column("schema_id", BigInteger, primary_key=True, autoincrement=False),
    Column("target_subject_id", _number, ForeignKey("subjects.id"), primary_key=True),
    Column("target_version", Integer, primary_key=True, autoincrement=False),
    Index("ix_schema_references_target", "target_subject_id", "target_version"),
)

#: A scope is a subject, or a context (with an empty name); null means inherit.
settings: Final = Table(
    "settings",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("context", String(255), nullable=False),
    Column("name", Text, nullable=False),
    Column("level", String(32)),
    Column("normalize", Boolean),
    Column("compatibility_policy", String(32)),
    Column("compatibility_group", Text),
    Column("own_policy", String(32)),
    Column("mode", String(32)),
    Column("alias", Text),
    Column("alias_for_deks", Text),
    Column("validate_fields", Boolean),
    Column("validate_new_schemas", Boolean),
    Column("validate_rules", Boolean),
    Column("strict_json_schemas", Boolean),
    Column("default_metadata", Text),
    Column("override_metadata", Text),
    Column("default_rule_set", Text),
    Column("override_rule_set", Text),
)

#: A single row, locked last in every write: it numbers the rows of ``changes`` without gaps.
change_log_counters: Final = Table(
    "journal",
    metadata,
    Column("name", String(16), primary_key=True),
    Column("next_sequence", BigInteger, nullable=False),
)

#: Written in the transaction of its effect; no response depends on it. ``details`` is JSON. ``hash`` covers all other
#: columns; both hashes are null in rows of releases before revision 0009, until the next write.
changes: Final = Table(
    "changes",
    metadata,
    Column("sequence", _number, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
    Column("action", String(64), nullable=False),
    Column("target", Text, nullable=False),
    Column("before", String(64)),
    Column("after", String(64)),
    Column("details", Text),
    Column("previous_hash", String(64)),
    Column("hash", String(64)),
)

#: Subjects bound to resources, such as a topic's key or value.
associations: Final = Table(
    "associations",
    metadata,
    Column("guid", String(36), primary_key=True),
    Column("context", String(255), nullable=False),
    Column("subject_key", String(64), nullable=False, index=True),
    Column("subject", Text, nullable=False),
    Column("resource_id", String(256), nullable=False),
    Column("resource_name", String(256), nullable=False),
    Column("resource_namespace", String(256), nullable=False),
    Column("resource_type", String(64), nullable=False),
    Column("association_type", String(64), nullable=False),
    Column("lifecycle", String(16), nullable=False),
    Column("frozen", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("ix_associations_resource_id", "resource_id", "resource_type", "association_type"),
    Index("ix_associations_resource_name", "resource_name", "resource_namespace"),
)

#: Search index: fields, types, tags, properties of schemas; the row at position 0 marks a schema as indexed.
#: ``folded`` is the name in lower case, as bytes, which every database orders alike.
search_terms: Final = Table(
    "search_terms",
    metadata,
    Column("context", String(255), primary_key=True),
    Column("schema_id", BigInteger, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False),
    Column("folded", LargeBinary(), nullable=False),
    Column("name", Text, nullable=False),
    Column("path", Text, nullable=False),
    Index("ix_search_terms_kind_folded", "kind", "folded", "context", "schema_id", "position"),
)

#: Positions of the change log's consumers.
marks: Final = Table(
    "marks",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("sequence", BigInteger, nullable=False),
)

#: Fetches of an id by client and day (days since 1970-01-01).
fetches: Final = Table(
    "fetches",
    metadata,
    Column("context", String(255), primary_key=True),
    Column("schema_id", BigInteger, primary_key=True, autoincrement=False),
    Column("client", String(128), primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False, index=True),
    Column("count", BigInteger, nullable=False),
)

#: Audit results, append-only; ``ranges`` is a hash of the audited offset ranges, empty if there were none.
conformance: Final = Table(
    "conformance",
    metadata,
    Column("sequence", _number, primary_key=True),
    Column("topic", String(255), nullable=False),
    Column("part", String(16), nullable=False),
    Column("ranges", String(64), nullable=False),
    Column("entry", Text, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("daily", Boolean, nullable=False, server_default=false()),  # counts by hour were merged to days
    Column("contract_version", Integer),  # the topic's contract at that time; null: there was none
    Index("ix_conformance_topic_part_ranges", "topic", "part", "ranges"),
)

#: Figures of the newest audit of each part of a topic, for metrics.
audit_summaries: Final = Table(
    "audit_summaries",
    metadata,
    Column("topic", String(255), primary_key=True),
    Column("part", String(16), primary_key=True),
    Column("verdict", String(16), nullable=False),
    Column("conforming", BigInteger, nullable=False),
    Column("violating", BigInteger, nullable=False),
    Column("last_record_at", BigInteger),  # null if no record has a time
    Column("published_at", BigInteger, nullable=False),
)

#: Lineage edges, one row for each period in which an origin stated an edge. ``vanished_at`` is null while it does. Keys
#: are hashes of namespace and name, because names may be too long for an index. Empty fields are the whole dataset;
#: topics are null for datasets that are none.
lineage_edges: Final = Table(
    "lineage_edges",
    metadata,
    Column("sequence", _number, primary_key=True),
    Column("target_key", String(64), nullable=False),
    Column("target_namespace", Text, nullable=False),
    Column("target_name", Text, nullable=False),
    Column("target_topic", String(255), index=True),
    Column("target_field", Text, nullable=False),
    Column("source_key", String(64), nullable=False),
    Column("source_namespace", Text, nullable=False),
    Column("source_name", Text, nullable=False),
    Column("source_topic", String(255), index=True),
    Column("source_field", Text, nullable=False),
    Column("evidence", String(16), nullable=False),
    Column("origin", Text, nullable=False),
    Column("directed", Boolean, nullable=False),  # false: the source may also have been made from the target
    Column("details", Text, nullable=False),  # JSON
    Column("first_published_at", BigInteger, nullable=False),
    Column("last_published_at", BigInteger, nullable=False),
    Column("vanished_at", BigInteger),
    Index("ix_lineage_edges_target_key", "target_key", "vanished_at"),
    Index("ix_lineage_edges_source_key", "source_key", "vanished_at"),
)

#: Key encryption keys (KEKs), which stay in a key management service (KMS). ``kms_props`` is JSON.
keks: Final = Table(
    "keks",
    metadata,
    Column("name", String(256), primary_key=True),
    Column("kms_type", Text, nullable=False),
    Column("kms_key_id", Text, nullable=False),
    Column("kms_props", Text),
    Column("doc", Text),
    Column("shared", Boolean, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("deleted_at", BigInteger),  # null: live
)

#: Data encryption keys (DEKs), wrapped by their KEK. ``subject_key`` is a hash of context and name.
deks: Final = Table(
    "deks",
    metadata,
    Column("kek_name", String(256), ForeignKey("keks.name"), primary_key=True),
    Column("subject_key", String(64), primary_key=True),
    Column("algorithm", String(16), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("context", String(255), nullable=False),
    Column("subject", Text, nullable=False),
    Column("encrypted_key_material", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("deleted_at", BigInteger),  # null: live
)

#: The entry of the change log up to which a webhook has been sent everything, and the node that is sending.
webhook_positions: Final = Table(
    "webhook_positions",
    metadata,
    Column("name", String(64), primary_key=True),  # SHA-256 of the URL, which may be secret
    Column("sequence", BigInteger, nullable=False),
    Column("holder", String(32), nullable=False),
    Column("held_until", BigInteger, nullable=False),  # milliseconds since 1970
)

#: Proposed changes of subjects, and of settings of contexts, whose ``subject`` is empty.
change_requests: Final = Table(
    "change_requests",
    metadata,
    Column("id", _number, primary_key=True),
    Column("subject_key", String(64), nullable=False, index=True),
    Column("context", String(255), nullable=False),
    Column("subject", Text, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("author", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("status", String(16), nullable=False, index=True),  # open, merged or closed; expired ones are open
    Column("revision", Integer, nullable=False),  # of the proposal
    Column("proposal", Text, nullable=False),  # JSON
    Column("evidence", Text, nullable=False),  # JSON
    Column("content_hash", String(64)),  # of the proposed version
    Column("base", String(64), nullable=False),  # hash of the state that the proposal was checked against
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("ended_by", Text),
)

#: Approvals of the current revision of a change request.
change_request_approvals: Final = Table(
    "change_request_approvals",
    metadata,
    Column("request_id", _number, ForeignKey("change_requests.id"), primary_key=True, autoincrement=False),
    Column("approver", String(256), primary_key=True),
    Column("at", BigInteger, nullable=False),
)

change_request_comments: Final = Table(
    "change_request_comments",
    metadata,
    Column("request_id", _number, ForeignKey("change_requests.id"), primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("author", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("text", Text, nullable=False),
)

#: Permissions of users to change protected subjects without approvals for some time.
waivers: Final = Table(
    "waivers",
    metadata,
    Column("id", _number, primary_key=True),
    Column("subject_key", String(64), nullable=False, index=True),
    Column("context", String(255), nullable=False),
    Column("subject", Text, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("grantee", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("request_id", _number, ForeignKey("change_requests.id"), nullable=False),
    Column("granted_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
)

#: Versions of the data contracts of topics, and the versions of the topic's subjects that each describes.
contracts: Final = Table(
    "contracts",
    metadata,
    Column("topic", String(255), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("document", Text, nullable=False),  # canonical JSON
    Column("hash", String(64), nullable=False),  # SHA-256 of the document
    Column("status", String(16), nullable=False),  # this and the next three are members of the document
    Column("contract_version", Text, nullable=False),
    Column("retires_on", String(10)),
    Column("successor", Text),
    Column("value_version", Integer),  # null: the contract describes another schema, or none
    Column("key_version", Integer),
    Column("created_at", BigInteger, nullable=False),
    Column("deleted_at", BigInteger),  # null: live
)
