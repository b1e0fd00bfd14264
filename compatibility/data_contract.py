"""Metadata and rules of a data contract, as plain values; no rule is executed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["ALL_MODES", "MODES_BY_DIRECTION", "Metadata", "Rule", "RuleSet"]

MODES_BY_DIRECTION: Final[Mapping[str, frozenset[str]]] = {  #: the modes of rules that run in a direction
    "WRITE": frozenset({"WRITE", "WRITEREAD"}),
    "READ": frozenset({"READ", "WRITEREAD"}),
    "UPGRADE": frozenset({"UPGRADE", "UPDOWN"}),
    "DOWNGRADE": frozenset({"DOWNGRADE", "UPDOWN"}),
}
ALL_MODES: Final = frozenset[str]().union(*MODES_BY_DIRECTION.values())
_CLIENT_SIDE: Final = frozenset({None, "ALL", "CLIENT"})


@dataclass(frozen=True, slots=True)
class Metadata:
    """Tags by path, free-form properties, and the names of sensitive properties, which must not be shown."""

    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Metadata:
        """Parse metadata as written by the API; absent and empty members are equivalent."""
        return cls(
            {path: tuple(tags) for path, tags in (body.get("tags") or {}).items()},
            dict(body.get("properties") or {}),
            tuple(body.get("sensitive") or ()),
        )

    def body(self) -> dict[str, Any]:
        """Return the API's form of the metadata: sorted, without empty members."""
        members = {
            "tags": {path: sorted(set(tags)) for path, tags in sorted(self.tags.items())},
            "properties": dict(sorted(self.properties.items())),
            "sensitive": sorted(set(self.sensitive)),
        }
        return {name: value for name, value in members.items() if value}


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition or transform of a data contract, as stored."""

    name: str
    doc: str | None = None
    kind: str = "TRANSFORM"
    mode: str = "WRITEREAD"
    type: str | None = None
    tags: tuple[str, ...] = ()
    params: Mapping[str, str] = field(default_factory=dict)
    expr: str | None = None
    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool = False

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Rule:
        """Parse a rule as written by the API."""
        return cls(
            name=body.get("name") or "",
            doc=body.get("doc"),
            kind=body.get("kind") or "TRANSFORM",
            mode=body.get("mode") or "WRITEREAD",
            type=body.get("type"),
            tags=tuple(body.get("tags") or ()),
            params=dict(body.get("params") or {}),
            expr=body.get("expr"),
            on_success=body.get("onSuccess"),
            on_failure=body.get("onFailure"),
            disabled=body.get("disabled") is True,  # any other value leaves the rule enabled
        )

    def body(self) -> dict[str, Any]:
        """Return the API's form of the rule: absent members are omitted, ``disabled`` is always present."""
        members = {
            "name": self.name,
            "doc": self.doc,
            "kind": self.kind,
            "mode": self.mode,
            "type": self.type,
            "tags": sorted(set(self.tags)),
            "params": dict(sorted(self.params.items())),
            "expr": self.expr,
            "onSuccess": self.on_success,
            "onFailure": self.on_failure,
        }
        return {name: value for name, value in members.items() if value} | {"disabled": self.disabled}


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of a schema, in execution order."""

    migration_rules: tuple[Rule, ...] = ()
    domain_rules: tuple[Rule, ...] = ()
    encoding_rules: tuple[Rule, ...] = ()
    enable_at: str | None = None

    @property
    def runs_on_clients(self) -> bool:
        """True if clients run the rules, unless they are configured otherwise."""
        return self.enable_at in _CLIENT_SIDE

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> RuleSet:
        """Parse a rule set as written by the API."""
        return cls(
            _parse_rules(body.get("migrationRules")),
            _parse_rules(body.get("domainRules")),
            _parse_rules(body.get("encodingRules")),
            body.get("enableAt"),
        )

    def body(self) -> dict[str, Any]:
        """Return the API's form of the rule set, without empty members."""
        members: dict[str, Any] = {
            "migrationRules": [rule.body() for rule in self.migration_rules],
            "domainRules": [rule.body() for rule in self.domain_rules],
            "encodingRules": [rule.body() for rule in self.encoding_rules],
            "enableAt": self.enable_at,
        }
        return {name: value for name, value in members.items() if value}


def _parse_rules(bodies: Sequence[Mapping[str, Any]] | None) -> tuple[Rule, ...]:
    return tuple(map(Rule.from_body, bodies or ()))
