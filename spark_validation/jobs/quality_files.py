"""Files of quality rules: ``<topic>.quality.yaml``, read with bounded size and without aliases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import yaml

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.terminal_text import escape_line
from contractlog.contracts.quality.odcs_quality import parse_quality
from contractlog.contracts.quality.rules import QualityRules

__all__ = ["SUFFIX", "list_patterns", "read_quality_file", "read_quality_files"]

SUFFIX: Final = ".quality.yaml"
MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 64
MAX_FILES: Final = 10_000
MAX_NUMBER: Final = 400  #: characters
_NUMBER_TAGS: Final = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_COLLECTION_TAGS: Final = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
DocumentPath = tuple[str | int, ...]


def read_quality_files(paths: Iterable[Path]) -> dict[str, QualityRules]:
    """Return the rules of each topic.

    Args:
        paths: files, and folders in which all files ``<topic>.quality.yaml`` are read.

    Raises:
        UsageError: a file cannot be read, or a rule is wrong; the message has file and line.
    """
    rules: dict[str, QualityRules] = {}
    for path in paths:
        for file in sorted(path.glob(f"*{SUFFIX}"))[:MAX_FILES] if path.is_dir() else [path]:
            read = read_quality_file(file)
            if read.topic in rules:
                raise UsageError(
                    f"{escape_line(str(file))}: the topic {escape_line(read.topic)} has rules in another file"
                )
            rules[read.topic] = read
    return rules


def read_quality_file(path: Path) -> QualityRules:
    """Return the rules of a file, whose name has the topic."""
    name = escape_line(str(path))
    topic = path.name.removesuffix(SUFFIX)
    if not topic or topic == path.name:
        raise UsageError(f"{name}: a file of quality rules is named TOPIC{SUFFIX}")
    try:
        text = read_bounded_file(path, MAX_BYTES).decode()
        node = yaml.compose(text, _Loader)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UsageError(f"{name}:{line}: {escape_line(str(error.problem))}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"{name} is not YAML: {escape_line(str(error).splitlines()[0])}") from None
    lines: dict[DocumentPath, int] = {}
    try:
        document = {} if node is None else _convert(node, (), lines)
    except ValueError as error:
        raise UsageError(f"{name}: {escape_line(str(error))}") from None
    rules = parse_quality(topic, document, name, lines)
    _check_patterns(rules, name)
    return rules


class _Loader(yaml.SafeLoader):
    """Loader that rejects aliases, which could make a small file a huge document."""

    _depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose a node, unless it is an alias or nested too deep."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases are not supported", problem_mark=self._mark())
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem=f"nested deeper than {MAX_DEPTH}", problem_mark=self._mark())
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def _mark(self) -> Any:
        """Return the position of the next event."""
        return self.peek_event().start_mark  # type: ignore[no-untyped-call]


def _convert(node: yaml.Node, path: DocumentPath, lines: dict[DocumentPath, int]) -> Any:
    """Return the value of a node, and add the line of each member."""
    lines[path] = node.start_mark.line + 1
    if isinstance(node, yaml.CollectionNode) and node.tag not in _COLLECTION_TAGS:
        raise ValueError(f"line {lines[path]}: the tag `{node.tag}` is not supported")
    if isinstance(node, yaml.MappingNode):
        members: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = _construct(key_node)
            if not isinstance(key, str | int) or key in members:
                raise ValueError(f"line {key_node.start_mark.line + 1}: the name `{key}` occurs twice, or is no text")
            members[key] = _convert(value_node, (*path, key), lines)
        return members
    if isinstance(node, yaml.SequenceNode):
        return [_convert(item, (*path, index), lines) for index, item in enumerate(node.value)]
    return _construct(node)


def _construct(node: yaml.Node) -> Any:
    """Return a scalar with the types of YAML's safe schema."""
    if not isinstance(node, yaml.ScalarNode):
        return None
    if node.tag in _NUMBER_TAGS and len(node.value) > MAX_NUMBER:
        raise ValueError(f"line {node.start_mark.line + 1}: a number has at most {MAX_NUMBER} characters")
    constructor = yaml.SafeLoader("")
    try:
        return constructor.construct_object(node)
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise ValueError(f"line {node.start_mark.line + 1}: {str(error).splitlines()[0]}") from None


def _check_patterns(rules: QualityRules, name: str) -> None:
    for rule in rules.rules:
        if rule.pattern:
            try:
                pc.match_substring_regex(pa.array([""]), rule.pattern)
            except pa.ArrowInvalid as error:
                raise UsageError(f"{name}:{rule.line}: the pattern is not valid: {escape_line(str(error))}") from None


def list_patterns(rules: Mapping[str, QualityRules]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the patterns of rules, by topic and field."""
    patterns: dict[tuple[str, str], tuple[str, ...]] = {}
    for topic, each in rules.items():
        for rule in each.rules:
            if rule.pattern:
                key = (topic, rule.field)
                patterns[key] = tuple(dict.fromkeys((*patterns.get(key, ()), rule.pattern)))
    return patterns
