"""Reads compared with a bare ASGI application: by id, and of the latest version with the same select."""

from __future__ import annotations

import itertools
import tempfile
from functools import partial
from pathlib import Path

from reporting import rounds, told, verdict
from work import CONNECTIONS, VERSIONS, fetched, registered, user, version

from load import get, load
from servers import running

FORMS = {
    "bare form": "/schemas/ids/1",
    "?subject=s": "/schemas/ids/1?subject=s",
    "?fetchMaxId=false&subject=": "/schemas/ids/1?fetchMaxId=false&subject=",
}
GOAL_BY_ID = 0.5
GOALS_LATEST = {"sqlite": 0.4, "postgresql": 0.8}
MIDDLEWARE = "metrics, request ids and counts of fetches on"


def reads(database: str, durability: str, seconds: float, count: int) -> None:
    """Compare cached reads by id with a bare ASGI application."""
    print("\ncached GET /schemas/ids/{id}: level BACKWARD, 1 version per subject")
    print(f"{durability}; {MIDDLEWARE}, authentication by a users file; {CONNECTIONS} connections")
    with tempfile.TemporaryDirectory() as folder:
        file, authorization = user(Path(folder))
        header = f"Authorization: {authorization}\r\n"
        with running("registry", database) as first:
            registered(first[0], "s", version(0, 9))
            written = fetched(first[0], "/schemas/ids/1")
        with running("bare", "-") as bare, running("registry", database, CONTRACTLOG_USERS_FILE=file) as ours:
            assert fetched(ours[0], "/schemas/ids/1", authorization) == written
            asked = {"bare ASGI application": (bare, get("/schemas/ids/1", header))}  # the same bytes
            asked |= {name: (ours, get(path, header)) for name, path in FORMS.items()}
            runs = {
                name: partial(load, *server, [itertools.repeat(request)] * CONNECTIONS, seconds)
                for name, (server, request) in asked.items()
            }
            found = rounds(runs, count)
    base = told("bare ASGI application", found["bare ASGI application"])
    for name in FORMS:
        verdict(name, base.microseconds / told(name, found[name]).microseconds, GOAL_BY_ID)
    print("  a second process read what the first one wrote")


def latest(kind: str, database: str, durability: str, seconds: float, count: int) -> None:
    """Compare versions/latest; on PostgreSQL, another node wrote what is read."""
    print(f"\nGET /subjects/{{s}}/versions/latest on {kind}: level BACKWARD, {VERSIONS} versions per subject")
    print(f"{durability}; {MIDDLEWARE}, authentication off; {CONNECTIONS} connections")
    with running("registry", database) as first:
        for number in range(1, VERSIONS + 1):
            registered(first[0], "latest", version(7, number))
        written = fetched(first[0], "/subjects/latest/versions/latest")
    with running("bare", "-") as bare, running("registry", database) as ours:
        assert fetched(ours[0], "/subjects/latest/versions/latest") == written
        asked = {"bare ASGI application": (bare, "/x"), "registry": (ours, "/subjects/latest/versions/latest")}
        if kind == "postgresql":
            with running("select", database) as select:
                asked["the same select behind bare ASGI"] = (select, asked["registry"][1])
                found = rounds(_runs(asked, seconds), count)
        else:
            found = rounds(_runs(asked, seconds), count)
    shown = {name: told(name, measured) for name, measured in found.items()}
    base = shown.get("the same select behind bare ASGI", shown["bare ASGI application"])
    verdict(f"latest on {kind}", base.microseconds / shown["registry"].microseconds, GOALS_LATEST[kind])
    print("  a second process read what the first one wrote")


def _runs(asked: dict, seconds: float) -> dict:
    return {
        name: partial(load, *server, [itertools.repeat(get(path))] * CONNECTIONS, seconds)
        for name, (server, path) in asked.items()
    }
