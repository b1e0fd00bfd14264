"""Table of verbs: each is implemented in the folder it belongs to, and loaded on demand."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

__all__ = ["VERBS", "Section", "Verb"]


class Section(Enum):
    """A section of ``contractlog --help``, in their order."""

    FILES = "schema files"
    REGISTRY = "a registry"
    RECORDS = "records"
    SERVER = "run, migrate and secure a registry"
    SHELL = "shell"


class Verb(NamedTuple):
    """A verb and the function that implements it.

    It is called as ``function(parser, argv) -> exit code`` and adds its arguments to the parser.
    """

    target: str  #: ``package.module:function``
    summary: str
    example: str
    extra: str | None = None  #: the extra that the verb needs
    section: Section = Section.FILES
    daemon: bool = False  #: whether the verb ignores SIGHUP, even while its modules are imported


VERBS: Final[dict[str, Verb]] = {
    "serve": Verb(
        "contractlog.registry.cli:serve",
        "run the registry",
        "contractlog serve --port 8081",
        "server",
        Section.SERVER,
        daemon=True,
    ),
    "db": Verb(
        "contractlog.registry.cli:db",
        "upgrade, downgrade or show the database; change id counters",
        "contractlog db upgrade",
        "server",
        Section.SERVER,
    ),
    "export": Verb(
        "contractlog.registry.transfer.cli:export",
        "export a whole registry to a file or a new _schemas topic",
        "contractlog export --out registry.ndjson",
        "server",
        Section.SERVER,
    ),
    "import": Verb(
        "contractlog.registry.transfer.cli:import_",
        "import a whole registry from a file, a live registry or a _schemas topic",
        "contractlog import registry.ndjson --database-url sqlite:///contractlog.db",
        "server",
        Section.SERVER,
    ),
    "verify-import": Verb(
        "contractlog.registry.transfer.verification:verify_import",
        "compare a registry with the source of its import",
        "contractlog verify-import registry.ndjson --database-url sqlite:///contractlog.db",
        "server",
        Section.SERVER,
    ),
    "users": Verb(
        "contractlog.registry.access.cli:users",
        "add, remove or list the users of a registry and their permissions",
        "contractlog users add ci --write 'orders-*' --file users.toml",
        "server",
        Section.SERVER,
    ),
    "register": Verb(
        "contractlog.clients.cli.register.command:register",
        "register schema files",
        "contractlog register schemas/orders-value.avsc",
    ),
    "check": Verb(
        "contractlog.clients.cli.check.command:check",
        "check schema files against the registry: compatibility, permissions, suggested fixes",
        "contractlog check schemas/",
    ),
    "plan": Verb(
        "contractlog.clients.cli.plan_and_apply.command:plan",
        "show what `apply` would change in the registry: new versions, settings, deletions, drift",
        "contractlog plan schemas/ --out plan.json",
    ),
    "apply": Verb(
        "contractlog.clients.cli.plan_and_apply.command:apply",
        "register files, and apply settings and deletions of the manifest, as `plan` showed",
        "contractlog apply --plan plan.json",
    ),
    "promote": Verb(
        "contractlog.clients.cli.promotion.command:promote",
        "register the versions of one environment in another, in the same order",
        "contractlog promote dev prod --apply",
    ),
    "diff": Verb(
        "contractlog.clients.cli.diff.command:diff",
        "compare two schemas or folders: every change by risk, levels that allow it, suggested fixes",
        "contractlog diff schemas/1/orders-value.avsc schemas/2/orders-value.avsc --level FULL",
    ),
    "lint": Verb(
        "contractlog.clients.cli.lint.command:lint",
        "check schema files by rules, without a registry: names, documentation, defaults, types",
        "contractlog lint schemas/ --fix",
    ),
    "contract": Verb(
        "contractlog.clients.cli.contract.command:contract",
        "write, check, compare, test, import, export, show or store data contracts (ODCS)",
        "contractlog contract init orders-value.avsc",
        "contracts",
    ),
    "init": Verb(
        "contractlog.clients.cli.init:init",
        "write a manifest for a folder of schema files",
        "contractlog init schemas/",
    ),
    "pull": Verb(
        "contractlog.clients.cli.pull.command:pull",
        "write registered schemas to files",
        "contractlog pull orders-value --out schemas/",
    ),
    "subjects": Verb(
        "contractlog.clients.cli.operations.subjects:subjects",
        "list subjects",
        "contractlog subjects orders- --long",
        section=Section.REGISTRY,
    ),
    "versions": Verb(
        "contractlog.clients.cli.operations.versions:versions",
        "list the versions of a subject",
        "contractlog versions orders-value --deleted",
        section=Section.REGISTRY,
    ),
    "show": Verb(
        "contractlog.clients.cli.operations.show:show",
        "print a registered schema",
        "contractlog show orders-value:3",
        section=Section.REGISTRY,
    ),
    "compat": Verb(
        "contractlog.clients.cli.operations.compat:compat",
        "check one schema file against one or all versions of a subject",
        "contractlog compat orders-value order.avsc --version 3",
        section=Section.REGISTRY,
    ),
    "config": Verb(
        "contractlog.clients.cli.operations.config:config",
        "show, set or unset compatibility level, normalization, alias and the like",
        "contractlog config set orders-value --level FULL",
        section=Section.REGISTRY,
    ),
    "mode": Verb(
        "contractlog.clients.cli.operations.mode:mode",
        "show, set or unset the mode: READWRITE, READONLY, IMPORT …",
        "contractlog mode set orders-value READONLY",
        section=Section.REGISTRY,
    ),
    "delete": Verb(
        "contractlog.clients.cli.operations.delete:delete",
        "delete a subject or a version, unless other schemas reference it",
        "contractlog delete orders-value:3 --dry-run",
        section=Section.REGISTRY,
    ),
    "undelete": Verb(
        "contractlog.clients.cli.operations.undelete:undelete",
        "restore soft-deleted versions under their ids and numbers",
        "contractlog undelete orders-value:3",
        section=Section.REGISTRY,
    ),
    "change": Verb(
        "contractlog.clients.cli.change_requests.command:change",
        "open, approve and merge change requests for protected subjects",
        "contractlog change open orders-value schemas/orders-value.avsc --reason 'new ids'",
        section=Section.REGISTRY,
    ),
    "changes": Verb(
        "contractlog.clients.cli.change_log.changes:changes",
        "list the change log, or only changes that bypassed approvals",
        "contractlog changes --break-glass",
        section=Section.REGISTRY,
    ),
    "contexts": Verb(
        "contractlog.clients.cli.operations.contexts:contexts",
        "list contexts",
        "contractlog contexts",
        section=Section.REGISTRY,
    ),
    "whoami": Verb(
        "contractlog.clients.cli.operations.whoami:whoami",
        "show the registry, the user and the permissions",
        "contractlog whoami orders-value",
        section=Section.REGISTRY,
    ),
    "journal": Verb(
        "contractlog.clients.cli.change_log.journal_command:journal",
        "verify the hash chain of the change log, show its head, export it",
        "contractlog journal verify --database-url sqlite:///contractlog.db",
        section=Section.REGISTRY,
    ),
    "produce": Verb(
        "contractlog.serdes.cli.produce:produce",
        "write JSON lines to a topic",
        "contractlog produce orders < orders.jsonl",
        section=Section.RECORDS,
    ),
    "consume": Verb(
        "contractlog.serdes.cli.consume:consume",
        "print a topic as JSON lines",
        "contractlog consume orders --limit 10",
        section=Section.RECORDS,
    ),
    "audit": Verb(
        "contractlog.spark_validation.jobs.audit_command:audit",
        "check every record of topics against the schema whose id it carries",
        "contractlog audit orders --out audit/",
        "spark",
        Section.RECORDS,
    ),
    "archive": Verb(
        "contractlog.spark_validation.jobs.archive_command:archive",
        "copy topics to Parquet files, each range of offsets once",
        "contractlog archive 'shop-*' --out archive/",
        "spark",
        Section.RECORDS,
    ),
    "backtest": Verb(
        "contractlog.spark_validation.jobs.backtest_command:backtest",
        "read the records of a topic with a schema before it is registered",
        "contractlog backtest orders-value schemas/orders-value.avsc --topic orders",
        "spark",
        Section.RECORDS,
    ),
    "lineage": Verb(
        "contractlog.spark_validation.jobs.lineage_command:lineage",
        "show which topics were made from others: found in values, traced, or published",
        "contractlog lineage --state audit/state\n  contractlog lineage invoices --published --at 2026-11-01",
        "spark",
        Section.RECORDS,
    ),
    "impact": Verb(
        "contractlog.clients.cli.impact.command:impact",
        "list what a change of a field reaches: topics, fields and consumer groups",
        "contractlog impact orders-value:customer_id --registry http://127.0.0.1:8081",
        section=Section.RECORDS,
    ),
    "unused": Verb(
        "contractlog.spark_validation.jobs.unused_command:list_unused",
        "list the versions that no record carries and that may be deleted, with the proof",
        "contractlog unused --bootstrap-servers 127.0.0.1:9092",
        "spark",
        Section.RECORDS,
    ),
    "infer": Verb(
        "contractlog.spark_validation.jobs.infer_command:infer",
        "write quality rules that the records of an audit satisfy",
        "contractlog infer --audit audit --out quality",
        "spark",
        Section.RECORDS,
    ),
    "replay": Verb(
        "contractlog.spark_validation.jobs.replay_command:replay",
        "send the violating records of an audit to a topic, as they are or corrected in a file",
        "contractlog replay audit/ --to orders-repair --code TRUNCATED --confirm",
        "spark",
        Section.RECORDS,
    ),
    "completion": Verb(
        "contractlog.clients.cli.operations.completion:completion",
        "print a script that completes verbs, options and subjects in a shell",
        "source <(contractlog completion bash)",
        section=Section.SHELL,
    ),
}
