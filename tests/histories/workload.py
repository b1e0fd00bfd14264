"""Concurrent clients that register, delete, look up, and change settings of few subjects."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any, Final
from urllib.parse import quote

from histories.cluster import Node
from histories.contents import Content, pool
from histories.node import OPERATION
from histories.words import Line, Operation, context_of

SUBJECTS: Final = ("a", "b", "c", ":.eu:d", ":.us:e")
CONTEXTS: Final = ("", ":.eu:", ":.us:")  #: each is a scope
_LEVELS: Final = ("BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FULL", "FULL_TRANSITIVE", *["NONE"] * 3)
_MODES: Final = ("READWRITE", "READONLY", "IMPORT")
_KINDS: Final = {
    "register": 40, "import": 2, "list": 8, "latest": 8, "one": 6, "lookup": 6, "by-id": 10, "level": 2, "mode": 2,
    "hide": 12, "erase": 10, "configure": 6, "unconfigure": 3, "set-mode": 2, "unset-mode": 4,
}  # fmt: skip
_PATIENCE: Final = 20.0  #: seconds for an answer
_MEMBERS: Final = {"level": "compatibility", "compatibility_group": "compatibilityGroup"}


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is done."""

    seed: int
    operations: int
    clients: int
    contents: int = 14


class Workload:
    """All clients, and what they did."""

    def __init__(self, plan: Plan, nodes: Sequence[Node]) -> None:
        self.operations: list[Operation] = []
        self._plan = plan
        self._nodes = nodes
        self._names = count(1)
        self._contents = pool(Random(plan.seed), plan.contents)  # noqa: S311 - a seed is the point
        self._ids = dict.fromkeys(map(context_of, CONTEXTS), 1)  #: the largest that was seen
        self._newest = dict(self._ids)
        self._seen: dict[str, int] = {}  #: the version that was registered last
        self._threads = [threading.Thread(target=self._work, args=(n,), daemon=True) for n in range(plan.clients)]
        self._broken: list[BaseException] = []

    @property
    def done(self) -> float:
        """The part of the work that is done, from 0 to 1."""
        return len(self.operations) / self._plan.operations

    def start(self) -> None:
        """Let the clients begin."""
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Wait until all is done."""
        for thread in self._threads:
            thread.join()
        if self._broken:
            raise self._broken[0]

    def _work(self, client: int) -> None:
        random = Random(f"{self._plan.seed}/{client}")  # noqa: S311 - a seed is the point
        try:
            with closing(_Caller(self._nodes)) as caller:
                while self.done < 1:
                    one = self._next(client, random)
                    if caller.call(one):
                        self._note(one)
                    else:
                        time.sleep(0.01)  # that node is down
        except BaseException as error:  # noqa: BLE001 - it is raised by ``join``
            self._broken.append(error)

    def _note(self, one: Operation) -> None:
        self.operations.append(one)
        if one.status == 200 and one.kind == "register":
            context = context_of(one.subject)
            self._seen[one.subject] = one.body["version"]
            self._newest[context] = one.body["id"]
            self._ids[context] = max(self._ids[context], one.body["id"])

    def final_reads(self) -> None:
        """Ask every node for everything that there may be."""
        with closing(_Caller(self._nodes)) as caller:
            for node in range(len(self._nodes)):
                self._final_reads(caller, node)

    def _final_reads(self, caller: _Caller, node: int) -> None:
        for subject in SUBJECTS:
            listed = self._read(caller, node, "list", subject, flag=True)
            for version in listed.body if listed.status == 200 else ():
                self._read(caller, node, "one", subject, flag=True, version=version)
            for kind in ("list", "latest", "level", "mode"):
                self._read(caller, node, kind, subject)
        for scope in CONTEXTS:
            for schema_id in range(1, self._ids[context_of(scope)] + 1):
                self._read(caller, node, "by-id", scope, schema_id=schema_id)

    def _read(self, caller: _Caller, node: int, kind: str, subject: str, **more: Any) -> Operation:
        one = Operation(f"o{next(self._names)}", -1, node, kind, subject, 0.0, **more)
        assert caller.call(one), f"node {node} does not respond"
        self.operations.append(one)
        return one

    def _next(self, client: int, random: Random) -> Operation:
        kind = random.choices(list(_KINDS), list(_KINDS.values()))[0]
        node, subject = random.randrange(len(self._nodes)), random.choice(SUBJECTS)
        one = Operation(f"o{next(self._names)}", client, node, kind, subject, 0.0)
        if kind in {"register", "import", "lookup"}:
            one.content = random.choice(self._contents)
        if kind in {"by-id", "import"}:
            one.schema_id = random.randint(1, self._ids[context_of(subject)] + 1)
        if kind == "by-id":
            one.schema_id = random.choice([one.schema_id, self._newest[context_of(subject)]])
            one.subject = next(scope for scope in CONTEXTS if context_of(scope) == context_of(subject))
        if kind == "import":
            one.kind = "register"
        if kind == "one" or (kind in {"hide", "erase"} and random.random() < 0.5):
            one.version = max(1, self._seen.get(subject, 1) - random.randint(0, 2))
        if kind in {"list", "one"}:
            one.flag = random.random() < 0.3
        if kind in {"configure", "unconfigure"}:
            one.subject = random.choice([*SUBJECTS, *CONTEXTS])
        if kind == "configure":
            one.patch = _patch(random)
        if kind == "set-mode":
            one.patch = {"mode": random.choice(_MODES)}
        return one


def _patch(random: Random) -> dict[str, Any]:
    if random.random() < 0.4:
        return {"compatibility_group": random.choice(["group", "group", None])}
    return {"level": random.choice(_LEVELS)}


class Follower:
    """Reads the journal as it grows, now from this node and now from that."""

    def __init__(self, seed: str, nodes: Sequence[Node]) -> None:
        self.lines: list[Line] = []
        self._random = Random(seed)  # noqa: S311 - a seed is the point
        self._nodes = nodes
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def finish(self) -> None:
        """Read to the end."""
        self._over.set()
        self._thread.join()
        while self._read(self._random.choice(self._nodes), wait=0):
            pass

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                self._read(self._random.choice(self._nodes), wait=self._random.choice([0, 1]))
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)  # that node is down

    def _read(self, node: Node, *, wait: int) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=_PATIENCE)
        with closing(connection):
            connection.request("GET", f"/contractlog/v1/changes?since={len(self.lines)}&limit=20&wait={wait}")
            answer = connection.getresponse()
            changes = json.loads(answer.read()).get("changes", [])
        names = ("sequence", "actor", "action", "target", "before", "after")
        self.lines += [Line(*(one.get(name) for name in names), one.get("details", {})) for one in changes]
        return len(changes)


class _Caller:
    """One client's connections."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._connections: dict[int, http.client.HTTPConnection] = {}

    def call(self, one: Operation) -> bool:
        """Send a request and note its answer; return False where it cannot have arrived."""
        connection = self._connection(one.node)
        method, path, body = request_of(one)
        one.began = time.monotonic()
        try:
            if connection.sock is None:
                connection.connect()
        except OSError:
            return False
        try:
            content = None if body is None else json.dumps(body)
            connection.request(method, path, content, {"Content-Type": "application/json", OPERATION: one.name})
            answer = connection.getresponse()
            one.body = _read(one, answer.status, json.loads(answer.read()))
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            if isinstance(error, TimeoutError):
                self._nodes[one.node].explain()
            return True  # nobody knows what became of it
        one.ended = time.monotonic()
        one.status = answer.status
        one.stale = answer.headers.get("x-contractlog-stale") is not None
        return True

    def close(self) -> None:
        """Close them."""
        for connection in self._connections.values():
            connection.close()

    def _connection(self, node: int) -> http.client.HTTPConnection:
        port = self._nodes[node].port
        return self._connections.setdefault(node, http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE))


def _read(one: Operation, status: int, body: Any) -> Any:
    """Put contents in the place of texts."""
    if status == 200 and one.kind in {"latest", "one", "by-id"}:
        body["content"] = Content.of(body)
    return body


def request_of(one: Operation) -> tuple[str, str, Any]:
    """Return method, path and body of an operation."""
    subject = quote(one.subject, safe="")
    versions = f"/subjects/{subject}/versions"
    deleted = "?deleted=true" if one.flag else ""
    posted = {} if one.content is None else one.content.body
    by_version = versions if one.version is None else f"{versions}/{one.version}"
    deletable = f"/subjects/{subject}" if one.version is None else by_version
    config, mode = (f"/{name}/{subject}".rstrip("/") for name in ("config", "mode"))
    settings = {_MEMBERS.get(name, name): value for name, value in one.patch.items()}
    wanted_id = {} if one.schema_id is None else {"id": one.schema_id}
    requests: dict[str, tuple[str, str, Any]] = {
        "register": ("POST", versions, posted | wanted_id),
        "lookup": ("POST", f"/subjects/{subject}", posted),
        "list": ("GET", versions + deleted, None),
        "latest": ("GET", f"{versions}/latest", None),
        "one": ("GET", by_version + deleted, None),
        "by-id": ("GET", f"/schemas/ids/{one.schema_id}" + (f"?subject={subject}" if subject else ""), None),
        "level": ("GET", f"{config}?defaultToGlobal=true", None),
        "mode": ("GET", f"{mode}?defaultToGlobal=true", None),
        "hide": ("DELETE", deletable, None),
        "erase": ("DELETE", f"{deletable}?permanent=true", None),
        "configure": ("PUT", config, settings),
        "unconfigure": ("DELETE", config, None),
        "set-mode": ("PUT", f"{mode}?force=true", settings),
        "unset-mode": ("DELETE", mode, None),
    }
    return requests[one.kind]
