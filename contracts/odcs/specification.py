"""The members of ODCS 3.0 to 3.2 as tables, with their kinds and the version that brought them.

A kind is a key of ``validator.SCALARS``, the name of a block or of a list of words, or ``[kind]`` for a list; ``a|b``
is either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from contractlog.contracts.quality.rules import METRICS, OPERATORS

__all__ = ["BLOCKS", "LATEST", "SERVERS", "VERSIONS", "WORDS", "Block", "Member"]

VERSIONS: Final[Mapping[str, int]] = {"v3.0.2": 0, "v3.1.0": 1, "v3.2.0": 2, "v3.0.1": 0, "v3.0.0": 0}
"""``apiVersion`` of each supported version, with the minor version; contracts are written with the first three."""

LATEST: Final = "v3.2.0"


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a block."""

    kind: str
    since: int = 0  #: minor version of ODCS 3 that brought it
    required: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A kind of object in a contract."""

    members: Mapping[str, Member]
    closed_since: int = 1  #: minor version from which members that are not listed are invalid


def _block(closed_since: int = 1, **kinds: str) -> Block:
    """Return a block from names by kind.

    A kind ``x_list`` is a list; ``name!`` is required, and ``name@1`` came with version 3.1.
    """
    members = {}
    for kind, names in kinds.items():
        is_list = kind.endswith("_list")
        whole = f"[{kind.removesuffix('_list')}]" if is_list else kind.replace("_or_", "|")
        for text in names.split():
            name, _, since = text.rstrip("!").partition("@")
            members[name] = Member(whole, int(since or 0), text.endswith("!"))
    return Block(members, closed_since)


_ELEMENT: Final = {
    "id": "id@1",
    "text": "physicalType physicalName description businessName",
    "flag": "deprecated@2",
    "synonym_list": "synonyms@2",
    "text_list": "tags",
    "definition_list": "authoritativeDefinitions",
    "quality_list": "quality",
    "custom_list": "customProperties",
}
_PROPERTY: Final = _ELEMENT | {
    "logicalType": "logicalType",
    "options": "logicalTypeOptions",
    "flag": "deprecated@2 required unique primaryKey partitioned criticalDataElement",
    "integer": "primaryKeyPosition partitionKeyPosition",
    "semanticType": "semanticType@2",
    "text": "name physicalType physicalName description businessName classification encryptedName transformLogic "
    "transformDescription",
    "text_list": "tags transformSourceObjects",
    "any_list": "examples",
    "enumValue_list": "enum@2",
    "toRelationship_list": "relationships@1",
    "property_list": "properties",
    "item": "items",
    "map": "map@2",
}

BLOCKS: Final[Mapping[str, Block]] = {
    "contract": _block(
        closed_since=0,
        version="apiVersion!",
        kindOfContract="kind!",
        text="version! id! name tenant domain dataProduct status slaDefaultElement contractCreatedTs",
        description="description",
        text_or_context="context@2",
        text_list="tags",
        server_list="servers",
        schemaObject_list="schema",
        support_list="support",
        price="price",
        team="team",
        role_list="roles",
        sla_list="slaProperties",
        definition_list="authoritativeDefinitions",
        custom_list="customProperties",
    ),
    "description": _block(
        closed_since=9,
        text="purpose usage limitations",
        definition_list="authoritativeDefinitions",
        custom_list="customProperties",
    ),
    "context": _block(text="instructions", statement_list="verifiedStatements", constraint_list="constraints"),
    "statement": _block(
        text="id question! answer",
        text_list="tags",
        definition_list="authoritativeDefinitions",
        custom_list="customProperties",
    ),
    "constraint": _block(
        text="id constraint!",
        text_list="tags",
        definition_list="authoritativeDefinitions",
        custom_list="customProperties",
    ),
    "server": _block(
        id="id@1",
        text="server! description environment",
        serverType="type!",
        role_list="roles",
        custom_list="customProperties",
    ),
    "schemaObject": _block(
        closed_since=0,
        **(
            _ELEMENT
            | {
                "text": "name! physicalName physicalType businessName description dataGranularityDescription",
                "objectType": "logicalType",
                "text_or_context": "context@2",
                "relationship_list": "relationships@1",
                "property_list": "properties",
            }
        ),
    ),
    "property": _block(closed_since=0, **(_PROPERTY | {"text": _PROPERTY["text"].replace("name ", "name! ", 1)})),
    "item": _block(closed_since=0, **_PROPERTY),
    "map": _block(item="key! value!"),
    "enumValue": _block(
        id="id",
        scalar="value!",
        text="label description",
        text_list="tags",
        definition_list="authoritativeDefinitions",
        custom_list="customProperties",
    ),
    "synonym": _block(id="id", text="synonym! description locale source status", custom_list="customProperties"),
    "relationship": _block(
        text="id@2",
        relationshipType="type",
        reference="from! to!",
        custom_list="customProperties",
    ),
    "toRelationship": _block(text="id@2", relationshipType="type", reference="to!", custom_list="customProperties"),
    "quality": _block(
        id="id@1",
        qualityType="type",
        dimension="dimension",
        text="name description businessImpact method schedule scheduler severity unit rule query engine",
        metric="metric@1",
        object="arguments@1",
        text_or_object="implementation",
        any="mustBe mustNotBe",
        number="mustBeGreaterThan mustBeGreaterOrEqualTo mustBeLessThan mustBeLessOrEqualTo",
        interval="mustBeBetween mustNotBeBetween",
        text_list="tags",
        definition_list="authoritativeDefinitions",
        custom_list="customProperties",
    ),
    "sla": _block(
        id="id@1",
        text="property! unit element driver description@1 scheduler@1 schedule@1",
        scalar="value! valueExt",
        definition_list="authoritativeDefinitions@2",
        custom_list="customProperties@2",
    ),
    "teamObject": _block(
        id="id",
        text="name description",
        member_list="members",
        text_list="tags",
        definition_list="authoritativeDefinitions",
        custom_list="customProperties",
    ),
    "member": _block(
        id="id@1",
        text="username! name description role dateIn dateOut replacedByUsername",
        text_list="tags@1",
        definition_list="authoritativeDefinitions@1",
        custom_list="customProperties@1",
    ),
    "role": _block(
        id="id@1",
        text="role! description access firstLevelApprovers secondLevelApprovers",
        custom_list="customProperties",
    ),
    "support": _block(
        id="id@1",
        text="channel! url description tool scope invitationUrl",
        custom_list="customProperties@1",
    ),
    "price": _block(id="id@1", number="priceAmount", text="priceCurrency priceUnit"),
    "definition": _block(id="id@1", text="url! type! description@1"),
    "custom": _block(id="id@1", text="property! description@1 vendor@2", any="value!"),
    # options of a logical type, and servers, have blocks of their own
    "options:string": _block(closed_since=0, natural="minLength maxLength", text="pattern format"),
    "options:date": _block(
        closed_since=0, text="format minimum maximum", exclusiveText="exclusiveMinimum exclusiveMaximum"
    ),
    "options:timestamp": _block(
        text="format minimum maximum exclusiveMinimum exclusiveMaximum defaultTimezone", flag="timezone"
    ),
    "options:number": _block(
        closed_since=0,
        positive="multipleOf",
        number="minimum maximum",
        exclusive="exclusiveMinimum exclusiveMaximum",
        numberFormat="format",
    ),
    "options:integer": _block(
        closed_since=0,
        positive="multipleOf",
        number="minimum maximum",
        exclusive="exclusiveMinimum exclusiveMaximum",
        integerFormat="format",
    ),
    "options:object": _block(closed_since=0, natural="minProperties maxProperties", names="required"),
    "options:array": _block(closed_since=0, natural="minItems maxItems", flag="uniqueItems"),
    "options:vector": _block(
        count="dimensions!",
        elementType="elementType",
        distanceMetric="distanceMetric",
        text="embeddingModel embeddingModelVersion",
        flag="normalized",
    ),
}
"""The members of each block."""

WORDS: Final[Mapping[str, Mapping[str, int]]] = {
    kind: {word.partition("@")[0]: int(word.partition("@")[2] or 0) for word in words.split()}
    for kind, words in {
        "version": " ".join(VERSIONS),
        "kindOfContract": "DataContract",
        "objectType": "object",
        "relationshipType": "foreignKey",
        "logicalType": "string date number integer object array boolean timestamp@1 time@1 map@2 vector@2",
        "semanticType": "column measure dimension",
        "qualityType": "text library sql custom",
        "dimension": "accuracy completeness conformity consistency coverage timeliness uniqueness",
        "metric": " ".join(METRICS),
        "operator": " ".join(OPERATORS),
        "numberFormat": "f32 f64",
        "integerFormat": "i8 i16 i32 i64 i128 u8 u16 u32 u64 u128",
        "elementType": "bfloat16 binary float16 float32 float64 int8 uint8",
        "distanceMetric": "cosine dotProduct euclidean hamming manhattan",
        "serverType": "api athena azure bigquery clickhouse databricks denodo dremio duckdb glue cloudsql db2 informix "
        "kafka kinesis local mysql oracle postgresql postgres presto pubsub redshift s3 sftp snowflake sqlserver "
        "synapse trino vertica custom hive@1 impala@1 zen@1 btrieve@2 exasol@2 fastobjects@2 hana@2 iceberg@2 ingres@2 "
        "poet@2 teradata@2 vectorwise@2 versant@2",
    }.items()
}
"""Lists of words, each with the minor version that brought it."""

_SERVER_KINDS: Final = {
    "port": "port",
    "sftp.location": "sftpLocation",
    "duckdb.schema": "duckdbSchema",
    **{f"{type_}.{name}": name for type_ in ("azure", "s3", "sftp") for name in ("format", "delimiter")},
}  #: of members that are no texts of any form
_SERVER_MEMBERS_SINCE: Final = {"encoding": 2, "workgroup": 2, "stream": 1}
SERVERS: Final[Mapping[str, Mapping[str, Member]]] = {
    type_: {
        name: Member(
            _SERVER_KINDS.get(f"{type_}.{name}", _SERVER_KINDS.get(name, "text")),
            _SERVER_MEMBERS_SINCE.get(name, 0),
            text.endswith("!"),
        )
        for text in members.split()
        for name in (text.rstrip("!"),)
    }
    for names, members in {
        "api": "location!",
        "athena": "schema! stagingDir catalog regionName workgroup",
        "azure": "location! format! encoding delimiter",
        "bigquery": "project! dataset!",
        "btrieve zen hive impala informix ingres vectorwise": "host! database! port",
        "clickhouse synapse": "host! port! database!",
        "databricks": "catalog! schema! host",
        "denodo": "host! port! database",
        "dremio": "host! port! schema",
        "duckdb": "database! schema",
        "exasol": "host! port schema",
        "fastobjects poet versant": "database! host port",
        "glue": "account! database! location format encoding",
        "cloudsql postgresql postgres vertica": "host! port! database! schema!",
        "db2": "host! port! database! schema",
        "hana": "host! port database schema",
        "iceberg": "catalog! catalogUrl! namespace warehouse",
        "kafka": "host! format encoding",
        "kinesis": "region format encoding",
        "local": "path! format! encoding",
        "mysql": "host! port! database!",
        "oracle": "host! port! serviceName!",
        "presto": "host! catalog schema",
        "pubsub": "project!",
        "redshift": "database! schema! host region account",
        "s3": "location! endpointUrl format encoding delimiter",
        "sftp": "location! format encoding delimiter",
        "snowflake": "account! database! schema! host port warehouse",
        "sqlserver": "host! database! schema! port",
        "teradata": "host! port database",
        "trino": "host! port! catalog! schema!",
        "custom": "account catalog database dataset delimiter endpointUrl format encoding host location path port "
        "project region regionName schema serviceName stagingDir warehouse stream",
    }.items()
    for type_ in names.split()
}
"""Members of a server beside those of every server, by its type."""
