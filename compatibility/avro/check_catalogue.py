"""Descriptions of the checks of Avro schemas: title, explanation and examples."""

from __future__ import annotations

from typing import Final

from contractlog.compatibility.check_description import CheckDescription, CheckExample

__all__ = [
    "AVRO_CHECKS",
    "AVRO_DEFAULT_CHANGED",
    "AVRO_DOC_LOST",
    "AVRO_ENUM_DEFAULT_MISSING",
    "AVRO_ENUM_SYMBOLS_MISSING",
    "AVRO_ENUM_SYMBOLS_REMOVED",
    "AVRO_FIELD_AMBIGUOUS",
    "AVRO_FIELD_DEFAULT_MISSING",
    "AVRO_FIELD_RENAMED",
    "AVRO_FIXED_SIZE_CHANGED",
    "AVRO_LOGICAL_TYPE_CHANGED",
    "AVRO_NAME_CHANGED",
    "AVRO_TYPE_CHANGED",
    "AVRO_UNION_BRANCH_MISSING",
    "AVRO_WARNINGS",
]

AVRO_NAME_CHANGED: Final = CheckDescription(
    "AVRO_NAME_CHANGED",
    "The name of a record, enum or fixed type changed",
    "A type may move to another namespace, because names are compared without their namespaces. If the name itself "
    "changes, the reader's type needs the writer's name, with its namespace, as an alias.",
    CheckExample('{"type":"fixed","name":"Tail","size":6}', '{"type":"fixed","name":"TailNumber","size":6}'),
    CheckExample(
        '{"type":"fixed","name":"Tail","size":6,"aliases":["TailNumber"]}',
        '{"type":"fixed","name":"TailNumber","size":6}',
    ),
)
AVRO_FIXED_SIZE_CHANGED: Final = CheckDescription(
    "AVRO_FIXED_SIZE_CHANGED",
    "The size of a fixed type changed",
    "Fixed values are stored without their length, so reader and writer must agree on the size.",
    CheckExample('{"type":"fixed","name":"Hash","size":32}', '{"type":"fixed","name":"Hash","size":16}'),
    CheckExample('{"type":"fixed","name":"Hash","size":16}', '{"type":"fixed","name":"Hash","size":16}'),
)
AVRO_ENUM_SYMBOLS_MISSING: Final = CheckDescription(
    "AVRO_ENUM_SYMBOLS_MISSING",
    "The reader's enum lacks symbols of the writer's enum",
    "An unknown symbol cannot be read, unless the reader's enum has a default. A default of the field does not help.",
    CheckExample(
        '{"type":"enum","name":"Origin","symbols":["EWR"]}', '{"type":"enum","name":"Origin","symbols":["EWR","JFK"]}'
    ),
    CheckExample(
        '{"type":"enum","name":"Origin","symbols":["EWR","OTHER"],"default":"OTHER"}',
        '{"type":"enum","name":"Origin","symbols":["EWR","JFK"]}',
    ),
)
AVRO_FIELD_DEFAULT_MISSING: Final = CheckDescription(
    "AVRO_FIELD_DEFAULT_MISSING",
    "The writer lacks a field that has no default in the reader",
    "A reader sets a field that the writer lacks to its default. Without a default, the record cannot be read.",
    CheckExample(
        '{"type":"record","name":"Flight","fields":[{"name":"gate","type":"string"}]}',
        '{"type":"record","name":"Flight","fields":[]}',
    ),
    CheckExample(
        '{"type":"record","name":"Flight","fields":[{"name":"gate","type":["null","string"],"default":null}]}',
        '{"type":"record","name":"Flight","fields":[]}',
    ),
)
AVRO_FIELD_AMBIGUOUS: Final = CheckDescription(
    "AVRO_FIELD_AMBIGUOUS",
    "A reader field matches several fields of the writer",
    "The name and the aliases of a reader field may together match only one field of the writer.",
    CheckExample(
        '{"type":"record","name":"Flight","fields":[{"name":"gate","aliases":["stand"],"type":"int"}]}',
        '{"type":"record","name":"Flight","fields":[{"name":"gate","type":"int"},{"name":"stand","type":"int"}]}',
    ),
    CheckExample(
        '{"type":"record","name":"Flight","fields":[{"name":"gate","type":"int"}]}',
        '{"type":"record","name":"Flight","fields":[{"name":"gate","type":"int"},{"name":"stand","type":"int"}]}',
    ),
)
AVRO_TYPE_CHANGED: Final = CheckDescription(
    "AVRO_TYPE_CHANGED",
    "The reader's type cannot read the writer's type",
    "A reader promotes int to long, float and double, long to float and double, float to double, and string and bytes "
    "to each other. Every other change of type is incompatible.",
    CheckExample('"int"', '"long"'),
    CheckExample('"long"', '"int"'),
)
AVRO_UNION_BRANCH_MISSING: Final = CheckDescription(
    "AVRO_UNION_BRANCH_MISSING",
    "The reader's union has no branch for a type of the writer",
    "Each type of the writer needs a branch of the reader's union that can read it. If a branch of the same name "
    "exists, the findings of that branch are reported instead.",
    CheckExample('["null","int"]', '["null","string"]'),
    CheckExample('["null","int","string"]', '["null","string"]'),
)
AVRO_LOGICAL_TYPE_CHANGED: Final = CheckDescription(
    "AVRO_LOGICAL_TYPE_CHANGED",
    "The same bytes are read as a different value",
    "Schema resolution ignores logical types: if the scale of a decimal or the unit of a timestamp changes, existing "
    "data is silently read as a different value. No compatibility level requires this check; "
    "`contractlog check` warns.",
    CheckExample(
        '{"type":"long","logicalType":"timestamp-micros"}',
        '{"type":"long","logicalType":"timestamp-millis"}',
    ),
    CheckExample(
        '{"type":"bytes","logicalType":"decimal","precision":9,"scale":2,"doc":"in euros"}',
        '{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}',
    ),
)
AVRO_DEFAULT_CHANGED: Final = CheckDescription(
    "AVRO_DEFAULT_CHANGED",
    "A default was changed or removed",
    "Readers use a default if a record lacks the field, or if the symbol of an enum is unknown. If it changes, the "
    "same records are read differently; if it is removed, records older than the last version cannot be read. No "
    "compatibility level requires this check; `contractlog check` warns.",
    CheckExample(
        '{"type":"record","name":"Flight","fields":[{"name":"seats","type":"int","default":0}]}',
        '{"type":"record","name":"Flight","fields":[{"name":"seats","type":"int","default":1}]}',
    ),
    CheckExample(
        '{"type":"record","name":"Flight","fields":[{"name":"seats","type":"int","default":1}]}',
        '{"type":"record","name":"Flight","fields":[{"name":"seats","type":"int"}]}',
    ),
    of_candidate=True,
)
AVRO_DOC_LOST: Final = CheckDescription(
    "AVRO_DOC_LOST",
    "Documentation was removed",
    "A type or field that the previous version documents has no documentation now. No compatibility level "
    "requires this check; `[[checks]]` of the manifest turns it on.",
    CheckExample(
        '{"type":"fixed","name":"Hash","size":16}',
        '{"type":"fixed","name":"Hash","size":16,"doc":"MD5 of the ticket"}',
    ),
    CheckExample(
        '{"type":"fixed","name":"Hash","size":16,"doc":"MD5 of the whole ticket"}',
        '{"type":"fixed","name":"Hash","size":16,"doc":"MD5 of the ticket"}',
    ),
    of_candidate=True,
)
AVRO_ENUM_DEFAULT_MISSING: Final = CheckDescription(
    "AVRO_ENUM_DEFAULT_MISSING",
    "The symbols of an enum without a default changed",
    "Without a default of the enum, readers of this version cannot read symbols that are added later. No "
    "compatibility level requires this check; `contractlog check` warns.",
    CheckExample(
        '{"type":"enum","name":"Origin","symbols":["EWR","JFK"]}', '{"type":"enum","name":"Origin","symbols":["EWR"]}'
    ),
    CheckExample(
        '{"type":"enum","name":"Origin","symbols":["EWR","JFK","OTHER"],"default":"OTHER"}',
        '{"type":"enum","name":"Origin","symbols":["EWR"]}',
    ),
    of_candidate=True,
)
AVRO_ENUM_SYMBOLS_REMOVED: Final = CheckDescription(
    "AVRO_ENUM_SYMBOLS_REMOVED",
    "Symbols were removed from an enum with a default",
    "Records that have a removed symbol can be read, but are silently read as the default of the enum. No "
    "compatibility level requires this check; `contractlog check` warns.",
    CheckExample(
        '{"type":"enum","name":"Origin","symbols":["EWR","OTHER"],"default":"OTHER"}',
        '{"type":"enum","name":"Origin","symbols":["EWR","JFK","OTHER"],"default":"OTHER"}',
    ),
    CheckExample(
        '{"type":"enum","name":"Origin","symbols":["EWR","JFK","LGA","OTHER"],"default":"OTHER"}',
        '{"type":"enum","name":"Origin","symbols":["EWR","JFK","OTHER"],"default":"OTHER"}',
    ),
    of_candidate=True,
)
AVRO_FIELD_RENAMED: Final = CheckDescription(
    "AVRO_FIELD_RENAMED",
    "A field seems to have been renamed without an alias",
    "A field was removed, and one new field of its type has a default: values written under the old name are "
    "silently read as the default. No compatibility level requires this check; "
    "`contractlog check` warns.",
    CheckExample(
        '{"type":"record","name":"Flight","fields":[{"name":"stand","type":"string","default":""}]}',
        '{"type":"record","name":"Flight","fields":[{"name":"gate","type":"string"}]}',
    ),
    CheckExample(
        '{"type":"record","name":"Flight","fields":[{"name":"stand","aliases":["gate"],"type":"string","default":""}]}',
        '{"type":"record","name":"Flight","fields":[{"name":"gate","type":"string"}]}',
    ),
    of_candidate=True,
)

AVRO_CHECKS: Final = (
    AVRO_ENUM_SYMBOLS_MISSING,
    AVRO_FIELD_AMBIGUOUS,
    AVRO_FIELD_DEFAULT_MISSING,
    AVRO_FIXED_SIZE_CHANGED,
    AVRO_NAME_CHANGED,
    AVRO_TYPE_CHANGED,
    AVRO_UNION_BRANCH_MISSING,
    AVRO_DEFAULT_CHANGED,
    AVRO_DOC_LOST,
    AVRO_ENUM_DEFAULT_MISSING,
    AVRO_ENUM_SYMBOLS_REMOVED,
    AVRO_FIELD_RENAMED,
    AVRO_LOGICAL_TYPE_CHANGED,
)
AVRO_WARNINGS: Final = frozenset(
    check.id
    for check in (
        AVRO_DEFAULT_CHANGED,
        AVRO_DOC_LOST,
        AVRO_ENUM_DEFAULT_MISSING,
        AVRO_ENUM_SYMBOLS_REMOVED,
        AVRO_FIELD_RENAMED,
        AVRO_LOGICAL_TYPE_CHANGED,
    )
)
"""Ids of checks that break compatibility only if they are requested."""
