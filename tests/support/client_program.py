"""A program that calls every method of a ``SchemaRegistryClient``, with valid and invalid arguments.

It uses confluent-kafka's names, and runs with either package; its transcript has the results.
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


def create_step(label: str, method: str, *args: Any, **kwargs: Any) -> Step:
    return label, method, args, kwargs


def list_steps(sr: Any) -> Iterator[Step]:
    """All that is asked, one after the other: a label, a method, its arguments."""
    given = _create_arguments(sr)
    for part in (_registering, _reading, _setting, _binding, _ending):
        yield from part(sr, given)


def _create_arguments(sr: Any) -> SimpleNamespace:
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
    yield create_step("an empty registry", "get_subjects")
    yield create_step("types", "get_schema_types")
    yield create_step("contexts", "get_contexts")
    yield create_step("unknown subject", "get_versions", "orders")
    yield create_step("unknown latest", "get_latest_version", "orders")
    yield create_step("unknown id", "get_schema", 1)
    yield create_step("unknown guid", "get_schema_by_guid", "3e4666bf-0b3f-4c4a-9d5e-000000000000")
    yield create_step("first", "register_schema_full_response", "orders", given.first)
    yield create_step("first again", "register_schema", "orders", given.first)
    yield create_step("second", "register_schema", "orders", given.second, normalize_schemas=True)
    yield create_step("incompatible", "register_schema", "orders", given.broken)
    yield create_step("no schema", "register_schema", "orders", sr.Schema("{"))
    yield create_step("no such type", "register_schema", "orders", sr.Schema("{}", "YAML"))
    yield create_step("a name that cannot be", "register_schema", "con\x01trol", given.first)
    yield create_step(
        "a rule without a name",
        "register_schema",
        "ruled",
        sr.Schema(record("x"), rule_set=sr.RuleSet([], [given.bad_rule])),
    )
    yield create_step("metadata", "register_schema_full_response", "orders", given.noted)
    yield create_step("rules", "register_schema_full_response", "ruled", given.ruled)
    yield create_step("references", "register_schema_full_response", "lines", given.leaning)
    yield create_step("json", "register_schema_full_response", "docs/a b", given.as_json)
    yield create_step("json again", "register_schema_full_response", "docs/a b", given.as_json)
    yield create_step("in a context", "register_schema_full_response", ":.eu:orders", given.first)


def _reading(sr: Any, given: SimpleNamespace) -> Iterator[Step]:
    yield create_step("by id", "get_schema", 1)
    yield create_step("by id and subject", "get_schema", 1, "orders")
    yield create_step("by id in a context", "get_schema", 1, ":.eu:orders")
    yield create_step("resolved", "get_schema", 5, "lines", fmt="resolved")
    yield create_step("by id, resolved only later", "get_schema", 1, None, "resolved")
    yield create_step("rules by id", "get_schema", 4)
    yield create_step("subjects of an id", "get_subjects_by_schema_id", 1)
    yield create_step("subjects of an unknown id", "get_subjects_by_schema_id", 4711)
    yield create_step("versions of an id", "get_schema_versions", 1, "orders", False, 0, 5)
    yield create_step("versions of an unknown id", "get_schema_versions", 4711)
    yield create_step("found", "lookup_schema", "orders", given.second)
    yield create_step("found again", "lookup_schema", "orders", given.second, True, None, True)
    yield create_step("not found", "lookup_schema", "orders", given.broken)
    yield create_step("not found anywhere", "lookup_schema", "nowhere", given.first)
    yield create_step("latest", "get_latest_version", "orders")
    yield create_step("version", "get_version", "orders", 1)
    yield create_step("version latest", "get_version", "orders")
    yield create_step("version as text", "get_version", "orders", "latest", True, "resolved")
    yield create_step("unknown version", "get_version", "orders", 99)
    yield create_step("no version", "get_version", "orders", 0)
    yield create_step("versions", "get_versions", "orders")
    yield create_step("versions, a page", "get_versions", "orders", False, False, 1, 1)
    yield create_step("with metadata", "get_latest_with_metadata", "orders", {"owner": "x"})
    yield create_step("with other metadata", "get_latest_with_metadata", "orders", {"owner": "y"})
    yield create_step("leaned on", "get_referenced_by", "orders", 1)
    yield create_step("not leaned on", "get_referenced_by", "orders", 2, 0, 3)
    yield create_step("subjects", "get_subjects")
    yield create_step("subjects by prefix", "get_subjects", "l")
    yield create_step("subjects of a context", "get_subjects", ":.eu:")
    yield create_step("subjects, a page", "get_subjects", None, False, False, 1, 2)
    yield create_step("contexts", "get_contexts", 0, 5)
    yield create_step("compatible", "test_compatibility", "orders", given.second)
    yield create_step("not compatible", "test_compatibility", "orders", given.broken, 1, False, True)
    yield create_step(
        "not compatible with all", "test_compatibility_all_versions", "orders", given.broken, verbose=True
    )
    yield create_step("compatible with an unknown version", "test_compatibility", "orders", given.second, 99)
    yield create_step("compatible, but no schema", "test_compatibility", "orders", sr.Schema("{"))


def _setting(sr: Any, given: SimpleNamespace) -> Iterator[Step]:
    yield create_step("level", "get_compatibility")
    yield create_step("own level", "get_compatibility", "orders")
    yield create_step("level set", "set_compatibility", "orders", "full_transitive")
    yield create_step("level set for all", "set_compatibility", level="NONE")
    yield create_step("level not given", "set_compatibility", "orders")
    yield create_step("no level", "set_compatibility", "orders", "SIDEWAYS")
    yield create_step("own level now", "get_compatibility", "orders")
    yield create_step("config", "get_config", "orders")
    yield create_step("config of all", "get_config")
    yield create_step("config without", "get_config", "lines")
    yield create_step("config not given", "set_config", "orders")
    config = sr.ServerConfig(
        compatibility=sr.ConfigCompatibilityLevel.FULL,
        compatibility_group="major",
        default_metadata=sr.Metadata(None, sr.MetadataProperties({"major": "1"}), None),
        override_rule_set=sr.RuleSet([], [given.rule]),
    )
    yield create_step("config set", "set_config", "grouped", config)
    yield create_step("config set for all", "set_config", None, sr.ServerConfig(sr.ConfigCompatibilityLevel.BACKWARD))
    yield create_step("config as set", "get_config", "grouped")
    yield create_step("config deleted", "delete_config", "grouped")
    yield create_step("config deleted twice", "delete_config", "grouped")
    yield create_step("mode", "get_global_mode")
    yield create_step("own mode", "get_mode", "orders")
    yield create_step("mode set", "update_mode", "lines", "READONLY")
    yield create_step("own mode now", "get_mode", "lines")
    yield create_step("not permitted", "register_schema", "lines", given.first)
    yield create_step("no mode", "update_mode", "lines", "SIDEWAYS")
    yield create_step("import where there are schemas", "update_mode", "lines", "IMPORT")
    yield create_step("import, forced", "update_mode", "lines", "IMPORT", True)
    yield create_step("mode deleted", "delete_mode", "lines")
    yield create_step("mode deleted twice", "delete_mode", "lines")
    yield create_step("mode of all", "update_global_mode", "READONLY")
    yield create_step("nothing permitted", "register_schema", "orders", sr.Schema(record("z")))
    yield create_step("mode of all back", "update_global_mode", "READWRITE", force=True)


def _binding(sr: Any, given: SimpleNamespace) -> Iterator[Step]:
    resource = {"resource_name": "t", "resource_namespace": "lkc", "resource_id": "id-t", "resource_type": "topic"}
    info = sr.AssociationCreateOrUpdateInfo
    request = sr.AssociationCreateOrUpdateRequest
    yield create_step(
        "bound", "create_association", request(**resource, associations=[info("orders", "value", "WEAK")])
    )
    yield create_step(
        "bound again, otherwise", "create_association", request(**resource, associations=[info("lines", "value")])
    )
    yield create_step(
        "bound to no such type", "create_association", request(**resource, associations=[info("orders", "tail")])
    )
    yield create_step(
        "bound to nothing", "create_association", request(**resource, associations=[info("nothing", "key")])
    )
    owned = resource | {"resource_name": "u", "resource_id": "id-u"}
    own = info(association_type="value", schema=sr.Schema(record("u")))
    yield create_step("owned", "create_association", request(**owned, associations=[own]))
    other = resource | {"resource_name": "v", "resource_id": "id-v"}
    taken = info(":.lkc:u-value", "value", "WEAK")
    yield create_step("taken", "create_association", request(**other, associations=[taken]))
    yield create_step("associations", "get_associations_by_resource_name", "t", "lkc")
    yield create_step(
        "associations anywhere", "get_associations_by_resource_name", "u", "-", "topic", ["key", "value"], 0, 5
    )
    yield create_step("associations of nobody", "get_associations_by_resource_name", "nobody", "-")
    yield create_step("a bound subject stays", "delete_subject", "orders")
    yield create_step("frozen", "delete_associations", "id-u")
    yield create_step("let go with all", "delete_associations", "id-u", "topic", ["value"], True)
    yield create_step("let go", "delete_associations", "id-t")
    yield create_step("let go twice", "delete_associations", "id-t")


def _ending(sr: Any, given: SimpleNamespace) -> Iterator[Step]:
    yield create_step("leaned on, so it stays", "delete_version", "orders", 1)
    yield create_step("not soft first", "delete_version", "orders", 2, True)
    yield create_step("version deleted", "delete_version", "orders", 2)
    yield create_step("version deleted twice", "delete_version", "orders", 2)
    yield create_step("version gone", "get_version", "orders", 2)
    yield create_step("version seen as deleted", "get_version", "orders", 2, True)
    yield create_step("deleted versions", "get_versions", "orders", True, True)
    yield create_step("version deleted for good", "delete_version", "orders", 2, True)
    yield create_step("a version that never was", "delete_version", "orders", 99)
    yield create_step("not soft given.first, a subject", "delete_subject", "ruled", True)
    yield create_step("subject deleted", "delete_subject", "ruled")
    yield create_step("subject deleted twice", "delete_subject", "ruled")
    yield create_step("deleted subjects", "get_subjects", None, True, True)
    yield create_step("still by id", "get_schema", 4)
    yield create_step("subject deleted for good", "delete_subject", "ruled", permanent=True)
    yield create_step("an unknown subject deleted", "delete_subject", "ruled")
    yield create_step("deleted softly", "delete_subject", "docs/a b")
    yield create_step("registered once more", "register_schema", "docs/a b", given.as_json)
    yield create_step("so it is there", "get_versions", "docs/a b")
    yield create_step("the latest before", "get_latest_version", "orders")
    yield create_step("a later one", "register_schema", "orders", sr.Schema(record("a", "b", "n", "later")))
    yield create_step("the latest after", "get_latest_version", "orders")
    yield create_step("forgotten", "clear_latest_caches")
    yield create_step("all forgotten", "clear_caches")
    yield create_step("no longer by id", "get_schema", 4)
    yield create_step("latest at last", "get_latest_version", "orders")


def transcript(sr: Any, client_name: str, url: str) -> dict[str, str]:
    """Run the program; return what came of each step, by its label."""
    return asyncio.run(_run(sr, lambda: getattr(sr, client_name)({"url": url, "max.retries": 0})))


async def _run(sr: Any, make: Callable[[], Any]) -> dict[str, str]:
    client = make()
    seen: dict[str, str] = {}
    for label, method, args, kwargs in list_steps(sr):
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
