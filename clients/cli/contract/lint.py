"""``contractlog contract lint``."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from typing import Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.contract.contract_files import read_contract
from contractlog.clients.cli.output import count_noun, print_json, print_message, print_result
from contractlog.compatibility.lint.rule import Severity

__all__ = ["run"]

FORMAT: Final = "contractlog.contract-lint/1"


def run(options: Namespace) -> int:
    """Print the findings about contracts; exit code 1 if one of them is grave."""
    files = [read_contract(path) for path in options.files]
    located = [(file, each) for file in files for each in file.findings]
    if options.format == "json":
        print_json({"format": FORMAT, "files": len(files), "findings": [file.body(each) for file, each in located]})
    else:
        for file, finding in sorted(located, key=lambda pair: (str(pair[0].path), pair[0].locate(pair[1]))):
            print_result(file.describe(finding))
        counts = Counter(finding.severity for _, finding in located)
        summary = ", ".join(count_noun(counts[each], each.value) for each in Severity if counts[each])
        print_message(f"{summary or 'no findings'} in {count_noun(len(files), 'contract')}")
    threshold = Severity(options.fail_on)
    failed = any(finding.severity.reaches(threshold) for _, finding in located)
    return exit_codes.FINDINGS if failed else exit_codes.CLEAN
