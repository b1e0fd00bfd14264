"""Checks of Avro schemas."""

from __future__ import annotations

from typing import Final

from contractlog.compatibility.catalogue import CheckExample, CheckSpec

__all__ = [
    "AVRO_CHECKS",
    "AVRO_DEFAULT_CHANGED",
    "AVRO_DOC_LOST",
    "AVRO_ENUM_DEFAULT_MISSING",
    "AVRO_ENUM_SYMBOLS_MISSING",
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

AVRO_NAME_CHANGED: Final = CheckSpec(
    "AVRO_NAME_CHANGED",
    "A record, enum or fixed has another name",
    "Names are compared without their namespace. A reader that renames a type needs the writer's full name as an "
    "alias.",
    CheckExample('{"type":"fixed","name":"Tail","size":6}', '{"type":"fixed","name":"TailNumber","size":6}'),
    CheckExample(
        '{"type":"fixed","name":"Tail","size":6,"aliases":["TailNumber"]}',
        '{"type":"fixed","name":"TailNumber","size":6}',
    ),
)
AVRO_FIXED_SIZE_CHANGED: Final = CheckSpec(
    "AVRO_FIXED_SIZE_CHANGED",
    "A fixed has another size",
    "Fixed values carry no length, so reader and writer must agree on it.",
    CheckExample('{"type":"fixed","name":"Hash","size":32}', '{"type":"fixed","name":"Hash","size":16}'),
    CheckExample('{"type":"fixed","name":"Hash","size":16}', '{"type":"fixed","name":"Hash","size":16}'),
)
AVRO_ENUM_SYMBOLS_MISSING: Final = CheckSpec(
    "AVRO_ENUM_SYMBOLS_MISSING",
    "The reader's enum lacks symbols of the writer's",
    "An unknown symbol cannot be read, unless the reader's enum itself has a default. A default of the field does not "
    "help.",
    CheckExample(
        '{"type":"enum","name":"Origin","symbols":["EWR"]}', '{"type":"enum","name":"Origin","symbols":["EWR","JFK"]}'
    ),
    CheckExample(
        '{"type":"enum","name":"Origin","symbols":["EWR","OTHER"],"default":"OTHER"}',
        '{"type":"enum","name":"Origin","symbols":["EWR","JFK"]}',
    ),
)
AVRO_FIELD_DEFAULT_MISSING: Final = CheckSpec(
    "AVRO_FIELD_DEFAULT_MISSING",
    "The writer lacks a field for which the reader has no default",
    "A reader fills what the writer lacks with the field's default. Without one the record cannot be read.",
    CheckExample(
        '{"type":"record","name":"Flight","fields":[{"name":"gate","type":"string"}]}',
        '{"type":"record","name":"Flight","fields":[]}',
    ),
    CheckExample(
        '{"type":"record","name":"Flight","fields":[{"name":"gate","type":["null","string"],"default":null}]}',
        '{"type":"record","name":"Flight","fields":[]}',
    ),
)
AVRO_FIELD_AMBIGUOUS: Final = CheckSpec(
    "AVRO_FIELD_AMBIGUOUS",
    "A reader field is several fields of the writer",
    "By its name and its aliases a reader field may stand for one field of the writer, not for two.",
    CheckExample(
        '{"type":"record","name":"Flight","fields":[{"name":"gate","aliases":["stand"],"type":"int"}]}',
        '{"type":"record","name":"Flight","fields":[{"name":"gate","type":"int"},{"name":"stand","type":"int"}]}',
    ),
    CheckExample(
        '{"type":"record","name":"Flight","fields":[{"name":"gate","type":"int"}]}',
        '{"type":"record","name":"Flight","fields":[{"name":"gate","type":"int"},{"name":"stand","type":"int"}]}',
    ),
)
AVRO_TYPE_CHANGED: Final = CheckSpec(
    "AVRO_TYPE_CHANGED",
    "The reader's type cannot read the writer's",
    "A reader widens int to long, float and double, long to float and double, float to double, and reads string and "
    "bytes as each other. Every other change of type is refused.",
    CheckExample('"int"', '"long"'),
    CheckExample('"long"', '"int"'),
)
AVRO_UNION_BRANCH_MISSING: Final = CheckSpec(
    "AVRO_UNION_BRANCH_MISSING",
    "The reader's union has no branch for what is written",
    "Every type that the writer may write needs a branch of the reader that reads it. Where a branch of the same name "
    "exists, its own findings stand in place of this one.",
    CheckExample('["null","int"]', '["null","string"]'),
    CheckExample('["null","int","string"]', '["null","string"]'),
)
AVRO_LOGICAL_TYPE_CHANGED: Final = CheckSpec(
    "AVRO_LOGICAL_TYPE_CHANGED",
    "The same bytes mean another value",
    "Resolution ignores logical types: with another scale, or another unit of a timestamp, old digits are silently "
    "read as another value. Off by default.",
    CheckExample(
        '{"type":"long","logicalType":"timestamp-micros"}',
        '{"type":"long","logicalType":"timestamp-millis"}',
    ),
    CheckExample(
        '{"type":"bytes","logicalType":"decimal","precision":9,"scale":2,"doc":"in euros"}',
        '{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}',
    ),
)
AVRO_DEFAULT_CHANGED: Final = CheckSpec(
    "AVRO_DEFAULT_CHANGED",
    "A default is another one, or gone",
    "A default is what readers put where a record lacks the field, or where an enum's symbol is unknown. With another "
    "one the same records read differently; without one, records older than the last version cannot be read. Off by "
    "default.",
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
AVRO_DOC_LOST: Final = CheckSpec(
    "AVRO_DOC_LOST",
    "Documentation is gone",
    "A type or a field was documented in the version before, and is not any more. Off by default.",
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
AVRO_ENUM_DEFAULT_MISSING: Final = CheckSpec(
    "AVRO_ENUM_DEFAULT_MISSING",
    "An enum whose symbols change has no default",
    "Without a default of the enum a reader of this version cannot read the next new symbol. Off by default.",
    CheckExample(
        '{"type":"enum","name":"Origin","symbols":["EWR","JFK"]}', '{"type":"enum","name":"Origin","symbols":["EWR"]}'
    ),
    CheckExample(
        '{"type":"enum","name":"Origin","symbols":["EWR","JFK","OTHER"],"default":"OTHER"}',
        '{"type":"enum","name":"Origin","symbols":["EWR"]}',
    ),
    of_candidate=True,
)
AVRO_FIELD_RENAMED: Final = CheckSpec(
    "AVRO_FIELD_RENAMED",
    "A field seems to have a new name, and no alias",
    "A field is gone, and one new field of its type has a default: values written under the old name are then "
    "silently read as the default. Off by default.",
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
    AVRO_FIELD_RENAMED,
    AVRO_LOGICAL_TYPE_CHANGED,
)
AVRO_WARNINGS: Final = frozenset(
    check.id
    for check in (
        AVRO_DEFAULT_CHANGED,
        AVRO_DOC_LOST,
        AVRO_ENUM_DEFAULT_MISSING,
        AVRO_FIELD_RENAMED,
        AVRO_LOGICAL_TYPE_CHANGED,
    )
)
"""Checks that break compatibility only if requested by id."""
