"""Rules of the manifest for files: subjects (named or by strategy), references, metadata, rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from contractlog.clients.cli.options import parse_reference
from contractlog.clients.cli.schema_folder.file_names import subject_from_name
from contractlog.clients.file_errors import ControlFile, FileError, control_file_error
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.errors import InvalidRuleSet, InvalidSubject, UsageError
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.reference_names import SchemaNames
from contractlog.compatibility.rule_set_validation import validate_rule_set
from contractlog.compatibility.schema import Reference
from contractlog.compatibility.subject_names import (
    SubjectNameStrategyType,
    derive_subject,
    parse_strategy,
    strategy_word,
)

__all__ = ["PLACEHOLDER", "FileRule", "find_file_rule_errors", "parse_file_rule"]

PLACEHOLDER: Final = re.compile(r"\{(\w*)\}")
_PLACEHOLDER_NAMES: Final = ("name", "type")
_TOPIC: Final = SubjectNameStrategyType.TOPIC


@dataclass(frozen=True, slots=True)
class FileRule:
    """Subjects, references, metadata and rules of the files that match a pattern."""

    path: str
    subjects: tuple[str, ...] = ()  #: with placeholders ``{name}`` and ``{type}``
    references: tuple[Reference, ...] = ()
    topics: tuple[str, ...] = ()  #: of the subjects by ``strategy``, with the same placeholders
    strategy: SubjectNameStrategyType | None = None  #: None: subjects are named, or follow from the name of the file
    part: str = "value"  #: of the topics, for the strategy TOPIC
    manifest: Path = field(default=Path("contractlog.toml"), compare=False)
    line: int = field(default=0, compare=False)  #: of the manifest
    metadata: Metadata | None = field(default=None, hash=False)  #: of the last version of a subject
    rule_set: RuleSet | None = field(default=None, hash=False)

    @property
    def location(self) -> str:
        """File and line, for messages."""
        return f"{self.manifest}:{self.line}"

    @property
    def names_subjects(self) -> bool:
        """True if the rule determines subjects; else the names of the files do."""
        return bool(self.subjects or self.strategy)

    @property
    def names_json_files(self) -> bool:
        """True if the pattern is for `.json` files only, which are then JSON schemas also without `$schema`."""
        return self.path.endswith(".json")

    def list_subjects(self, path: Path, names: SchemaNames) -> tuple[str, ...]:
        """Return the subjects of a file with these names in its schema.

        Raises:
            UsageError: a subject needs the name of a type or record, which the schema does not have, or it is not a
                valid subject.
        """
        values = {"name": subject_from_name(path), "type": names.type_name}
        subjects = [self._expand(subject, values, path) for subject in self.subjects]
        if self.strategy is not None:
            if self.strategy is not _TOPIC and not names.record:
                raise UsageError(
                    f"{path}: the strategy `{strategy_word(self.strategy)}` of {self.location} names the subject "
                    "after the record, and this schema has no name: give it one (a JSON schema: a `title`), or name "
                    "`subjects` there"
                )
            topics = [self._expand(topic, values, path) for topic in self.topics or ("",)]
            subjects += [derive_subject(self.strategy, topic, self.part, names.record) for topic in topics]
        return tuple(dict.fromkeys(self._validate(subject, path) for subject in subjects))

    def _expand(self, pattern: str, values: Mapping[str, str], path: Path) -> str:
        def value_of(match: re.Match[str]) -> str:
            value = values[match[1]]
            if value:
                return value
            raise UsageError(f"{path}: {self.location} names it `{pattern}`, and its schema is not a named Avro type")

        return PLACEHOLDER.sub(value_of, pattern)

    def _validate(self, subject: str, path: Path) -> str:
        try:
            Subject.parse(subject).validate()
        except InvalidSubject as error:
            message = f"the subject `{subject}` of `{path}` cannot be used: {error}"
            raise control_file_error([FileError(ControlFile.MANIFEST, self.manifest, message, self.line)]) from None
        return subject


def parse_file_rule(rule: Mapping[str, Any], manifest: Path, line: int) -> FileRule:
    """Make a rule from a table of the manifest."""
    references = tuple(parse_reference(f"{name}={target}") for name, target in rule.get("references", {}).items())
    topics = (rule["topic"],) if "topic" in rule else tuple(rule.get("topics", ()))
    named = "strategy" in rule or topics
    return FileRule(
        rule["path"],
        tuple(rule.get("subjects", ())),
        references,
        topics,
        parse_strategy(rule.get("strategy", "topic")) if named else None,
        rule.get("part", "value"),
        manifest,
        line,
        Metadata.from_body(rule["metadata"]) if "metadata" in rule else None,
        RuleSet.from_body(rule["rule_set"]) if "rule_set" in rule else None,
    )


def find_file_rule_errors(value: Mapping[str, Any]) -> Iterator[tuple[Sequence[str | int], str]]:
    """Yield contradictions and invalid rule sets of [[files]] that the manifest's schema accepts."""
    for index, rule in enumerate(value.get("files", ())):
        for key, message in (*_find_contradictions(rule), *_find_unknown_placeholders(rule)):
            yield ["files", index, key], message
        rule_set = rule.get("rule_set", {})
        try:
            validate_rule_set(RuleSet.from_body(rule_set))
        except (InvalidRuleSet, TypeError, ValueError, AttributeError) as error:
            yield ["files", index, "rule_set", *list(rule_set)[:1]], f"the registry would reject these rules: {error}"


def _find_unknown_placeholders(rule: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in ("subjects", "topic", "topics"):
        texts = rule.get(key, ())
        for text in [texts] if isinstance(texts, str) else texts:
            for match in PLACEHOLDER.finditer(text):
                if match[1] not in _PLACEHOLDER_NAMES:
                    yield key, f"`{match[0]}` in `{text}` is unknown: use {{name}} or {{type}}"


def _find_contradictions(rule: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    strategy = rule.get("strategy", "topic")
    topic = next((key for key in ("topic", "topics") if key in rule), None)
    derived = next((key for key in (topic, "strategy", "part") if key in rule), None)
    if derived is not None and "subjects" in rule:
        yield derived, f"`{derived}` and `subjects` both determine the subjects: remove one of them"
    elif {"topic", "topics"} <= rule.keys():
        yield "topics", "`topic` and `topics` contradict each other: put all topics into `topics`"
    elif derived is not None and topic is None and strategy != "record":
        yield derived, f"the strategy `{strategy}` names subjects after a topic: add `topic` or `topics`"
    elif topic is not None and strategy == "record":
        yield topic, f"the strategy `record` does not name subjects after topics: remove `{topic}`"
    elif "part" in rule and strategy != "topic":
        yield "part", f"the strategy `{strategy}` does not distinguish key and value: remove `part`"
