"""``contractlog contract diff``."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.check.check_text import finding_lines
from contractlog.clients.cli.contract.contract_files import read_contract, require_valid
from contractlog.clients.cli.output import Tone, count_noun, print_json, print_message, print_result, with_tone
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import InvalidSchema, UsageError
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema_diff import DiffSide, SchemaDiff, diff_schemas
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.odcs.contract_diff import ContractChange, list_changes
from contractlog.contracts.odcs.document import build_schema, list_schemas

__all__ = ["run"]

FORMAT: Final = "contractlog.contract-diff/1"
_MAX_TEXT: Final = 60  #: of a value in a line
_SIGNS: Final = {"added": "+", "removed": "-", "changed": "~"}


def run(options: Namespace) -> int:
    """Print the changes by section; exit code 1 if a schema is incompatible with the earlier one."""
    earlier, later = (require_valid(read_contract(path)).contract for path in (options.earlier, options.later))
    changes = list(list_changes(earlier, later))
    names = str(options.earlier), str(options.later)
    diffs = list(_diff_schemas(earlier, later, names, options.level))
    if options.format == "json":
        print_json(_body(changes, diffs, names))
    else:
        _print_changes(changes)
        for name, each in diffs:
            _print_schema(name, each)
        print_message(f"{count_noun(len(changes), 'change')} between {names[0]} and {names[1]}")
    return exit_codes.CLEAN if all(each.compatible for _, each in diffs) else exit_codes.FINDINGS


def _diff_schemas(
    earlier: dict[str, Any], later: dict[str, Any], names: tuple[str, str], level: Level
) -> Iterator[tuple[str, SchemaDiff]]:
    """Yield the comparison of each schema that both contracts have; a single one may have another name."""
    before, after = (
        {each["name"]: index for index, each in enumerate(list_schemas(side))} for side in (earlier, later)
    )
    if len(before) == len(after) == 1:
        before = dict(zip(after, before.values(), strict=True))
    for name, index in after.items():
        if name in before:
            sides = [_read_side(*side) for side in ((earlier, before[name], names[0]), (later, index, names[1]))]
            if sides[0].parsed.type is not sides[1].parsed.type:
                raise UsageError(f"the schema `{name}` has another format in {names[1]}: compare its schema files")
            yield name, diff_schemas(sides[0], sides[1], level=level, policy=Policy.STRICT)


def _read_side(contract: dict[str, Any], index: int, name: str) -> DiffSide:
    draft = build_schema(contract, index).draft
    try:
        return DiffSide(name, draft.text, parse_schema(draft, strict=False))
    except InvalidSchema as error:
        raise UsageError(f"the schema of {name} cannot be compared: {error}") from None


def _print_changes(changes: list[ContractChange]) -> None:
    for section in dict.fromkeys(each.section for each in changes):
        print_result(f"{section}:")
        for change in changes:
            if change.section == section:
                values = [_short(each) for each in (change.earlier, change.later)]
                detail = " -> ".join(values) if change.kind == "changed" else values[change.kind == "added"]
                print_result(escape_line(f"  {_SIGNS[change.kind]} {change.path}: {detail}"))


def _print_schema(name: str, difference: SchemaDiff) -> None:
    tone = Tone.GOOD if difference.compatible else Tone.BAD
    verdict = "allows" if difference.compatible else "rejects"
    text = f"schema {name}: {difference.change.kind.value}; level {difference.level} {verdict} the change"
    print_result(with_tone(tone, escape_line(text)))
    for finding in difference.findings:
        if finding.direction in difference.level.directions:
            for line in list(finding_lines("schema", difference.later.text, finding))[:3]:
                print_result(line)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"


def _body(changes: list[ContractChange], diffs: list[tuple[str, SchemaDiff]], names: tuple[str, str]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "earlier": names[0],
        "later": names[1],
        "compatible": all(each.compatible for _, each in diffs),
        "changes": [
            {
                "section": each.section,
                "path": each.path,
                "kind": each.kind,
                "earlier": each.earlier,
                "later": each.later,
            }
            for each in changes
        ],
        "schemas": [{"name": name, **each.body()} for name, each in diffs],
    }
