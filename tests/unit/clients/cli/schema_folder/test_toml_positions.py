"""Positions of keys in a manifest."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.clients.cli.schema_folder.toml_positions import locate_key

Keys = tuple[str | int, ...]

TEXT = """[[subjects]]
name = "orders"
  [[subjects.default_rule_set.domainRules]]
  name = "first"

  [[subjects.default_rule_set.domainRules]]
  name = "second"

[[subjects]]
name = "bills"
level = "FULL"
"""


def test_a_list_below_an_entry_is_not_another_entry() -> None:
    assert locate_key(TEXT, ["subjects", 0]) == (1, 1)
    assert locate_key(TEXT, ["subjects", 1]) == (9, 1)
    assert locate_key(TEXT, ["subjects", 1, "level"]) == (11, 1)


def test_a_table_is_located_by_the_first_line_below_it() -> None:
    assert locate_key(TEXT, ["subjects", 0, "default_rule_set"]) == (3, 3)
    assert locate_key(TEXT, ["subjects", 1, "mode"]) == (9, 1)


@pytest.mark.parametrize(
    ("text", "keys", "position"),
    [
        ('\n\nenvironments.dev.registry = "ftp://x"', ["environments", "dev", "registry"], (3, 1)),
        ('\n[environments."a.b"]\nregistry = "x"', ["environments", "a.b", "registry"], (3, 1)),
        ('\n[ environments . \'a"b\' ] # dev\nregistry = "x"', ["environments", 'a"b', "registry"], (3, 1)),
        ('"a\\u002eb" . c = 1\nd = 2', ["a.b", "c"], (1, 1)),
        ('a = """\n[b]\n\\""""\n[b]\nc = 1', ["b", "c"], (5, 1)),
        ("a = '''\n[b]\n'''''\n[b]", ["b"], (4, 1)),
        ("waivers = [\n  { by = 1 }, # ] }\n  { a.by = [2, {}] },\n]", ["waivers", 1, "a", "by"], (3, 5)),
        ("subjects = [ 'a,]', 1979-05-27 07:32:00,\n 7 ]", ["subjects", 2], (2, 2)),
        ("[[files]]\n" + 2 * "[[files.rule_set.rules]]\nname = 1\n", ["files", 0, "rule_set", "rules", 1], (4, 1)),
        ("[[a]]\n[[a.b]]\n[[a]]\n[[a.b]]\nc = 1\n[a.d]\ne = 1", ["a", 1, "d", "e"], (7, 1)),
        ("a = 1", ["b"], (1, 1)),
        ("", [], (1, 1)),
    ],
)
def test_a_key_is_located_however_it_is_written(text: str, keys: list[str | int], position: tuple[int, int]) -> None:
    tomllib.loads(text)
    assert locate_key(text, keys) == position


def test_a_deeply_nested_key_is_located() -> None:
    text = "a = " + 150 * "[{ b = " + "1" + 150 * "}]"
    tomllib.loads(text)
    assert locate_key(text, ["a", *(150 * [0, "b"])]) == (1, text.rindex("b") + 1)


NAMES = st.text("ab.\"'[]#=\\ é", min_size=1, max_size=4) | st.sampled_from(["dev", "name", "1-x"])
STRINGS = st.text("ab\n[]{}#='\"\\,", max_size=8)


def quote(draw: st.DrawFn, text: str) -> str:
    """Write a string of TOML in one of the four forms that can have it."""
    forms = [json.dumps(text)]
    if "\\" not in text and '"""' not in text and not text.endswith('"'):
        forms.append(f'"""\n{text}"""')
    if "'" not in text:
        forms += [f"'''\n{text}'''"] + ([] if "\n" in text else [f"'{text}'"])
    return draw(st.sampled_from(forms))


@dataclass
class Writer:
    """A generator of manifests that knows the line in which it writes each key."""

    draw: st.DrawFn
    text: str = ""
    lines: dict[Keys, int] = field(default_factory=dict)

    @property
    def line(self) -> int:
        return self.text.count("\n") + 1

    def write_key(self, name: str) -> None:
        bare = name.replace("-", "").isascii() and name.replace("-", "").isalnum()
        forms = [name] * bare + [json.dumps(name)] + [f"'{name}'"] * ("'" not in name)
        self.text += self.draw(st.sampled_from(forms))

    def write_space(self) -> None:
        """Write what an array may have between its entries."""
        self.text += self.draw(st.sampled_from(["", " ", "\n  ", " # [x] = {\n", "\n#\n"]))

    def write_value(self, path: Keys, depth: int) -> None:
        kind = self.draw(st.sampled_from(["text", "other", *(["array", "table"] if depth < 3 else [])]))
        if kind == "text":
            self.text += quote(self.draw, self.draw(STRINGS))
        elif kind == "other":
            self.text += self.draw(st.sampled_from(["7", "-1.5e3", "true", "1979-05-27 07:32:00Z", "2027-03-31"]))
        elif kind == "array":
            self.text += "["
            for index in range(self.draw(st.integers(0, 3))):
                self.write_space()
                self.lines[*path, index] = self.line
                self.write_value((*path, index), depth + 1)
                self.write_space()
                self.text += ","
            self.write_space()
            self.text += "]"
        else:
            self.text += "{"
            self.write_pairs(path, depth + 1, ", ")
            self.text += "}"

    def write_pairs(self, path: Keys, depth: int, separator: str) -> None:
        names = self.draw(st.lists(NAMES, unique=True, max_size=3))
        for index, name in enumerate(names):
            self.text += separator * bool(index)
            parts = (name, *self.draw(st.lists(NAMES, max_size=2)))
            line = self.line
            for number, part in enumerate(parts):
                self.text += self.draw(st.sampled_from([".", " . "])) if number else ""
                self.write_key(part)
                self.lines[(*path, *parts[: number + 1])] = line
            self.text += self.draw(st.sampled_from(["=", " = "]))
            self.write_value((*path, *parts), depth)

    def write_header(self, path: Keys, *, is_entry: bool) -> None:
        """Write a header; the numbers in its path are not written."""
        self.lines.setdefault(path, self.line)
        if is_entry:
            self.lines.setdefault(path[:-1], self.line)
        self.text += "[[" if is_entry else "["
        for number, name in enumerate(each for each in path if isinstance(each, str)):
            self.text += "." if number else ""
            self.write_key(name)
        self.text += "]]" if is_entry else "]"

    def write_tables(self, path: Keys, depth: int) -> None:
        """Write tables and arrays of tables with tables below them; their names differ from those of values."""
        for index in range(self.draw(st.integers(0, 2))):
            name = f"{self.draw(NAMES)}-{index}.table"
            is_array = self.draw(st.booleans())
            for entry in range(self.draw(st.integers(1, 3)) if is_array else 1):
                inner: Keys = (*path, name, entry) if is_array else (*path, name)
                self.write_space()
                self.text += "\n" + self.draw(st.sampled_from(["", "  "]))
                self.write_header(inner, is_entry=is_array)
                self.text += self.draw(st.sampled_from(["\n", " # [x]\n"]))
                self.write_pairs(inner, 1, "\n")
                self.text += "\n"
                if depth < 2:
                    self.write_tables(inner, depth + 1)


def list_paths(value: Any, path: Keys = ()) -> Iterator[Keys]:
    """Yield the paths of all keys of a value."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield (*path, key)
        yield from list_paths(member, (*path, key))


@st.composite
def manifests(draw: st.DrawFn) -> Writer:
    """Draw a valid text of TOML with the lines of its keys."""
    writer = Writer(draw)
    writer.write_pairs((), 0, "\n")
    writer.text += "\n"
    writer.write_tables((), 0)
    return writer


@settings(max_examples=60)
@given(manifests())
def test_each_key_of_a_valid_text_is_located_at_its_line(manifest: Writer) -> None:
    assert set(manifest.lines) == set(list_paths(tomllib.loads(manifest.text)))
    for path, line in manifest.lines.items():
        assert locate_key(manifest.text, path)[0] == line, path
