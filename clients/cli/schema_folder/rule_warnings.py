"""Problems of the rules that the manifest gives to files, in syntax and types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.manifest_warnings import ManifestWarning
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.rules.compiled_rules import check_rule_set

__all__ = ["find_rule_warnings"]


def find_rule_warnings(manifest: Manifest | None, files: Iterable[SchemaFile]) -> Iterator[ManifestWarning]:
    """Yield the problems of CEL rules; those of severity ERROR are why a registry would reject the schema.

    A schema that depends on others is parsed without them: then the types of its fields are unknown.
    """
    for file in {file.path: file for file in files}.values() if manifest is not None else ():
        rule = manifest.find_rule(file.path) if manifest is not None else None
        if rule is None or rule.rule_set is None:
            continue
        for problem in check_rule_set(rule.rule_set, _parse_alone(file)):
            severity = Severity(problem.severity)
            effect = "the registry would reject these rules" if severity is Severity.ERROR else "not checked"
            message = f"{effect}: {problem} for {file.path}"
            yield ManifestWarning(rule.manifest, rule.line, message, severity, is_rule_problem=True)


def _parse_alone(file: SchemaFile) -> ParsedSchema | None:
    try:
        return parse_schema(file.draft, strict=False)
    except InvalidSchema:
        return None
