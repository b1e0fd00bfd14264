"""Checks of Avro names, documentation, defaults, enums, records and keys, for ``avro_rules.py``.

Types that the text uses without defining them belong to other files; nothing is said about them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.avro.names import find_fallback_symbol
from contractlog.compatibility.avro.types import (
    MISSING,
    PRIMITIVES,
    AvroSchema,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    NamedType,
    Primitive,
    Record,
    TypeName,
    Union,
    is_null,
    short_name,
)
from contractlog.compatibility.json_text import Number, join_pointer
from contractlog.compatibility.lint.avro_document import AvroDocument, is_plain, walk_types
from contractlog.compatibility.lint.name_words import (
    deviating_names,
    find_close_name,
    join_names,
    list_similar_names,
)
from contractlog.compatibility.lint.rule import MoveItemFirst, Problem, RemoveItems, SetMember

__all__: list[str] = []  # only the table of rules imports the checks; its rows say what they report

Problems = Iterator[Problem]

#: the optional members of types and fields, which authors may misspell unnoticed
_MEMBERS: Final[Mapping[type, tuple[str, ...]]] = {
    Field: ("aliases", "default", "doc", "order"),
    Primitive: ("logicalType", "precision", "scale"),
    Record: ("aliases", "doc", "namespace"),
    Enum: ("aliases", "default", "doc", "namespace"),
    Fixed: ("aliases", "doc", "namespace", "logicalType", "precision", "scale"),
}
#: types of other languages, and those of Avro for the same values
_FOREIGN_TYPES: Final = {
    "bool": "boolean",
    "integer": "int",
    "number": "double",
    "object": "record",
    "str": "string",
    "text": "string",
}
_DOC_SYNONYMS: Final = frozenset({"description", "documentation", "comment"})


def check_type_name(_: AvroDocument, node: NamedType) -> Problems:
    name = short_name(node.name)
    if not (name.lstrip("_")[:1].isupper() and "_" not in name.strip("_")) and name.isascii():
        yield Problem(f"{node.at}/name", f"the type `{name}` is not named in PascalCase, as generated classes are")


def report_unused_type(document: AvroDocument, schema: AvroSchema) -> Problems:
    """Report the type of a file, which the caller knows to be unused."""
    root = document.resolve(schema.root)
    if isinstance(root, NamedType):
        yield Problem(
            f"{root.at}/name",
            f"no other file uses the type `{root.name}`; use it, remove its file, or if it is the schema of records or "
            "used in other folders, name its subject in contractlog.toml",
        )


def check_field_name_case(_: AvroDocument, schema: AvroSchema) -> Problems:
    fields = [node for node in walk_types(schema) if isinstance(node, Field)]
    case, deviating = deviating_names({field.name: None for field in fields})
    wrong = frozenset(deviating)
    yield from (
        Problem(
            f"{field.at}/name", f"the field `{field.name}` is not named in {case}, as the others of this schema are"
        )
        for field in fields
        if field.name in wrong and len(fields) > 1
    )


def check_similar_fields(_: AvroDocument, record: Record) -> Problems:
    fields = {field.name: field for field in record.fields}
    for first, second in list_similar_names(fields):
        yield Problem(
            f"{fields[second].at}/name",
            f"the fields `{first}` and `{second}` differ only in case or underscores, which people confuse and SQL "
            "engines may not tell apart; rename one",
        )


def check_namespace(_: AvroDocument, schema: AvroSchema) -> Problems:
    roots = schema.root.branches if isinstance(schema.root, Union) else (schema.root,)
    for node in roots:
        if isinstance(node, NamedType) and "." not in node.name:
            yield Problem(
                f"{node.at}/name",
                f"`{node.name}` has no namespace, so it collides with every other type of this name; "
                'add "namespace", such as the domain of the owning team',
            )


def check_type_doc(_: AvroDocument, node: NamedType) -> Problems:
    if not (node.doc and node.doc.strip()):
        yield Problem(node.at, f'`{short_name(node.name)}` has no "doc"; say in a sentence what one value stands for')


def check_field_docs(_: AvroDocument, record: Record) -> Problems:
    missing = [field for field in record.fields if not _is_documented(field)]
    if missing:
        yield Problem(
            missing[0].at,
            f'"doc" is missing on {len(missing):,} of {len(record.fields):,} fields of `{short_name(record.name)}`: '
            f"{join_names([field.name for field in missing])}; state unit, origin, and the meaning of null",
        )


def _is_documented(field: Field) -> bool:
    """Return True if a field, or the type that is defined in it, is documented."""
    inner = field.type.branches if isinstance(field.type, Union) else (field.type,)
    docs = (field.doc, *(node.doc for node in inner if isinstance(node, NamedType)))
    return any(doc and doc.strip() for doc in docs)


def check_nullable_default(_: AvroDocument, field: Field) -> Problems:
    if not (isinstance(field.type, Union) and any(map(is_null, field.type.branches))) or field.has_default:
        return
    what = f"the field `{field.name}` may be null but has no default, so records that lack it cannot be read"
    if is_null(field.type.branches[0]):
        change = SetMember(field.at, "default", "null", after="type")
        yield Problem(field.at, f'{what}; set "default": null', (change,))
    else:
        yield Problem(field.at, f'{what}; put "null" first and set "default": null, or give it another default')


def check_default_branch(document: AvroDocument, field: Field) -> Problems:
    if not (isinstance(field.type, Union) and field.has_default and field.type.branches):
        return
    first = document.resolve(field.type.branches[0])
    if isinstance(first, TypeName) or _suits(first, field.default) or field.default == "null":
        return
    null = next((index for index, branch in enumerate(field.type.branches) if is_null(branch)), None)
    yield Problem(
        f"{field.at}/default",
        f"the default of `{field.name}` is not a value of the union's first branch, which Avro before 1.12 requires; "
        "put the branch of the default first",
        (MoveItemFirst(f"{field.at}/type", null),) if field.default is None and null is not None else (),
    )


#: kind of a type -> Python type of its defaults; those of numbers are ``Number``, or strings such as "NaN"
_DEFAULT_TYPES: Final[Mapping[str, type]] = {
    **dict.fromkeys(("STRING", "BYTES", "ENUM", "FIXED"), str),
    **dict.fromkeys(("MAP", "RECORD"), dict),
    "NULL": type(None),
    "BOOLEAN": bool,
    "ARRAY": list,
}


def _suits(node: AvroType, default: Any) -> bool:
    """Return True if a default, which fits some branch of a union, has the JSON type of this one."""
    if isinstance(default, Number) and node.kind in {"INT", "LONG"}:
        return default.integral
    return isinstance(default, _DEFAULT_TYPES.get(node.kind, (Number, str)))


def check_default_text_null(_: AvroDocument, field: Field) -> Problems:
    if field.default == "null" and isinstance(field.type, Union) and any(map(is_null, field.type.branches)):
        yield Problem(
            f"{field.at}/default",
            f'the default of `{field.name}` is the text "null", not null; remove the quotes',
        )


def check_default_misplaced(_: AvroDocument, field: Field) -> Problems:
    branches = field.type.branches if isinstance(field.type, Union) else (field.type,)
    for node in branches:
        if "default" in node.props and not isinstance(node, Enum) and not field.has_default:
            yield Problem(
                f"{node.at}/default",
                f"the default of `{field.name}` stands inside its type and has no effect; move it beside the field's "
                '"type"',
            )


def check_enum_default(_: AvroDocument, enum: Enum) -> Problems:
    if enum.default is not None or not enum.symbols:
        return
    fallback = find_fallback_symbol(enum.symbols)
    what = f"the enum `{short_name(enum.name)}` has no default, so its readers fail on symbols that are added later"
    if fallback is None:
        yield Problem(enum.at, f'{what}; add a symbol such as "UNKNOWN" and make it the "default"')
    else:
        change = SetMember(enum.at, "default", f'"{fallback}"', after="symbols")
        yield Problem(enum.at, f'{what}; set "default": "{fallback}"', (change,))


def check_symbol_case(_: AvroDocument, enum: Enum) -> Problems:
    case, deviating = deviating_names(enum.symbols)
    if deviating:
        yield Problem(
            join_pointer(enum.at, "symbols", enum.symbols.index(deviating[0])),
            f"the symbols of `{short_name(enum.name)}` mix cases: {join_names(deviating)} "
            f"{'is' if len(deviating) == 1 else 'are'} not in {case}, as the others are",
        )


def check_empty_enum(_: AvroDocument, enum: Enum) -> Problems:
    if not enum.symbols:
        yield Problem(
            f"{enum.at}/symbols", f"the enum `{short_name(enum.name)}` has no symbols, so no value can be written"
        )


def check_empty_record(_: AvroDocument, record: Record) -> Problems:
    if not record.fields:
        yield Problem(
            f"{record.at}/fields",
            f"the record `{short_name(record.name)}` has no fields, so its values say nothing; add one, such as the "
            "time of the event",
        )


def check_own_alias(_: AvroDocument, node: NamedType | Field) -> Problems:
    if node.name in node.aliases:
        name = short_name(node.name)
        change = RemoveItems(f"{node.at}/aliases", strings=(name, node.name))
        yield Problem(f"{node.at}/aliases", f"the alias `{name}` repeats the name; remove it", (change,))


def check_alias_of_field(_: AvroDocument, record: Record) -> Problems:
    names = {field.name for field in record.fields}
    for field in record.fields:
        taken = [alias for alias in field.aliases if alias in names and alias != field.name]
        if taken:
            yield Problem(
                f"{field.at}/aliases",
                f"`{taken[0]}` is an alias of the field `{field.name}` and a field of its own: the record cannot even "
                "be read with the schema that wrote it; remove the alias",
            )


def check_key_record(document: AvroDocument, schema: AvroSchema) -> Problems:
    if document.subject.endswith("-key") and isinstance(schema.root, Record):
        yield Problem(
            schema.root.at,
            "the key is a record: whenever its schema changes, equal keys have other bytes, go to other partitions "
            "and escape compaction; use a string, or never change this schema",
        )


def check_key_unstable(document: AvroDocument, schema: AvroSchema) -> Problems:
    if not document.subject.endswith("-key"):
        return
    for node in walk_types(schema):
        if isinstance(node, Map) or is_plain(node, "float", "double"):  # type: ignore[arg-type] # fields are neither
            yield Problem(
                node.at,
                f"the key holds a {node.kind.lower()}, so equal keys may have different bytes and go to different "  # type: ignore[union-attr] # a type
                "partitions; use strings, integers or decimals",
            )


def check_unknown_type(document: AvroDocument, node: TypeName) -> Problems:
    if node.name in document.schema.types:
        return
    name = short_name(node.name)
    defined = {short_name(each).lower(): short_name(each) for each in document.schema.types}
    close = _FOREIGN_TYPES.get(name) or defined.get(name.lower())
    if close is None and name.islower():
        close = find_close_name(name, sorted(PRIMITIVES))
    if close is not None:
        yield Problem(node.at, f"`{name}` is not a type of Avro, and not defined in this file; `{close}` may be meant")


def check_member_names(_: AvroDocument, node: AvroType | Field) -> Problems:
    for name in node.props:
        if name in _DOC_SYNONYMS and isinstance(node, (Field, NamedType)):
            if node.doc is None:
                yield Problem(join_pointer(node.at, name), f'Avro reads no "{name}"; call it "doc"')
        elif name not in _MEMBERS[type(node)]:
            close = find_close_name(name, _MEMBERS[type(node)])
            existing = MISSING if close is None else getattr(node, close, None)
            if close is not None and (existing is None or existing is MISSING or existing == ()):
                yield Problem(
                    join_pointer(node.at, name), f'Avro reads no "{name}", so it has no effect; "{close}" may be meant'
                )
