"""Every operation of the service has a call, and every call is an operation of the service."""

from __future__ import annotations

import inspect
import re
from typing import Any, get_type_hints

from contractlog.clients import calls
from contractlog.clients.calls import Call, change_requests, encryption_keys, extensions
from contractlog.registry.http.openapi_file import build_document

from support.api_calls import BOUND, BY_FILE, DRAFT, EXAMPLES, OLDER_PATHS, RESOURCE


def test_every_operation_has_a_call_and_every_call_an_operation() -> None:
    asked = {(call.method, call.route) for made in EXAMPLES.values() for call in made}
    offered = {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path))
        for path, operations in build_document()["paths"].items()
        for method in operations
    }
    assert asked == offered - BY_FILE - OLDER_PATHS
    assert len(offered) > 60


def test_every_parameter_that_a_call_sends_is_one_of_its_operation() -> None:
    offered = {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path)): {
            one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"
        }
        for path, operations in build_document()["paths"].items()
        for method, operation in operations.items()
    }
    full: list[Call[Any]] = [
        calls.register("s", DRAFT, normalize=True),
        calls.lookup("s", DRAFT, normalize=True, deleted=True),
        calls.latest_with_metadata("s", {"k": "v"}, deleted=True, format="resolved"),
        calls.subjects(prefix="p", deleted=True, deleted_only=True, offset=1, limit=2),
        calls.versions("s", deleted=True, deleted_only=True, deleted_as_negative=True, offset=1, limit=2),
        calls.version("s", 1, deleted=True, format="resolved", qualified=True),
        calls.text_of_version("s", 1, deleted=True, format="resolved"),
        calls.referenced_by("s", 1, deleted=True, offset=1, limit=2),
        calls.by_id(1, subject="s", format="resolved", qualified=True),
        calls.text_of_id(1, subject="s", format="resolved"),
        calls.subjects_of_id(1, subject="s", deleted=True, offset=1, limit=2),
        calls.versions_of_id(1, subject="s", deleted=True, offset=1, limit=2),
        calls.by_guid("g", format="resolved"),
        calls.schemas(
            prefix="p",
            deleted=True,
            latest_only=True,
            aliases=True,
            rule_type="CEL",
            resource_type="topic",
            association_types=["key"],
            lifecycles=["WEAK"],
            offset=1,
            limit=2,
        ),
        calls.set_mode("IMPORT", "s", force=True),
        calls.delete_mode("s", recursive=True),
        calls.contexts(prefix="p", offset=1, limit=2),
        calls.associations_by_resource_name(
            "r", resource_type="topic", association_types=["key"], lifecycle="WEAK", offset=1, limit=2
        ),
        calls.unbind("r", resource_type="topic", association_types=["key"], cascade=True, dry_run=True),
        calls.bind(RESOURCE, BOUND, dry_run=True),
        calls.associations_of_many([], schemas=True),
        calls.check("s", DRAFT, normalize=True),
        extensions.lineage("t", direction="both", depth=1, field="f", at="2013-07-01", evidence="values"),
        extensions.lineage_edges(at="2013-07-01", evidence="values", after=1, limit=2),
        extensions.contracts(after="a", limit=2),
        extensions.put_contract("t", {}, expected=0),
        encryption_keys.keks(subject_prefix="p", deleted=True, offset=1, limit=2),
        encryption_keys.kek("k", deleted=True),
        encryption_keys.create_kek("k", "local-kms", "i", test_sharing=True),
        encryption_keys.update_kek("k", test_sharing=True),
        encryption_keys.delete_kek("k", permanent=True),
        encryption_keys.dek_subjects("k", deleted=True, offset=1, limit=2),
        encryption_keys.dek("k", "s", algorithm="AES256_SIV", deleted=True),
        encryption_keys.dek("k", "s", 1, algorithm="AES256_SIV", deleted=True),
        encryption_keys.dek_versions("k", "s", algorithm="AES256_SIV", deleted=True, offset=1, limit=2),
        encryption_keys.create_dek("k", "s", rewrap=True),
        encryption_keys.delete_dek("k", "s", algorithm="AES256_SIV", permanent=True),
        encryption_keys.delete_dek_version("k", "s", 1, algorithm="AES256_SIV", permanent=True),
        encryption_keys.undelete_dek("k", "s", algorithm="AES256_SIV"),
        encryption_keys.undelete_dek_version("k", "s", 1, algorithm="AES256_SIV"),
    ]
    for call in full:
        unknown = {name for name, _ in call.query} - offered[call.method, call.route]
        assert not unknown, call.target


def test_every_call_has_an_example() -> None:
    made = {
        name
        for module in (calls, extensions, encryption_keys, change_requests)
        for name, member in vars(module).items()
        if inspect.isfunction(member)
        and name in module.__all__
        and name != "referenced"
        and not name.startswith("each_")
    }
    assert made == set(EXAMPLES)
    assert "return" in get_type_hints(calls.register)


def test_a_route_tells_no_names() -> None:
    secret = "s3cr3t"  # noqa: S105 - a subject
    named: list[Call[Any]] = [
        calls.register(secret, DRAFT),
        calls.version(secret, "latest"),
        calls.config(secret),
        calls.mode(secret),
        calls.check(secret, DRAFT, version=1),
        calls.by_guid(secret),
        calls.conformance(secret),
        extensions.contract(secret, 1),
        extensions.put_contract(secret, {}),
        calls.conformance_history(secret),
        extensions.graph(secret),
        extensions.lineage(secret),
        encryption_keys.kek(secret),
        encryption_keys.create_dek(secret, secret),
        encryption_keys.undelete_dek_version(secret, secret, 1),
        extensions.permissions(secret),
        extensions.effective_settings(secret),
        calls.associations_by_resource_name(secret, namespace=secret),
        calls.delete_context(secret),
        calls.register("s", DRAFT).within(secret),
    ]
    assert all(secret not in call.route for call in named)
    assert all(secret in call.target for call in named)


def test_inside_a_context_only_what_knows_contexts_is_asked_differently() -> None:
    for made in EXAMPLES.values():
        for call in made:
            inside = call.within(".eu")
            resources = ("/subjects", "/schemas", "/compat", "/config", "/mode", "/associations", "/dek-registry")
            if call.route.startswith(resources):
                assert inside.target.startswith("/contexts/%3A.eu%3A/")
                assert inside.route == "/contexts/{}" + call.route
            else:
                assert inside is call
