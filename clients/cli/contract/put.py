"""``contractlog contract put``: contracts stored in the registry."""

from __future__ import annotations

from argparse import Namespace

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.contract.contract_files import ContractFile, read_contract, require_valid
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import print_json, print_result
from contractlog.compatibility.errors import UsageError
from contractlog.contracts.odcs.document import find_topic, list_schemas

__all__ = ["run"]

FORMAT = "contractlog.contract-put/1"


def run(options: Namespace) -> int:
    """Store a contract as the next version of its topic, unless it equals the newest one."""
    file = require_valid(read_contract(options.file))
    topic = _find_topic(file)
    with connect(options) as registry:
        body = registry.put_contract(topic, file.contract, expected=options.expected)
    if options.format == "json":
        print_json({"format": FORMAT, **{name: body[name] for name in ("topic", "version", "status", "hash")}})
    else:
        print_result(f"version {body['version']} of the contract of {topic}, {body['status']}")
    return exit_codes.CLEAN


def _find_topic(file: ContractFile) -> str:
    """Return the one topic that a contract is about.

    Raises:
        UsageError: there is none, or there are several.
    """
    topics = sorted({find_topic(element) for element in list_schemas(file.contract)})
    if len(topics) != 1:
        listed = ", ".join(topics) or "no topic"
        raise UsageError(f"{file.path}: a contract in the registry is about one topic, and this one is about {listed}")
    return topics[0]
