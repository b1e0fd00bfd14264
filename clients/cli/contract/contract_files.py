"""Contracts in files: read with the findings about them, located, printed; and files to write."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contractlog.clients.atomic_file import open_atomically
from contractlog.clients.bounded_file import read_bounded_file
from contractlog.clients.cli.output import print_message, print_result
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.json_positions import Position
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.odcs.contract_check import check_contract
from contractlog.contracts.odcs.contract_text import parse_contract
from contractlog.contracts.odcs.data_contract_specification import convert_specification, is_specification
from contractlog.contracts.odcs.finding import ContractFinding
from contractlog.contracts.odcs.versions import restore_members
from contractlog.contracts.odcs.yaml_text import MAX_BYTES, YamlDocument

__all__ = ["ContractFile", "print_findings", "read_contract", "require_valid", "write_file"]


@dataclass(frozen=True, slots=True)
class ContractFile:
    """A contract, as it is in a file, with the findings about it."""

    path: Path
    document: YamlDocument  #: as written
    contract: dict[str, Any]  #: in ODCS, with the members that an export kept apart
    findings: list[ContractFinding]

    def locate(self, finding: ContractFinding) -> Position:
        """Return the position of a finding in the file."""
        return self.document.locate(finding.path)

    def describe(self, finding: ContractFinding) -> str:
        """Return a finding as one line, in the form that editors and terminals make into a link."""
        position = self.locate(finding)
        return f"{self.path}:{position}: {finding.severity}: {finding} [{finding.check}]"

    def body(self, finding: ContractFinding) -> dict[str, Any]:
        """Return a finding in JSON output."""
        position = self.locate(finding)
        return {
            "path": str(self.path),
            "line": position.line,
            "column": position.column,
            "member": list(finding.path),
            "check": finding.check.value,
            "severity": finding.severity.value,
            "message": finding.message,
        }


def read_contract(path: Path) -> ContractFile:
    """Read a contract in ODCS or Data Contract Specification, and check it.

    Raises:
        UsageError: it cannot be read, or is no object in YAML.
    """
    name = escape_line(str(path))
    try:
        content = read_bounded_file(path, MAX_BYTES)
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror or error}") from None
    document = parse_contract(content, name)
    if is_specification(document.value):
        contract, findings = convert_specification(document.value)
    else:
        contract, findings = restore_members(document.value)
    return ContractFile(path, document, contract, [*findings, *check_contract(contract)])


def require_valid(file: ContractFile) -> ContractFile:
    """Return a contract without errors.

    Raises:
        UsageError: it has errors; the message has the first of them, and its position.
    """
    errors = [each for each in file.findings if each.severity is Severity.ERROR]
    if errors:
        details = [file.describe(each) for each in errors[1:6]]
        more = f" ({len(errors):,} errors: `contractlog contract lint` lists them)" if len(errors) > 1 else ""
        raise UsageError(f"{file.path}:{file.locate(errors[0])}: {errors[0]}{more}", details=details)
    return file


def print_findings(findings: Iterable[ContractFinding]) -> None:
    """Print what a conversion reports, without positions, to stderr."""
    for finding in findings:
        print_message(f"{finding.severity}: {finding} [{finding.check}]")


def write_file(path: Path, text: str, *, force: bool) -> None:
    """Write a file.

    Raises:
        UsageError: it exists, and shall not be replaced.
    """
    if path.exists() and not force:
        raise UsageError(f"`{path}` exists: pass --force to replace it, or --out with another name")
    try:
        with open_atomically(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror or error}") from None
    print_result(f"wrote {path}")
