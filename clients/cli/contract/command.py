"""``contractlog contract``; the modules of its actions are imported after ``--help``."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from contractlog.clients.cli.options import (
    add_environment,
    add_format,
    add_output,
    add_registry,
    parse_level,
    parse_output_path,
)
from contractlog.clients.cli.output import apply_output_options
from contractlog.clients.cli.verb_parser import add_action_parser
from contractlog.clients.functions_by_name import import_function
from contractlog.compatibility.level import Level

__all__ = ["contract"]

_PACKAGE: Final = "contractlog.clients.cli.contract"
_VERSIONS: Final = ("v3.0.2", "v3.1.0", "v3.2.0")


def contract(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Write, check, compare, test, import, export, show or store a data contract."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = partial(_add_action, actions)
    init = add("init", "write the contract of a schema", "orders-value.avsc", registry=True)
    init.add_argument("source", metavar="SUBJECT|SCHEMA_FILE", help="a schema file, or a subject of the registry")
    _add_file_output(init, "the contract (default: <topic>.contract.yaml beside the schema)")
    lint = add("lint", "check contracts: structure, schemas, rules, quality rules", "orders.contract.yaml")
    lint.add_argument("files", nargs="+", type=Path, metavar="FILE", help="contracts in ODCS 3.0 to 3.2")
    lint.add_argument(
        "--fail-on",
        choices=("error", "warning", "note"),
        default="error",
        help="the least severity that ends with exit code 1 (default: %(default)s)",
    )
    diff = add("diff", "compare two contracts", "orders.contract.yaml new.contract.yaml")
    diff.add_argument("earlier", type=Path, metavar="OLD", help="the existing contract")
    diff.add_argument("later", type=Path, metavar="NEW", help="the new contract")
    diff.add_argument(
        "--level",
        type=parse_level,
        default=Level.BACKWARD,
        metavar="LEVEL",
        help=f"the level that decides the exit code: {', '.join(Level)} (default: %(default)s)",
    )
    importer = add("import", "write the schemas and quality rules of a contract as files", "orders.odcs.yaml")
    importer.add_argument("file", type=Path, metavar="FILE", help="a contract in ODCS or Data Contract Specification")
    importer.add_argument("--schema-type", choices=("AVRO", "JSON"), help="the format (default: that of the contract)")
    importer.add_argument("--out", type=Path, metavar="FOLDER", help="the folder (default: that of the file)")
    importer.add_argument("--force", action="store_true", help="replace existing files")
    export = add("export", "print a contract for other tools", "orders-value --odcs-version v3.1.0", registry=True)
    export.add_argument(
        "source",
        metavar="SUBJECT[:VERSION]|FILE",
        help="a version of the registry, by default the latest; or a contract",
    )
    export.add_argument("--format", choices=("odcs",), default="odcs", help="form of the contract (default: odcs)")
    export.add_argument("--odcs-version", choices=_VERSIONS, default=_VERSIONS[-1], help="(default: %(default)s)")
    _add_file_output(export, "the contract (default: standard output)")
    test = add(
        "test", "check a contract against the registry and its newest audit", "orders.contract.yaml", registry=True
    )
    test.add_argument("file", type=Path, metavar="FILE", help="a contract")
    get = add("get", "print the contract of a topic in the registry", "orders", registry=True)
    get.add_argument("topic", metavar="TOPIC", help="a topic")
    get.add_argument("--version", type=int, metavar="N", help="a version of the contract (default: the newest)")
    _add_file_output(get, "the contract (default: standard output)")
    put = add("put", "store a contract in the registry", "orders.contract.yaml", registry=True)
    put.add_argument("file", type=Path, metavar="FILE", help="a contract of one topic")
    put.add_argument("--expected", type=int, metavar="N", help="fail unless this is the newest version; 0: none")
    docs = add("docs", "write a contract as a page for people", "orders.contract.yaml")
    docs.add_argument("file", type=Path, metavar="FILE", help="a contract")
    _add_file_output(docs, "the page (default: the name of the contract with .html)")
    options = parser.parse_args(argv)
    module = {"import": "importer"}.get(options.action, options.action)
    run = import_function(f"{_PACKAGE}.{module}:run")
    with apply_output_options(options):
        return int(run(options))


def _add_action(actions: Any, name: str, summary: str, example: str, *, registry: bool = False) -> ArgumentParser:
    parser = add_action_parser(actions, f"contract {name}", summary, example)
    if registry:
        add_environment(parser)
        add_registry(parser)
    if name != "export":
        add_format(parser)
    add_output(parser)
    return parser


def _add_file_output(parser: ArgumentParser, file: str) -> None:
    parser.add_argument("--out", type=parse_output_path, metavar="FILE", help=f"the file of {file}")
    parser.add_argument("--force", action="store_true", help="replace an existing file")
