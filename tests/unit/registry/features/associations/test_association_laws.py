"""Laws of associations hold after any sequence of requests, and the journal explains them."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from contractlog.registry.storage import tables

from support.association_requests import (
    Request,
    check_laws,
    initial_requests,
    list_associations,
    requests,
    send_request,
)

if TYPE_CHECKING:
    import httpx2


def replayed(http: httpx2.Client, place: int) -> dict[str, dict[str, Any]]:
    """Make the associations that the journal tells of."""
    found: dict[str, dict[str, Any]] = {}
    with http.app.state.services.store.open_snapshot() as snapshot:  # type: ignore[attr-defined]
        c = tables.changes.c
        told = c.action.startswith("association.") & c.target.startswith(f"c{place}:")
        for action, details in snapshot.connection.execute(
            select(c.action, c.details).where(told).order_by(c.sequence)
        ):
            members = json.loads(details)
            if action == "association.deleted":
                del found[members["guid"]]
            else:
                found[members["guid"]] = members
    return found


def test_associations_keep_their_laws(http: httpx2.Client) -> None:
    places = count()

    @settings(max_examples=20, deadline=None)
    @given(initial_requests, st.lists(requests, min_size=5, max_size=15))
    def kept(opening: list[Request], asked: list[Request]) -> None:
        place = next(places)
        for number, request in enumerate(opening + asked):
            send_request(http, request, place)
            if number % 3 == 0:
                check_laws(http, place)
        check_laws(http, place)
        members = ("subject", "guid", "resourceId", "lifecycle")
        listed = {
            one["guid"]: {member: one[member] for member in members}
            | {"topic": one["resourceName"], "part": one["associationType"]}
            for one in list_associations(http, place)
        }
        assert replayed(http, place) == listed

    kept()
