"""Queries of a snapshot use its connection and the caller's permissions."""

from __future__ import annotations

import pytest

from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import SchemaType
from contractlog.registry.access.permissions import ALL_PERMISSIONS, NO_PERMISSIONS, Permissions
from contractlog.registry.storage.name_and_id_lookup import find_version
from contractlog.registry.storage.store_values import DeletedFilter
from contractlog.registry.transfer.importer import import_contents
from contractlog.registry.transfer.registry_contents import RegistryContents, TransferredSchema, TransferredVersion
from contractlog.registry.transfer.report import TransferReport

from support.snapshots import empty_store

ORDERS, ELSEWHERE = Subject.parse("orders"), Subject.parse(":.eu:orders")


@pytest.mark.parametrize(
    ("permissions", "found"),
    [
        (ALL_PERMISSIONS, ELSEWHERE),
        (Permissions.of([":.eu:*"], []), ELSEWHERE),
        (Permissions.of(["orders"], []), None),
        (NO_PERMISSIONS, None),
    ],
)
def test_a_plain_name_is_found_in_other_contexts_as_far_as_permissions_reach(
    permissions: Permissions, found: Subject | None
) -> None:
    state = RegistryContents({".eu": 2})
    state.schemas[".eu", 1] = TransferredSchema(".eu", 1, SchemaType.AVRO, '"int"')
    state.versions[ELSEWHERE, 1] = TransferredVersion(ELSEWHERE, 1, 1)
    with empty_store() as store:
        import_contents(store, state, TransferReport())
        with store.open_snapshot() as snapshot:
            for number in (None, 1):
                version = find_version(snapshot, ORDERS, number, DeletedFilter.EXCLUDED, permissions)
                assert (version and version.subject) == found
