"""``docs/serdes.md`` lists exactly the settings of the serializers, with their defaults."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Final

from contractlog.serdes.avro.limits import Limits
from contractlog.serdes.avro.serde import AvroSerializerOptions
from contractlog.serdes.json_schema.serde import JSONDeserializerOptions, JSONSerializerOptions
from contractlog.serdes.settings import DeserializerOptions, SerializerOptions

PAGE: Final = (Path(__file__).parents[2] / "docs" / "serdes.md").read_text()
OPTIONS: Final = (
    SerializerOptions,
    DeserializerOptions,
    AvroSerializerOptions,
    JSONSerializerOptions,
    JSONDeserializerOptions,
)
#: taken for the sake of programs that give them; no keyword stands for them
TAKEN: Final = {
    "validation.rules.execution",
    "validation.rules.fail.fast",
    "validation.rules.executor",
    "use.deprecated.format",
}


def rows(heading: str) -> list[list[str]]:
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:3] == "| `"]


def test_each_key_has_its_row() -> None:
    named = {key for row in rows("Configuration") for key in re.findall(r"`([a-z.]+)`", row[0])}
    taken = {key.replace("_", ".") for options in OPTIONS for key in options.__annotations__}
    assert named == taken | TAKEN


def test_each_key_says_for_whom_it_is() -> None:
    sides = {
        "S": set(SerializerOptions.__annotations__) | set(AvroSerializerOptions.__annotations__),
        "D": set(DeserializerOptions.__annotations__) | set(JSONDeserializerOptions.__annotations__),
    }
    sides["S"] |= set(JSONSerializerOptions.__annotations__)
    for row in rows("Configuration"):
        key = row[0].strip("`").replace(".", "_")
        if row[0].strip("`") in TAKEN or "," in row[0]:
            continue
        for side, options in sides.items():
            assert (side in row[1].split(", ")) == (key in options), row


def test_each_limit_has_its_row_and_its_default() -> None:
    defaults = {field.name: field.default for field in fields(Limits)}
    shown = {row[0].strip("`"): row[1].strip("`") for row in rows("Limits")}
    assert shown == {
        name: "2^31 - 1" if value == 2**31 - 1 else f"{value:,}" if type(value) is int else str(value)
        for name, value in defaults.items()
    }
