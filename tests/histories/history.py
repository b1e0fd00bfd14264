"""A history, from its seed to its verdict."""

from __future__ import annotations

import json
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from histories.checker import check
from histories.cluster import Forge, Node
from histories.nemesis import Harm, Nemesis
from histories.words import Evidence, Line, Operation, Tables, Violation
from histories.workload import Follower, Plan, Workload

_READS: Final = frozenset({"list", "latest", "one", "lookup", "by-id", "level", "mode"})


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a history takes place, and how hard it is."""

    database_url: str
    folder: Path
    nodes: int = 3
    clients: int = 8
    operations: int = 500
    kills: int = 3
    cuts: int = 3
    jumps: int = 2
    defect: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came out."""

    seed: int
    operations: int
    overlapped: int  #: operations beside which another client wrote to the same subject
    rows: int  #: of the journal
    unknown: int  #: operations of which nobody knows what became of them
    harm: Harm
    violations: Sequence[Violation]
    said: Sequence[str]  #: by the nodes, beside where they are

    def __str__(self) -> str:
        harm = self.harm
        told = "".join(f"\n  {one.law}: {one.told}" for one in self.violations[:10])
        return (
            f"seed {self.seed}: {self.operations} operations, {self.overlapped} overlapped a write to their subject, "
            f"{self.rows} rows, {self.unknown} without an answer; {harm.kills} kills, {harm.inside} inside a "
            f"transaction ({harm.committing} while it committed), {harm.cuts} connections cut, {harm.jumps} clock "
            f"jumps; {len(self.violations)} violations{told}"
        )

    @property
    def too_tame(self) -> str:
        """What there was too little of; empty when the history was hard enough to prove something."""
        short = {
            "overlapped operations": self.overlapped < self.operations // 5,
            "kills inside a transaction": self.harm.kills > 0 and self.harm.inside < 1,
            "rows": self.rows < self.operations // 10,
        }
        return ", ".join(name for name, lacking in short.items() if lacking)


def run(seed: int, setting: Setting, forge: Forge) -> Verdict:
    """Run a history on an empty database, and check it."""
    from contractlog.registry.database import upgrade

    upgrade(setting.database_url)
    nodes = [Node(n, forge, setting.folder, setting.database_url, setting.defect) for n in range(setting.nodes)]
    try:
        for node in nodes:
            node.start()
        workload = Workload(Plan(seed, setting.operations, setting.clients), nodes)
        nemesis = Nemesis(seed, nodes, workload, setting.database_url)
        raging = threading.Thread(
            target=nemesis.rage, kwargs={"kills": setting.kills, "cuts": setting.cuts, "jumps": setting.jumps}
        )
        followers = [Follower(f"{seed}/{number}", nodes) for number in range(2)]
        for starting in (workload, raging, *followers):
            starting.start()
        workload.join()
        raging.join()
        worked = list(workload.operations)
        workload.final_reads()
        for follower in followers:
            follower.finish()
    finally:
        for node in nodes:
            node.stop()
    journal, tables = collect(setting.database_url)
    return Verdict(
        seed,
        len(worked),
        overlapped(worked),
        len(journal),
        sum(not one.known for one in worked),
        nemesis.harm,
        check(Evidence(workload.operations, journal, tables, [one.lines for one in followers])),
        _said(nodes),
    )


def _said(nodes: Sequence[Node]) -> list[str]:
    lines = [line for node in nodes for line in node.log.read_text().splitlines()]
    return [line for line in lines if "contractlog serves the registry" not in line]


def overlapped(operations: Sequence[Operation]) -> int:
    """Count the operations during which another client's write to the same subject was under way."""
    writes: dict[str, list[Operation]] = defaultdict(list)
    for one in operations:
        if one.kind not in _READS:
            writes[one.subject].append(one)
    for found in writes.values():
        found.sort(key=lambda one: one.began)
    total = 0
    for one in operations:
        beside = writes[one.subject]
        before = beside[: bisect_left(beside, one.ended, key=lambda other: other.began)]
        total += any(other.ended > one.began and other.client != one.client for other in before)
    return total


def collect(database_url: str) -> tuple[list[Line], Tables]:
    """Read the journal and the tables, past all code that may be wrong."""
    from sqlalchemy import create_engine, select

    from contractlog.registry.storage import tables as t
    from contractlog.registry.storage.engines import parse_url

    engine = create_engine(parse_url(database_url))
    with engine.connect() as connection:

        def rows(table: Any) -> list[dict[str, Any]]:
            return [dict(row) for row in connection.execute(select(table)).mappings()]

        journal = [
            Line(
                row["sequence"],
                row["actor"],
                row["action"],
                row["target"],
                row["before"],
                row["after"],
                json.loads(row["details"] or "{}"),
            )
            for row in sorted(rows(t.changes), key=lambda row: row["sequence"])
        ]
        subjects = {row["id"]: _name(row) for row in rows(t.subjects)}
        versions: dict[str, dict[int, tuple[int, bool]]] = defaultdict(dict)
        for row in rows(t.versions):
            versions[subjects[row["subject_id"]]][row["version"]] = (row["schema_id"], row["deleted_at"] is not None)
        held = Tables(
            versions=versions,
            schemas={(row["context"], row["id"]): (row["hash"], row["text"]) for row in rows(t.schemas)},
            retired=frozenset((row["context"], row["schema_id"]) for row in rows(t.retired)),
            settings={_name(row): _settings(row) for row in rows(t.settings)},
            current={(row["context"], row["hash"]): row["schema_id"] for row in rows(t.contents)},
            next_ids={row["name"]: row["next_schema_id"] for row in rows(t.contexts)},
            next_sequence=rows(t.change_log_counters)[0]["next_sequence"],
        )
    engine.dispose()
    return journal, held


def _name(row: dict[str, Any]) -> str:
    return str(row["name"]) if row["context"] == "." else f":{row['context']}:{row['name']}"


def _settings(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None and name not in {"key", "context", "name"}}
