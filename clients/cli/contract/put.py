"""``contractlog contract put``: contracts stored in the registry."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.contract.contract_files import ContractFile, read_contract, require_valid
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import print_json, print_message, print_result
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.name_lists import list_first
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.odcs.document import find_topic, list_schemas

__all__ = ["run"]

FORMAT = "contractlog.contract-put/1"
_MAX_NAMED: Final = 10


def run(options: Namespace) -> int:
    """Store a contract as the next version of its topic, unless it equals the newest one."""
    file = require_valid(read_contract(options.file))
    topic = _find_topic(file)
    with connect(options) as registry:
        body = registry.put_contract(topic, file.contract, expected=options.expected)
        reached = _describe_consumers(registry.contract_consumers(topic))
    if options.format == "json":
        print_json({"format": FORMAT, **{name: body[name] for name in ("topic", "version", "status", "hash")}})
    else:
        print_result(f"version {body['version']} of the contract of {topic}, {body['status']}")
        if reached:
            print_message(f"used by: {reached}")
    return exit_codes.CLEAN


def _describe_consumers(consumers: Mapping[str, Any]) -> str:
    """Return those that a contract reaches, for people; empty if nobody is known."""
    clients = sorted({each["client"] for each in consumers["clients"] or ()})
    named = [*(f"the client {each}" for each in clients), *consumers["downstream"]]
    return escape_line(list_first(named, _MAX_NAMED)) if named else ""


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
