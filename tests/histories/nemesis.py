"""Faults of nodes: kills, lost connections, clock jumps."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final
from urllib.parse import urlsplit

from histories.cluster import Node
from histories.node import COMMITTING, IDLE
from histories.workload import Workload

_AIMING: Final = 30.0  #: seconds in which a kill waits for a transaction
_FARTHEST: Final = 2 * 86_400.0  #: seconds by which a clock jumps


@dataclass(slots=True)
class Harm:
    """What was done."""

    kills: int = 0
    inside: int = 0  #: kills that fell inside a transaction
    committing: int = 0  #: of these, while the commit was under way
    cuts: int = 0  #: connections of which the database knew
    jumps: int = 0


class Nemesis:
    """Does harm while clients work.

    Args:
        seed: of what is chosen.
        nodes: the victims.
        workload: tells how far the work is.
        database_url: whose connections are cut, where it is a server's.
    """

    def __init__(self, seed: int, nodes: Sequence[Node], workload: Workload, database_url: str) -> None:
        self.harm = Harm()
        self._random = Random(f"nemesis/{seed}")  # noqa: S311 - a seed is the point
        self._nodes = nodes
        self._workload = workload
        self._database_url = database_url if database_url.startswith("postgresql") else ""

    def rage(self, *, kills: int, cuts: int, jumps: int) -> None:
        """Do this much harm, spread over the work."""
        cuts = cuts if self._database_url else 0
        plan = [self._kill] * kills + [self._cut] * cuts + [self._jump] * jumps
        self._random.shuffle(plan)
        for number, harm in enumerate(plan, 1):
            while self._workload.done < number / (len(plan) + 1):
                time.sleep(0.002)
            harm()

    def _kill(self) -> None:
        """Kill a node, inside a transaction if it begins one soon; and start it again."""
        node = self._random.choice(self._nodes)
        wanted = COMMITTING if self._random.random() < 0.5 else IDLE + 1
        until = time.monotonic() + _AIMING
        while time.monotonic() < until and self._workload.done < 1:
            if node.shared.phase >= wanted:
                node.suspend()
                if node.shared.phase >= wanted:
                    break
                os.kill(node.pid, signal.SIGCONT)  # it was faster
        node.end(signal.SIGKILL)
        self.harm.kills += 1
        self.harm.inside += node.shared.phase != IDLE
        self.harm.committing += node.shared.phase == COMMITTING
        node.start()

    def _cut(self) -> None:
        """Let the database end connections of nodes, those in transactions first."""
        import psycopg

        parts = urlsplit(self._database_url)
        where = f"dbname={parts.path[1:]} user={parts.username} host={parts.query.removeprefix('host=')}"
        statement = """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'contractlog'
            ORDER BY state = 'idle', random() LIMIT %s
        """
        with psycopg.connect(where, autocommit=True) as connection:
            cut = connection.execute(statement, [self._random.choice([1, 2, 50])]).fetchall()
        self.harm.cuts += len(cut)

    def _jump(self) -> None:
        """Move a node's wall clock, forth or back."""
        self._random.choice(self._nodes).shared.offset = self._random.uniform(-_FARTHEST, _FARTHEST)
        self.harm.jumps += 1
