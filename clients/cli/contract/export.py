"""``contractlog contract export``."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.contract.contract_files import print_findings, read_contract, write_file
from contractlog.clients.cli.contract.registered_contract import fetch_contract
from contractlog.clients.cli.output import print_document
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.lint.rule import Severity
from contractlog.contracts.odcs.contract_text import write_contract
from contractlog.contracts.odcs.finding import ContractFinding
from contractlog.contracts.odcs.versions import fit_version

__all__ = ["run"]


def run(options: Namespace) -> int:
    """Print the contract of a version, or of a file, in a version of ODCS."""
    findings: list[ContractFinding] = []
    if Path(options.source).is_file():
        contract = read_contract(Path(options.source)).contract
    else:
        _, contract, findings = fetch_contract(options)
    fitted, kept = fit_version(contract, options.odcs_version)
    errors = [each for each in kept if each.severity is Severity.ERROR]
    if errors:
        raise UsageError(
            f"the contract of `{options.source}` is not valid in any version of ODCS: {errors[0]}",
            details=[str(each) for each in errors[1:6]],
        )
    print_findings([*findings, *(each for each in kept if each.severity is not Severity.ERROR)])
    text = write_contract(fitted)
    if options.out is None:
        print_document(text)
    else:
        write_file(options.out, text, force=options.force)
    return exit_codes.CLEAN
