"""Small random folders of schemas with a manifest, and what a registry has of them before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st

from contractlog.clients import Registry
from contractlog.compatibility.errors import NotFound
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import SchemaDraft, SchemaType

__all__ = ["FILES", "RandomFolder", "random_folders", "read_state"]

#: subject -> file; the later ones may use the earlier ones
FILES: Final = {
    "Money": "types/Money.avsc",
    "orders-value": "orders-value.avsc",
    "clicks-key": "clicks-key.avsc",
    "address": "address.schema.json",
    "people-value": "people-value.schema.json",
}
GONE: Final = "gone-value"  #: has no file, and is pruned


@dataclass(frozen=True)
class RandomFolder:
    """A folder of schemas, and what the registry has before."""

    files: Mapping[str, str]  #: path -> text
    earlier: Mapping[str, SchemaDraft]  #: subject -> the version before
    levels: Mapping[str, Level] = field(default_factory=dict)  #: subject -> level before
    modes: Mapping[str, Mode] = field(default_factory=dict)  #: subject -> mode before

    def write(self, folder: Path) -> None:
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)

    def populate(self, registry: Registry) -> None:
        for subject, draft in self.earlier.items():
            registry.register(subject, draft)
        for subject, level in self.levels.items():
            registry.set_level(level, subject)
        for subject, mode in self.modes.items():
            registry.set_mode(mode, subject)


def write_schema(subject: str, doc: str, fields: int, *, uses: bool) -> dict[str, Any]:
    """Return a schema; documentation and fields differ in compatible ways only."""
    extra = [{"name": f"f{number}", "type": "int", "default": 0} for number in range(fields)]
    match subject:
        case "Money":
            return {"type": "record", "name": "Money", "doc": doc, "fields": [{"name": "a", "type": "long"}, *extra]}
        case "orders-value":
            total = [{"name": "total", "type": "Money" if uses else "long"}]
            return {"type": "record", "name": "Order", "doc": doc, "fields": [*total, *extra]}
        case "clicks-key":
            return {"type": "enum", "name": "Key", "doc": doc, "symbols": ["A", "B"], "default": "A"}
        case "address":
            return {"description": doc, "type": "object", "properties": {"city": {"type": "string"}}}
        case _:
            home = {"$ref": "address.schema.json"} if uses else {"type": "string"}
            return {"description": doc, "type": "object", "properties": {"home": home}}


@st.composite
def random_folders(draw: st.DrawFn, *, with_state: bool = True) -> RandomFolder:
    """Draw a folder that `apply` accepts, unless somebody changes the registry."""
    names = draw(st.sets(st.sampled_from(list(FILES)), min_size=2, max_size=4))
    subjects = [name for name in FILES if name in names]
    files: dict[str, str] = {}
    earlier = {GONE: SchemaDraft('"long"')} if draw(st.booleans()) else {}
    manifest = []
    levels, modes = {}, {}
    for subject in subjects:
        used = {"orders-value": "Money", "people-value": "address"}.get(subject)
        uses = used in names and draw(st.booleans())
        doc = draw(st.sampled_from(["a", "b"]))
        fields = draw(st.integers(0, 2))
        files[FILES[subject]] = json.dumps(write_schema(subject, doc, fields, uses=uses))
        settings = draw(_settings())
        manifest += [f'[[subjects]]\nname = "{subject}"\n{settings}']
        kind = SchemaType.JSON if FILES[subject].endswith(".json") else SchemaType.AVRO
        if with_state and not uses and draw(st.booleans()):
            earlier[subject] = SchemaDraft(json.dumps(write_schema(subject, "before", fields, uses=False)), kind)
            if draw(st.booleans()):
                levels[subject] = draw(st.sampled_from(Level))
            if "READWRITE" in settings:
                modes[subject] = Mode.READONLY
    rules = [_write_file_rule(subject, has_contract=draw(st.booleans())) for subject in subjects]
    everything = '[[subjects]]\nname = "gone-*"\n'
    files["contractlog.toml"] = "\n".join([*rules, *manifest, everything])
    return RandomFolder(files, earlier, levels, modes)


@st.composite
def _settings(draw: st.DrawFn) -> str:
    lines = {
        "level": st.sampled_from(['"BACKWARD"', '"FULL"', '"FULL_TRANSITIVE"', '"NONE"']),
        "mode": st.sampled_from(['"READWRITE"', '"READONLY"']),
        "normalize": st.sampled_from(["true", "false"]),
        "owner": st.sampled_from(['"ana"', '"bob"']),
        "validate_rules": st.sampled_from(["true", "false"]),
    }
    chosen = draw(st.sets(st.sampled_from(list(lines)), max_size=3))
    return "".join(f"{name} = {draw(values)}\n" for name, values in lines.items() if name in chosen)


def _write_file_rule(subject: str, *, has_contract: bool) -> str:
    rule = f'[[files]]\npath = "{FILES[subject]}"\nsubjects = ["{subject}"]\n'
    if not has_contract:
        return rule
    domain = 'name = "positive"\nkind = "CONDITION"\ntype = "CEL"\nexpr = "true"\n'
    metadata = '[files.metadata]\nproperties = { retention = "1 year" }\n'
    return f"{rule}{metadata}[[files.rule_set.domainRules]]\n{domain}"


def read_state(registry: Registry) -> dict[str, Any]:
    """Return the settings and live versions of all subjects."""
    return {subject: _read_subject(registry, subject) for subject in (*FILES, GONE)}


def _read_subject(registry: Registry, subject: str) -> Any:
    try:
        own = registry.config(subject, inherited=False).body()
    except NotFound:
        own = {}
    try:
        numbers = registry.versions(subject)
    except NotFound:
        numbers = []
    versions = [registry.version(subject, number) for number in numbers]
    contents = [(each.version, each.text, each.references, each.metadata, each.rule_set) for each in versions]
    return own, registry.level(subject), registry.mode(subject), contents
