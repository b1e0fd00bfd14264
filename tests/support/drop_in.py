"""A program that uses every method of a ``SchemaRegistryClient`` and meets the errors that a registry has for it.

It is written for confluent-kafka's names, and runs with whichever package it is given; what it saw is its transcript.
"""

# ruff: noqa: FBT003 - arguments by position are part of what is tried

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

_GUID = re.compile(r"guid='[-0-9a-f]{36}'")  # of an association: made at random
Step = tuple[str, str, tuple[Any, ...], dict[str, Any]]


def record(*fields: str, name: str = "Order", kind: str = "long") -> str:
    members = [{"name": field, "type": kind, "default": 0} for field in fields]
    return json.dumps({"type": "record", "name": name, "fields": members})


def ask(label: str, method: str, *args: Any, **kwargs: Any) -> Step:
    return label, method, args, kwargs


def steps(sr: Any) -> Iterator[Step]:
    """All that is asked, one after the other: a label, a method, its arguments."""
    given = _given(sr)
    for part in (_registering, _reading, _setting, _binding, _ending):
        yield from part(sr, given)


def _given(sr: Any) -> SimpleNamespace:
    first, second = sr.Schema(record("a")), sr.Schema(record("a", "b"), "AVRO")
    broken = sr.Schema('{"type":"record","name":"Order","fields":[{"name":"c","type":"long"}]}')
    noted = sr.Schema(
        record("a", "b", "n"),
        metadata=sr.Metadata(
            sr.MetadataTags({"Order.n": ["PII"]}), sr.MetadataProperties({"owner": "x", "k y": "ü/"}), []
        ),
    )
    rule = sr.Rule(
        "r",
        None,
        sr.RuleKind.CONDITION,
        sr.RuleMode.WRITE,
        "CEL",
        ["PII"],
        sr.RuleParams({"p": "q"}),
        "true",
        None,
        None,
        False,
    )
    ruled = sr.Schema(record("a", "b", "r"), rule_set=sr.RuleSet([], [rule]))
    bad_rule = sr.Rule("", None, None, None, "CEL", None, None, None, None, None, None)
    leaning = sr.Schema(
        '{"type":"record","name":"Line","fields":[{"name":"order","type":"Order"}]}',
        "AVRO",
        [sr.SchemaReference("Order", "orders", 1)],
    )
    as_json = sr.Schema('{"type":"object"}', "JSON")
    return SimpleNamespace(**{name: value for name, value in locals().items() if name != "sr"})


def _registering(sr: Any, given: SimpleNamespace) -> Iterator[Step]:
    yield ask("an empty registry", "get_subjects")
    yield ask("types", "get_schema_types")
    yield ask("contexts", "get_contexts")
    yield ask("unknown subject", "get_versions", "orders")
    yield ask("unknown latest", "get_latest_version", "orders")
    yield ask("unknown id", "get_schema", 1)
    yield ask("unknown guid", "get_schema_by_guid", "3e4666bf-0b3f-4c4a-9d5e-000000000000")
    yield ask("first", "register_schema_full_response", "orders", given.first)
    yield ask("first again", "register_schema", "orders", given.first)
    yield ask("second", "register_schema", "orders", given.second, normalize_schemas=True)
    yield ask("incompatible", "register_schema", "orders", given.broken)
    yield ask("no schema", "register_schema", "orders", sr.Schema("{"))
    yield ask("no such type", "register_schema", "orders", sr.Schema("{}", "YAML"))
    yield ask("a name that cannot be", "register_schema", "con\x01trol", given.first)
    yield ask(
        "a rule without a name",
        "register_schema",
        "ruled",
        sr.Schema(record("x"), rule_set=sr.RuleSet([], [given.bad_rule])),
    )
    yield ask("metadata", "register_schema_full_response", "orders", given.noted)
    yield ask("rules", "register_schema_full_response", "ruled", given.ruled)
    yield ask("references", "register_schema_full_response", "lines", given.leaning)
    yield ask("json", "register_schema_full_response", "docs/a b", given.as_json)
    yield ask("json again", "register_schema_full_response", "docs/a b", given.as_json)
    yield ask("in a context", "register_schema_full_response", ":.eu:orders", given.first)


def _reading(sr: Any, given: SimpleNamespace) -> Iterator[Step]:
    yield ask("by id", "get_schema", 1)
    yield ask("by id and subject", "get_schema", 1, "orders")
    yield ask("by id in a context", "get_schema", 1, ":.eu:orders")
    yield ask("resolved", "get_schema", 5, "lines", fmt="resolved")
    yield ask("by id, resolved only later", "get_schema", 1, None, "resolved")
    yield ask("rules by id", "get_schema", 4)
    yield ask("subjects of an id", "get_subjects_by_schema_id", 1)
    yield ask("subjects of an unknown id", "get_subjects_by_schema_id", 4711)
    yield ask("versions of an id", "get_schema_versions", 1, "orders", False, 0, 5)
    yield ask("versions of an unknown id", "get_schema_versions", 4711)
    yield ask("found", "lookup_schema", "orders", given.second)
    yield ask("found again", "lookup_schema", "orders", given.second, True, None, True)
    yield ask("not found", "lookup_schema", "orders", given.broken)
    yield ask("not found anywhere", "lookup_schema", "nowhere", given.first)
    yield ask("latest", "get_latest_version", "orders")
    yield ask("version", "get_version", "orders", 1)
    yield ask("version latest", "get_version", "orders")
    yield ask("version as text", "get_version", "orders", "latest", True, "resolved")
    yield ask("unknown version", "get_version", "orders", 99)
    yield ask("no version", "get_version", "orders", 0)
    yield ask("versions", "get_versions", "orders")
    yield ask("versions, a page", "get_versions", "orders", False, False, 1, 1)
    yield ask("with metadata", "get_latest_with_metadata", "orders", {"owner": "x"})
    yield ask("with other metadata", "get_latest_with_metadata", "orders", {"owner": "y"})
    yield ask("leaned on", "get_referenced_by", "orders", 1)
    yield ask("not leaned on", "get_referenced_by", "orders", 2, 0, 3)
    yield ask("subjects", "get_subjects")
    yield ask("subjects by prefix", "get_subjects", "l")
    yield ask("subjects of a context", "get_subjects", ":.eu:")
    yield ask("subjects, a page", "get_subjects", None, False, False, 1, 2)
    yield ask("contexts", "get_contexts", 0, 5)
    yield ask("compatible", "test_compatibility", "orders", given.second)
    yield ask("not compatible", "test_compatibility", "orders", given.broken, 1, False, True)
    yield ask("not compatible with all", "test_compatibility_all_versions", "orders", given.broken, verbose=True)
    yield ask("compatible with an unknown version", "test_compatibility", "orders", given.second, 99)
    yield ask("compatible, but no schema", "test_compatibility", "orders", sr.Schema("{"))


def _setting(sr: Any, given: SimpleNamespace) -> Iterator[Step]:
    yield ask("level", "get_compatibility")
    yield ask("own level", "get_compatibility", "orders")
    yield ask("level set", "set_compatibility", "orders", "full_transitive")
    yield ask("level set for all", "set_compatibility", level="NONE")
    yield ask("level not given", "set_compatibility", "orders")
    yield ask("no level", "set_compatibility", "orders", "SIDEWAYS")
    yield ask("own level now", "get_compatibility", "orders")
    yield ask("config", "get_config", "orders")
    yield ask("config of all", "get_config")
    yield ask("config without", "get_config", "lines")
    yield ask("config not given", "set_config", "orders")
    config = sr.ServerConfig(
        compatibility=sr.ConfigCompatibilityLevel.FULL,
        compatibility_group="major",
        default_metadata=sr.Metadata(None, sr.MetadataProperties({"major": "1"}), None),
        override_rule_set=sr.RuleSet([], [given.rule]),
    )
    yield ask("config set", "set_config", "grouped", config)
    yield ask("config set for all", "set_config", None, sr.ServerConfig(sr.ConfigCompatibilityLevel.BACKWARD))
    yield ask("config as set", "get_config", "grouped")
    yield ask("config deleted", "delete_config", "grouped")
    yield ask("config deleted twice", "delete_config", "grouped")
    yield ask("mode", "get_global_mode")
    yield ask("own mode", "get_mode", "orders")
    yield ask("mode set", "update_mode", "lines", "READONLY")
    yield ask("own mode now", "get_mode", "lines")
    yield ask("not permitted", "register_schema", "lines", given.first)
    yield ask("no mode", "update_mode", "lines", "SIDEWAYS")
    yield ask("import where there are schemas", "update_mode", "lines", "IMPORT")
    yield ask("import, forced", "update_mode", "lines", "IMPORT", True)
    yield ask("mode deleted", "delete_mode", "lines")
    yield ask("mode deleted twice", "delete_mode", "lines")
    yield ask("mode of all", "update_global_mode", "READONLY")
    yield ask("nothing permitted", "register_schema", "orders", sr.Schema(record("z")))
    yield ask("mode of all back", "update_global_mode", "READWRITE", force=True)


def _binding(sr: Any, given: SimpleNamespace) -> Iterator[Step]:
    resource = {"resource_name": "t", "resource_namespace": "lkc", "resource_id": "id-t", "resource_type": "topic"}
    info = sr.AssociationCreateOrUpdateInfo
    request = sr.AssociationCreateOrUpdateRequest
    yield ask("bound", "create_association", request(**resource, associations=[info("orders", "value", "WEAK")]))
    yield ask(
        "bound again, otherwise", "create_association", request(**resource, associations=[info("lines", "value")])
    )
    yield ask("bound to no such type", "create_association", request(**resource, associations=[info("orders", "tail")]))
    yield ask("bound to nothing", "create_association", request(**resource, associations=[info("nothing", "key")]))
    owned = resource | {"resource_name": "u", "resource_id": "id-u"}
    own = info(association_type="value", schema=sr.Schema(record("u")))
    yield ask("owned", "create_association", request(**owned, associations=[own]))
    other = resource | {"resource_name": "v", "resource_id": "id-v"}
    taken = info(":.lkc:u-value", "value", "WEAK")
    yield ask("taken", "create_association", request(**other, associations=[taken]))
    yield ask("associations", "get_associations_by_resource_name", "t", "lkc")
    yield ask("associations anywhere", "get_associations_by_resource_name", "u", "-", "topic", ["key", "value"], 0, 5)
    yield ask("associations of nobody", "get_associations_by_resource_name", "nobody", "-")
    yield ask("a bound subject stays", "delete_subject", "orders")
    yield ask("frozen", "delete_associations", "id-u")
    yield ask("let go with all", "delete_associations", "id-u", "topic", ["value"], True)
    yield ask("let go", "delete_associations", "id-t")
    yield ask("let go twice", "delete_associations", "id-t")


def _ending(sr: Any, given: SimpleNamespace) -> Iterator[Step]:
    yield ask("leaned on, so it stays", "delete_version", "orders", 1)
    yield ask("not soft first", "delete_version", "orders", 2, True)
    yield ask("version deleted", "delete_version", "orders", 2)
    yield ask("version deleted twice", "delete_version", "orders", 2)
    yield ask("version gone", "get_version", "orders", 2)
    yield ask("version seen as deleted", "get_version", "orders", 2, True)
    yield ask("deleted versions", "get_versions", "orders", True, True)
    yield ask("version deleted for good", "delete_version", "orders", 2, True)
    yield ask("a version that never was", "delete_version", "orders", 99)
    yield ask("not soft given.first, a subject", "delete_subject", "ruled", True)
    yield ask("subject deleted", "delete_subject", "ruled")
    yield ask("subject deleted twice", "delete_subject", "ruled")
    yield ask("deleted subjects", "get_subjects", None, True, True)
    yield ask("still by id", "get_schema", 4)
    yield ask("subject deleted for good", "delete_subject", "ruled", permanent=True)
    yield ask("an unknown subject deleted", "delete_subject", "ruled")
    yield ask("deleted softly", "delete_subject", "docs/a b")
    yield ask("registered once more", "register_schema", "docs/a b", given.as_json)
    yield ask("so it is there", "get_versions", "docs/a b")
    yield ask("the latest before", "get_latest_version", "orders")
    yield ask("a later one", "register_schema", "orders", sr.Schema(record("a", "b", "n", "later")))
    yield ask("the latest after", "get_latest_version", "orders")
    yield ask("forgotten", "clear_latest_caches")
    yield ask("all forgotten", "clear_caches")
    yield ask("no longer by id", "get_schema", 4)
    yield ask("latest at last", "get_latest_version", "orders")


def transcript(sr: Any, client_name: str, url: str) -> dict[str, str]:
    """Run the program; return what came of each step, by its label."""
    return asyncio.run(_run(sr, lambda: getattr(sr, client_name)({"url": url, "max.retries": 0})))


async def _run(sr: Any, make: Callable[[], Any]) -> dict[str, str]:
    client = make()
    seen: dict[str, str] = {}
    for label, method, args, kwargs in steps(sr):
        try:
            result = getattr(client, method)(*args, **kwargs)
            result = await result if inspect.isawaitable(result) else result
            came = _GUID.sub("guid='…'", repr(result)) if "ssociation" in method else repr(result)
        except sr.SchemaRegistryError as error:
            came = f"{error.http_status_code} {error.error_code} {error.error_message} | {error}"
        except (ValueError, TypeError) as error:
            came = f"{type(error).__name__} {error}"
        seen[label if label not in seen else f"{label}, later"] = came
    closed = client.aclose() if hasattr(client, "aclose") else client.close()
    if inspect.isawaitable(closed):
        await closed
    return seen
