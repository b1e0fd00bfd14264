"""Exports of every version are valid against the official JSON Schema of that version.

The package of the tests has the JSON Schema of 3.2.0; those of earlier versions are in earlier releases of it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random

import jsonschema_rs
import pytest

from contractlog.compatibility.lint.rule import Severity
from contractlog.contracts.odcs.versions import fit_version

from support.odcs_contracts import ContractGenerator

RELEASES = {"v3.0.2": "3.0.4", "v3.1.0": "3.1.2", "v3.2.0": "3.2.0"}


@pytest.mark.slow
@pytest.mark.parametrize("target", RELEASES)
def test_random_contracts_are_valid_in_each_version(tmp_path: Path, target: str) -> None:
    """Downloads a package of 20 KB."""
    requirement = f"open-data-contract-standard=={RELEASES[target]}"
    command = [Path(sys.executable).with_name("uv"), "pip", "install", "--quiet", "--no-deps", "--target", tmp_path]
    installed = subprocess.run([*command, requirement], capture_output=True, check=False)
    if installed.returncode:
        pytest.skip(f"{requirement} cannot be installed")
    schema = json.loads((tmp_path / "open_data_contract_standard" / "schema.json").read_text("utf-8"))
    official, random = jsonschema_rs.Draft201909Validator(schema, offline=True), Random(1)  # noqa: S311 - repeatable
    for source in RELEASES:
        generator = ContractGenerator(random, source)
        for number in range(300):
            contract = generator.contract()
            assert source != target or official.is_valid(contract)
            for _ in range(number % 3):
                generator.damage(contract)
            fitted, findings = fit_version(contract, target)
            if not any(each.severity is Severity.ERROR for each in findings):
                assert official.is_valid(fitted)
