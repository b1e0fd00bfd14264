"""Files of quality rules: ``<topic>.quality.yaml``, read with bounded size and without aliases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.odcs.yaml_text import MAX_BYTES, parse_yaml
from contractlog.contracts.quality.odcs_reader import parse_quality
from contractlog.contracts.quality.rules import QualityRules

__all__ = ["SUFFIX", "list_patterns", "read_quality_file", "read_quality_files"]

SUFFIX: Final = ".quality.yaml"
MAX_FILES: Final = 10_000


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
        content = read_bounded_file(path, MAX_BYTES)
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror or error}") from None
    document = parse_yaml(content, name)
    lines = {at: position.line for at, position in document.positions.items()}
    rules = parse_quality(topic, document.value, name, lines)
    _check_patterns(rules, name)
    return rules


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
