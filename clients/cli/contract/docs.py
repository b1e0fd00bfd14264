"""``contractlog contract docs``: a contract as one page that needs no network."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.contract.contract_files import ContractFile, read_contract, require_valid, write_file
from contractlog.clients.cli.output import count_noun
from contractlog.compatibility.errors import UsageError
from contractlog.contracts.odcs.document import find_topic, list_schemas
from contractlog.contracts.odcs.evaluated_quality import parse_rules
from contractlog.contracts.quality.rules import QualityRule

__all__ = ["run"]

_PACKAGE: Final = "contractlog.clients.cli.contract"
_MAX_TEXT: Final = 2_000  #: characters of a value
_SECTIONS: Final = {
    "Terms": ("description", "domain", "tenant", "context", "tags"),
    "Service levels": ("slaProperties",),
    "People": ("team", "roles", "support"),
    "Price": ("price",),
    "Servers": ("servers",),
    "More": ("authoritativeDefinitions", "customProperties"),
}
_UNITS: Final = {"latency": "seconds", "percent": "percent"}  #: of quality rules
_LABELS: Final = ("property", "username", "role", "channel", "server", "name", "type")


def run(options: Namespace) -> int:
    """Write the page."""
    file = require_valid(read_contract(options.file))
    target = options.out or file.path.with_suffix(".html")
    write_file(target, _render(file), force=options.force)
    return exit_codes.CLEAN


def _render(file: ContractFile) -> str:
    environment = Environment(loader=PackageLoader(_PACKAGE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["anchor"] = lambda text: re.sub(r"\W+", "-", text.lower())
    contract = file.contract
    schemas = [_describe_schema(file, index, each) for index, each in enumerate(list_schemas(contract))]
    sections = {title: list(_list_rows(contract, members)) for title, members in _SECTIONS.items()}
    return environment.get_template("contract.html").render(
        title=contract.get("name") or contract["id"],
        sentence=_summarize(contract, schemas),
        problems=[str(each) for each in file.findings],
        sections=[(title, rows) for title, rows in sections.items() if rows],
        schemas=schemas,
        file=file.path.name,
        stylesheet=Markup(files(_PACKAGE).joinpath("templates/contract.css").read_text("utf-8")),  # noqa: S704 - ours
    )


def _summarize(contract: Mapping[str, Any], schemas: list[dict[str, Any]]) -> str:
    """Return the sentence that a busy reader needs."""
    team = contract.get("team")
    owner = team.get("name") if isinstance(team, dict) else None
    topics = ", ".join(each["topic"] for each in schemas) or "no topic"
    fields = count_noun(sum(len(each["fields"]) for each in schemas), "field")
    rules = count_noun(sum(len(each["rules"]) for each in schemas), "quality rule")
    owned = f", owned by {owner}," if owner else ""
    status = f" ({contract['status']})" if "status" in contract else ""
    return f"Version {contract['version']}{status} of the contract for {topics}{owned} has {fields} and {rules}."


def _list_rows(contract: Mapping[str, Any], members: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for member in members:
        value = contract.get(member)
        if isinstance(value, list) and all(isinstance(each, dict) for each in value):
            for each in value:
                label = next((str(each[name]) for name in _LABELS if name in each), member)
                yield label, _write({name: part for name, part in each.items() if part != label})
        elif isinstance(value, dict):
            yield from ((name, _write(part)) for name, part in value.items())
        elif value is not None:
            yield member, _write(value)


def _write(value: Any) -> str:
    if isinstance(value, dict):
        text = "; ".join(f"{name}: {_write(part)}" for name, part in value.items())
    elif isinstance(value, list):
        text = ", ".join(_write(each) for each in value)
    else:
        text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"


def _describe_schema(file: ContractFile, index: int, element: Mapping[str, Any]) -> dict[str, Any]:
    try:
        rules = [_describe_rule(each) for each in parse_rules(file.contract, "", index).rules]
    except UsageError as error:
        rules = [str(error)]
    return {
        "name": element["name"],
        "topic": find_topic(element),
        "description": element.get("description", ""),
        "fields": list(_list_fields(element, "")),
        "rules": rules,
    }


def _list_fields(element: Mapping[str, Any], prefix: str) -> Iterator[dict[str, Any]]:
    """Yield the fields of an element and of those inside, with their paths."""
    for each in element.get("properties") or ():
        path = f"{prefix}.{each['name']}" if prefix else each["name"]
        yield {
            "path": path,
            "type": _describe_type(each),
            "required": "yes" if each.get("required") else "no",
            "description": "; ".join(
                filter(None, (each.get("description"), each.get("classification"), *each.get("tags", ())))
            ),
        }
        yield from _list_fields(each, path)
    if "items" in element:
        yield from _list_fields(element["items"], f"{prefix}[]")
    if "map" in element:
        yield from _list_fields(element["map"]["value"], f"{prefix}{{}}")


def _describe_type(element: Mapping[str, Any]) -> str:
    """Return the logical type, and the physical type if it has another name."""
    logical, physical = (element.get(name) for name in ("logicalType", "physicalType"))
    return f"{logical} ({physical})" if logical and physical and physical != logical else logical or physical or ""


def _describe_rule(rule: QualityRule) -> str:
    unit = _UNITS.get(rule.metric) or _UNITS.get(rule.unit, "")
    return f"{rule.field or 'records'}: {rule.metric} {rule.bound} {unit}".rstrip()
