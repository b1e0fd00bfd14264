"""``contractlog contract import``."""

from __future__ import annotations

from argparse import Namespace
from urllib.parse import quote

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.contract.contract_files import print_findings, read_contract, require_valid, write_file
from contractlog.clients.cli.output import print_message
from contractlog.clients.cli.schema_folder.file_names import CONTRACT_SUFFIX, file_name
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.identifiers import topic_subject
from contractlog.compatibility.schema import SchemaType
from contractlog.contracts.odcs.contract_text import write_contract
from contractlog.contracts.odcs.custom_properties import read_custom
from contractlog.contracts.odcs.document import PART, build_schema, find_topic, list_schemas
from contractlog.contracts.odcs.evaluated_quality import select_quality
from contractlog.contracts.odcs.yaml_text import write_yaml

__all__ = ["run"]


def run(options: Namespace) -> int:
    """Write the schemas, the quality rules, and the contract if it is not in this form yet."""
    file = require_valid(read_contract(options.file))
    contract = file.contract
    folder = options.out or options.file.parent
    if not folder.is_dir():
        raise UsageError(f"there is no folder `{folder}`: make it, or name another one with --out")
    texts: dict[str, str] = {}
    kind = SchemaType(options.schema_type) if options.schema_type else None
    for index, element in enumerate(list_schemas(contract)):
        built = build_schema(contract, index, kind)
        part = "key" if read_custom(element).get(PART) == "key" else "value"
        topic = find_topic(element)
        texts[file_name(topic_subject(topic, part), built.draft.type)] = built.draft.text + "\n"
        if part == "value":
            rules = select_quality(contract, index)
            if rules.keys() - {"physicalName"}:
                texts[f"{quote(topic, safe=' ')}.quality.yaml"] = write_yaml(rules)
    if not texts:
        raise UsageError(f"{file.path}: the contract has no schema: nothing can be written")
    if contract is not file.document.value:
        texts[f"{quote(str(contract['id']), safe=' ')}{CONTRACT_SUFFIX}"] = write_contract(contract)
    existing = [name for name in texts if (folder / name).exists()]
    if existing and not options.force:
        raise UsageError(f"`{folder / existing[0]}` exists: pass --force to replace it, or --out with another folder")
    print_findings(file.findings)
    for name, text in texts.items():
        write_file(folder / name, text, force=options.force)
    print_message("next: contractlog check with the schema files, contractlog audit --quality with the quality rules")
    return exit_codes.CLEAN
