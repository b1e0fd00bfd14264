"""A call for every operation of the service, by the name of the function that makes it."""

from __future__ import annotations

from typing import Any

from contractlog.clients import AssociationDraft, Config, Resource, calls
from contractlog.clients.calls import Call, change_requests, encryption_keys, extensions
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import SchemaDraft

DRAFT = SchemaDraft('"string"')
RESOURCE = Resource("orders", "lkc-1", "orders-id")
BOUND = [AssociationDraft(subject="s")]

#: A whole registry is sent as a file, by `contractlog import --registry`.
BY_FILE = {("POST", "/contractlog/v1/import")}
#: Older clients name the subject of a new DEK in the body only.
OLDER_PATHS = {("POST", "/dek-registry/v1/keks/{}/deks")}

EXAMPLES: dict[str, list[Call[Any]]] = {
    "open_change_request": [change_requests.open_change_request("s", {}, "r")],
    "update_change_request": [change_requests.update_change_request(1, "s", {}, "r")],
    "change_requests": [change_requests.change_requests()],
    "change_request": [change_requests.change_request(1)],
    "approve_change_request": [change_requests.approve_change_request(1, 1)],
    "comment_on_change_request": [change_requests.comment_on_change_request(1, "t")],
    "merge_change_request": [change_requests.merge_change_request(1)],
    "close_change_request": [change_requests.close_change_request(1)],
    "waivers": [change_requests.waivers()],
    "keks": [encryption_keys.keks()],
    "kek": [encryption_keys.kek("k")],
    "create_kek": [encryption_keys.create_kek("k", "local-kms", "i")],
    "update_kek": [encryption_keys.update_kek("k")],
    "test_kek": [encryption_keys.test_kek("k")],
    "delete_kek": [encryption_keys.delete_kek("k")],
    "undelete_kek": [encryption_keys.undelete_kek("k")],
    "dek_subjects": [encryption_keys.dek_subjects("k")],
    "dek": [encryption_keys.dek("k", "s"), encryption_keys.dek("k", "s", 1)],
    "dek_versions": [encryption_keys.dek_versions("k", "s")],
    "create_dek": [encryption_keys.create_dek("k", "s")],
    "delete_dek": [encryption_keys.delete_dek("k", "s")],
    "undelete_dek": [encryption_keys.undelete_dek("k", "s")],
    "delete_dek_version": [encryption_keys.delete_dek_version("k", "s", 1)],
    "undelete_dek_version": [encryption_keys.undelete_dek_version("k", "s", 1)],
    "ping": [calls.ping(), calls.ping(as_write=True)],
    "associations_by_resource_id": [calls.associations_by_resource_id("r")],
    "associations_by_resource_name": [calls.associations_by_resource_name("r")],
    "associations_of_many": [calls.associations_of_many([{"resourceId": "r"}])],
    "associations_of_subject": [calls.associations_of_subject("s")],
    "bind": [calls.bind(RESOURCE, BOUND)],
    "by_guid": [calls.by_guid("g")],
    "by_id": [calls.by_id(1)],
    "change_associations": [calls.change_associations([])],
    "changes": [extensions.changes()],
    "check": [calls.check("s", DRAFT), calls.check("s", DRAFT, version=1)],
    "check_many": [extensions.check_many([("s", DRAFT)])],
    "clusters": [calls.clusters()],
    "config": [calls.config(), calls.config("s")],
    "conformance": [calls.conformance("t")],
    "conformance_history": [calls.conformance_history("t")],
    "contract": [extensions.contract("t"), extensions.contract("t", 1)],
    "contract_consumers": [extensions.contract_consumers("t")],
    "contract_versions": [extensions.contract_versions("t")],
    "contracts": [extensions.contracts()],
    "delete_contract": [extensions.delete_contract("t")],
    "put_contract": [extensions.put_contract("t", {})],
    "contexts": [calls.contexts()],
    "delete_config": [calls.delete_config(), calls.delete_config("s")],
    "delete_context": [calls.delete_context(".c")],
    "delete_level": [calls.delete_level(), calls.delete_level("s")],
    "delete_mode": [calls.delete_mode(), calls.delete_mode("s")],
    "delete_subject": [calls.delete_subject("s")],
    "delete_version": [calls.delete_version("s", 1)],
    "deployment": [calls.deployment()],
    "derive": [calls.derive("s", 1)],
    "difference": [extensions.difference(("s", 1), ("s", 2)), extensions.difference(("s", 1), DRAFT)],
    "ensure_bound": [calls.ensure_bound(RESOURCE, BOUND)],
    "fetches": [extensions.fetches(1)],
    "graph": [extensions.graph("s")],
    "permissions": [extensions.permissions("s")],
    "effective_settings": [extensions.effective_settings("s")],
    "ids_of_guid": [calls.ids_of_guid("g")],
    "latest_with_metadata": [calls.latest_with_metadata("s", {"k": "v"})],
    "level": [calls.level(), calls.level("s")],
    "lineage": [extensions.lineage("t")],
    "lineage_edges": [extensions.lineage_edges()],
    "live": [calls.live()],
    "lookup": [calls.lookup("s", DRAFT)],
    "lookup_many": [extensions.lookup_many([("s", DRAFT)])],
    "metrics": [calls.metrics()],
    "mode": [calls.mode(), calls.mode("s")],
    "policy": [calls.policy(), calls.policy("s")],
    "publish_conformance": [calls.publish_conformance("t", {})],  # type: ignore[typeddict-item]
    "publish_lineage": [extensions.publish_lineage({}), extensions.publish_lineage([{}])],
    "ready": [calls.ready()],
    "referenced_by": [calls.referenced_by("s", 1)],
    "register": [calls.register("s", DRAFT)],
    "schemas": [calls.schemas()],
    "search": [extensions.search(field="f")],
    "server_version": [calls.server_version()],
    "set_config": [calls.set_config(Config()), calls.set_config({}, "s")],
    "set_level": [calls.set_level(Level.NONE), calls.set_level(Level.NONE, "s")],
    "set_mode": [calls.set_mode("IMPORT"), calls.set_mode("IMPORT", "s")],
    "set_policy": [calls.set_policy(Policy.STRICT), calls.set_policy(Policy.STRICT, "s")],
    "started": [calls.started()],
    "subjects": [calls.subjects()],
    "subjects_of_id": [calls.subjects_of_id(1)],
    "text_of_id": [calls.text_of_id(1)],
    "text_of_version": [calls.text_of_version("s", 1)],
    "types": [calls.types()],
    "unbind": [calls.unbind("r")],
    "usage": [extensions.usage(["s"])],
    "version": [calls.version("s", 1)],
    "versions": [calls.versions("s")],
    "versions_of_id": [calls.versions_of_id(1)],
}
