"""Problems of the rules that the manifest gives to files, in syntax and types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.manifest_warnings import ManifestWarning
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.compatibility.data_contract import RuleSet
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.metadata_inheritance import remove_rules
from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.rules.compiled_rules import check_rule_set

__all__ = ["find_rule_warnings"]


def find_rule_warnings(manifest: Manifest | None, files: Iterable[SchemaFile]) -> Iterator[ManifestWarning]:
    """Yield the problems of CEL rules; those of severity ERROR are why a registry would reject the schema.

    The rules of a file are its own, and the default and override rules that the manifest sets for its subject; of those
    with one name, the last counts. A schema that depends on others is parsed without them: then the types of its fields
    are unknown.
    """
    if manifest is None:
        return
    for file in {(file.path, file.subject): file for file in files}.values():
        layers = list(_list_layers(manifest, file))
        parsed = _parse_alone(file) if layers else None
        for number, (path, line, rule_set) in enumerate(layers):
            replaced = {name for _, _, later in layers[number + 1 :] for name in _list_names(later)}
            for problem in check_rule_set(remove_rules(rule_set, replaced), parsed):
                severity = Severity(problem.severity)
                effect = "the registry would reject these rules" if severity is Severity.ERROR else "not checked"
                message = f"{effect}: {problem} for {file.path}"
                yield ManifestWarning(path, line, message, severity, is_rule_problem=True)


def _list_layers(manifest: Manifest, file: SchemaFile) -> Iterator[tuple[Path, int, RuleSet]]:
    """Yield the rule sets of a file in the order of a registry, each with its manifest and line."""
    own, subject = manifest.find_rule(file.path), manifest.find_subject_rule(file.subject)
    settings = {} if subject is None else subject.settings
    line = 0 if subject is None else subject.line
    if "default_rule_set" in settings:
        yield manifest.path, line, RuleSet.from_body(settings["default_rule_set"])
    if own is not None and own.rule_set is not None:
        yield own.manifest, own.line, own.rule_set
    if "override_rule_set" in settings:
        yield manifest.path, line, RuleSet.from_body(settings["override_rule_set"])


def _list_names(rule_set: RuleSet) -> list[str]:
    lists = (rule_set.migration_rules, rule_set.domain_rules, rule_set.encoding_rules)
    return [rule.name for rules in lists for rule in rules]


def _parse_alone(file: SchemaFile) -> ParsedSchema | None:
    try:
        return parse_schema(file.draft, strict=False)
    except InvalidSchema:
        return None
