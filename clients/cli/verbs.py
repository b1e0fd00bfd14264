"""The table of verbs: each lives in the folder that does its work and is imported when it is called.

It also names what else the clients load from a folder above them, so that they import nothing of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, NamedTuple

__all__ = ["SERVICE_IN_PROCESS", "VERBS", "Verb", "load_target"]

#: Returns the service of a name in this process, for ``mock://NAME``; needs the extra ``server``.
SERVICE_IN_PROCESS: Final = "contractlog.registry.in_process:named_app"


def load_target(target: str) -> Any:
    """Import the module of a target, ``package.module:function``, and return the function."""
    module, _, function = target.partition(":")
    return getattr(import_module(module), function)


class Verb(NamedTuple):
    """Where a verb lives.

    The function is called as ``function(parser, argv) -> exit code``: it adds its arguments to the parser it is handed,
    so that no folder depends on another for them.
    """

    target: str  #: ``package.module:function``
    summary: str
    example: str
    extra: str | None = None  #: the extra that must be installed
    daemon: bool = False  #: it ignores SIGHUP, from before its modules are imported


VERBS: Final[dict[str, Verb]] = {
    "serve": Verb(
        "contractlog.registry.cli:serve", "run the registry", "contractlog serve --port 8081", "server", daemon=True
    ),
    "db": Verb(
        "contractlog.registry.cli:db",
        "upgrade, downgrade or show the database, change its counters of ids",
        "contractlog db upgrade",
        "server",
    ),
    "export": Verb(
        "contractlog.registry.moving.cli:export",
        "write a whole registry to a file or to a new _schemas topic",
        "contractlog export --out registry.ndjson",
        "server",
    ),
    "import": Verb(
        "contractlog.registry.moving.cli:import_",
        "bring a whole registry in: from a file, a live registry or a _schemas topic",
        "contractlog import registry.ndjson --database-url sqlite:///contractlog.db",
        "server",
    ),
    "verify-import": Verb(
        "contractlog.registry.moving.verify_cli:verify_import",
        "compare a registry with what it was moved from",
        "contractlog verify-import registry.ndjson --database-url sqlite:///contractlog.db",
        "server",
    ),
    "users": Verb(
        "contractlog.registry.access.cli:users",
        "add, remove or list the users of a registry and their permissions",
        "contractlog users add ci --write 'orders-*' --file users.toml",
        "server",
    ),
    "register": Verb(
        "contractlog.clients.cli.register:register",
        "register schema files",
        "contractlog register schemas/orders-value.avsc",
    ),
    "check": Verb(
        "contractlog.clients.cli.check:check",
        "check schema files against what is registered: compatibility, permissions, suggested fixes",
        "contractlog check schemas/",
    ),
    "diff": Verb(
        "contractlog.clients.cli.diff:diff",
        "compare two schemas: the kind of change, the levels that admit it, suggested fixes",
        "contractlog diff schemas/1/orders-value.avsc schemas/2/orders-value.avsc --level FULL",
    ),
    "pull": Verb(
        "contractlog.clients.cli.pull:pull",
        "write registered schemas to files",
        "contractlog pull orders-value --out schemas/",
    ),
    "produce": Verb(
        "contractlog.serdes.cli:produce", "write JSON lines to a topic", "contractlog produce orders < orders.jsonl"
    ),
    "consume": Verb(
        "contractlog.serdes.cli:consume", "print a topic as JSON lines", "contractlog consume orders --limit 10"
    ),
    "audit": Verb(
        "contractlog.spark_validation.jobs.audit:audit",
        "check every record of topics against the schema whose id it carries",
        "contractlog audit orders --out audit/",
        "spark",
    ),
    "lineage": Verb(
        "contractlog.spark_validation.jobs.lineage:lineage",
        "find where topics come from, in their values",
        "contractlog lineage --state audit/state",
        "spark",
    ),
}
