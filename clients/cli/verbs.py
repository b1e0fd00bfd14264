"""Table of verbs: each is implemented in the folder it belongs to, and loaded on demand."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["VERBS", "Verb"]


class Verb(NamedTuple):
    """A verb and the function that implements it.

    It is called as ``function(parser, argv) -> exit code`` and adds its arguments to the parser.
    """

    target: str  #: ``package.module:function``
    summary: str
    example: str
    extra: str | None = None  #: the extra that the verb needs
    daemon: bool = False  #: whether the verb ignores SIGHUP, even while its modules are imported


VERBS: Final[dict[str, Verb]] = {
    "serve": Verb(
        "contractlog.registry.cli:serve", "run the registry", "contractlog serve --port 8081", "server", daemon=True
    ),
    "db": Verb(
        "contractlog.registry.cli:db",
        "upgrade, downgrade or show the database; change id counters",
        "contractlog db upgrade",
        "server",
    ),
    "export": Verb(
        "contractlog.registry.transfer.cli:export",
        "export a whole registry to a file or a new _schemas topic",
        "contractlog export --out registry.ndjson",
        "server",
    ),
    "import": Verb(
        "contractlog.registry.transfer.cli:import_",
        "import a whole registry from a file, a live registry or a _schemas topic",
        "contractlog import registry.ndjson --database-url sqlite:///contractlog.db",
        "server",
    ),
    "verify-import": Verb(
        "contractlog.registry.transfer.verify:verify_import",
        "compare a registry with the source of its import",
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
        "contractlog.clients.cli.schema_verbs:register",
        "register schema files",
        "contractlog register schemas/orders-value.avsc",
    ),
    "check": Verb(
        "contractlog.clients.cli.schema_verbs:check",
        "check schema files against the registry: compatibility, permissions, suggested fixes",
        "contractlog check schemas/",
    ),
    "plan": Verb(
        "contractlog.clients.cli.schema_verbs:plan",
        "show what `apply` would change in the registry: new versions, levels, drift",
        "contractlog plan schemas/ --out plan.json",
    ),
    "apply": Verb(
        "contractlog.clients.cli.schema_verbs:apply",
        "register files and set the levels of the manifest, as `plan` showed",
        "contractlog apply --plan plan.json",
    ),
    "diff": Verb(
        "contractlog.clients.cli.schema_verbs:diff",
        "compare two schemas: kind of change, levels that allow it, suggested fixes",
        "contractlog diff schemas/1/orders-value.avsc schemas/2/orders-value.avsc --level FULL",
    ),
    "lint": Verb(
        "contractlog.clients.cli.lint:lint",
        "check schema files by themselves: names, documentation, defaults, types; no registry is needed",
        "contractlog lint schemas/ --fix",
    ),
    "pull": Verb(
        "contractlog.clients.cli.pull:pull",
        "write registered schemas to files",
        "contractlog pull orders-value --out schemas/",
    ),
    "produce": Verb(
        "contractlog.serdes.cli.produce:produce",
        "write JSON lines to a topic",
        "contractlog produce orders < orders.jsonl",
    ),
    "consume": Verb(
        "contractlog.serdes.cli.consume:consume", "print a topic as JSON lines", "contractlog consume orders --limit 10"
    ),
    "audit": Verb(
        "contractlog.spark_validation.jobs.audit_command:audit",
        "check every record of topics against the schema whose id it carries",
        "contractlog audit orders --out audit/",
        "spark",
    ),
    "lineage": Verb(
        "contractlog.spark_validation.jobs.lineage_command:lineage",
        "infer from values which topics were derived from others",
        "contractlog lineage --state audit/state",
        "spark",
    ),
}
