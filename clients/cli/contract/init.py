"""``contractlog contract init``."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from urllib.parse import quote

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.contract.contract_files import print_findings, write_file
from contractlog.clients.cli.contract.registered_contract import fetch_contract
from contractlog.clients.cli.output import print_message
from contractlog.clients.cli.schema_folder.file_names import CONTRACT_SUFFIX, format_of, subject_from_name
from contractlog.clients.cli.schema_folder.schema_files import read_file
from contractlog.compatibility.errors import InvalidSchema, UsageError
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.identifiers import split_topic_subject, topic_subject
from contractlog.compatibility.text.terminal_text import shell_command
from contractlog.contracts.odcs.contract_text import parse_contract, write_contract
from contractlog.contracts.odcs.document import build_contract

__all__ = ["run"]


def run(options: Namespace) -> int:
    """Write the contract of a schema file, or of the latest version of a subject."""
    path = Path(options.source)
    if format_of(path) is None:
        name, contract, findings = fetch_contract(options)
        folder = Path()
    else:
        draft = read_file(path).draft
        try:
            parse_schema(draft, strict=False)
        except InvalidSchema as error:
            raise UsageError(f"{path}: {error}") from None
        subject = subject_from_name(path)
        topic, part = split_topic_subject(subject) or (subject, "value")
        contract, findings = build_contract(topic, draft, part=part)
        name, folder = topic if part == "value" else topic_subject(topic, "key"), path.parent
    target = options.out or folder / f"{quote(name, safe=' ')}{CONTRACT_SUFFIX}"
    text = write_contract(contract)
    parse_contract(text.encode(), str(target))  # what is too large or too deep to be read is not written
    print_findings(findings)
    write_file(target, text, force=options.force)
    print_message("next: add owner, service levels and quality rules, then run")
    print_message(f"  {shell_command('contract lint', target)}")
    return exit_codes.CLEAN
