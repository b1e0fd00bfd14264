"""YAML from outside as JSON values with positions, bounded and without aliases; and YAML to write."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.json_positions import Position
from contractlog.compatibility.text.encodable_text import is_encodable
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.odcs.finding import DocumentPath

__all__ = ["MAX_BYTES", "YamlDocument", "parse_yaml", "write_yaml"]

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 64
MAX_NUMBER: Final = 400  #: characters
_NUMBER_TAGS: Final = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_COLLECTION_TAGS: Final = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
_TIMESTAMP_TAG: Final = "tag:yaml.org,2002:timestamp"
_MAX_WIDTH: Final = 120


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A document of JSON values, and the position of each value by its path."""

    value: Any
    positions: Mapping[DocumentPath, Position]

    def locate(self, path: DocumentPath) -> Position:
        """Return the position of a value, or of the nearest one that encloses it."""
        while path and path not in self.positions:
            path = path[:-1]
        return self.positions.get(path, Position(1, 1))


def parse_yaml(content: bytes, name: str) -> YamlDocument:
    """Parse a file; JSON is YAML, too. An empty file is an empty object. Dates stay texts.

    Args:
        content: of the file.
        name: of the file, for errors.

    Raises:
        UsageError: it is too large, is not YAML, or has an alias, a tag, a repeated name or no JSON value.
    """
    if len(content) > MAX_BYTES:
        raise UsageError(f"{name}: it is larger than {MAX_BYTES:,} bytes")
    try:
        text = content.decode("utf-8-sig")
        node = yaml.compose(text, _Loader)
        positions: dict[DocumentPath, Position] = {}
        return YamlDocument({} if node is None else _convert(node, (), positions), positions)
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} cannot be read: {error}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        at = f"{mark.line + 1}:{mark.column + 1}" if mark else "1:1"
        raise UsageError(f"{name}:{at}: {escape_line(str(error.problem))}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"{name} is not YAML: {escape_line((str(error).splitlines() or [''])[0])}") from None


def write_yaml(document: Any) -> str:
    """Return JSON values as YAML, members in their order."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_MAX_WIDTH)


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


class _Dumper(yaml.SafeDumper):
    """Dumper without aliases; texts of several lines are blocks."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - an interface of the library
        """Return true: a value that occurs twice is written twice."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - as above
        """Indent the items of a list."""
        super().increase_indent(flow, False)  # noqa: FBT003 - as above


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _write_text)


def _convert(node: yaml.Node, path: DocumentPath, positions: dict[DocumentPath, Position]) -> Any:
    """Return the value of a node, and add the position of each value in it."""
    positions[path] = Position(node.start_mark.line + 1, node.start_mark.column + 1)
    if isinstance(node, yaml.CollectionNode) and node.tag not in _COLLECTION_TAGS:
        raise _error(node, f"the tag `{node.tag}` is not supported")
    if isinstance(node, yaml.MappingNode):
        members: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = _construct(key_node)
            if not isinstance(key, str) or key in members:
                raise _error(key_node, f"the name `{key}` occurs twice, or is no text")
            members[key] = _convert(value_node, (*path, key), positions)
            positions[*path, key] = Position(key_node.start_mark.line + 1, key_node.start_mark.column + 1)
        return members
    if isinstance(node, yaml.SequenceNode):
        return [_convert(item, (*path, index), positions) for index, item in enumerate(node.value)]
    return _construct(node)


def _construct(node: yaml.Node) -> Any:
    """Return a scalar with the types of JSON."""
    if not isinstance(node, yaml.ScalarNode):
        return None
    if node.tag in _NUMBER_TAGS and len(node.value) > MAX_NUMBER:
        raise _error(node, f"a number has at most {MAX_NUMBER} characters")
    if node.tag == _TIMESTAMP_TAG:
        return node.value
    try:
        value = yaml.SafeLoader("").construct_object(node)
    except (yaml.YAMLError, ValueError, OverflowError, KeyError) as error:
        raise _error(node, str(error).splitlines()[0]) from None
    if not isinstance(value, str | int | float | None) or (isinstance(value, float) and not math.isfinite(value)):
        raise _error(node, f"`{node.value[:100]}` is no text, finite number, true, false or null")
    if isinstance(value, str) and not is_encodable(value):
        raise _error(node, "the text has half of a surrogate pair")
    return value


def _error(node: yaml.Node, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
