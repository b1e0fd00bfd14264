"""Whatever is asked for in whatever order, associations keep their laws, and the journal tells how they came about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from contractlog.registry.settings import Settings
from contractlog.registry.storage import tables

from support.associations import Request, check, requests, send
from support.registry import in_process

if TYPE_CHECKING:
    import httpx2


def replayed(http: httpx2.Client) -> dict[str, dict[str, Any]]:
    """Make the associations that the journal tells of."""
    found: dict[str, dict[str, Any]] = {}
    with http.app.state.services.store.reading() as snapshot:  # type: ignore[attr-defined]
        c = tables.changes.c
        statement = select(c.action, c.details).where(c.action.startswith("association.")).order_by(c.sequence)
        for action, details in snapshot.connection.execute(statement):
            told = json.loads(details)
            if action == "association.deleted":
                del found[told["guid"]]
            else:
                found[told["guid"]] = told
    return found


@settings(max_examples=25, deadline=None)
@given(st.lists(requests, min_size=5, max_size=25))
def test_associations_keep_their_laws(asked: list[Request]) -> None:
    with in_process(Settings(database_url="sqlite://")) as http:
        for number, request in enumerate(asked):
            send(http, request)
            if number % 8 == 0:
                check(http)
        check(http)
        listed = http.get("/associations/resources/-/-").json()
        members = ("subject", "guid", "resourceId", "lifecycle")
        assert replayed(http) == {one["guid"]: {member: one[member] for member in members} for one in listed}
