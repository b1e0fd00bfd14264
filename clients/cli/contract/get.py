"""``contractlog contract get``: the contract of a topic in the registry."""

from __future__ import annotations

from argparse import Namespace

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.contract.contract_files import write_file
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import print_document, print_json, print_message
from contractlog.contracts.odcs.contract_text import write_contract

__all__ = ["run"]

FORMAT = "contractlog.contract/1"


def run(options: Namespace) -> int:
    """Print a version of the contract of a topic, or write it to a file."""
    with connect(options) as registry:
        body = registry.contract(options.topic, options.version)
    if options.format == "json":
        print_json({"format": FORMAT, **body})
        return exit_codes.CLEAN
    if options.out is None:
        print_document(write_contract(body["document"]))
    else:
        write_file(options.out, write_contract(body["document"]), force=options.force)
    print_message(f"version {body['version']} of the contract of {options.topic}, {body['status']}")
    for each in body["schemas"]:
        if each["version"] != each["latest"]:
            described = "another schema than" if each["version"] is None else f"version {each['version']} of"
            newest = f"but the newest is {each['latest']}" if each["latest"] else "which has no live version"
            print_message(f"warning: the contract describes {described} {each['subject']}, {newest}")
    return exit_codes.CLEAN
