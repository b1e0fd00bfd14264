"""Short scenes that chance plays seldom: each makes several calls one after the other, wherever a history is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from support.registry_model.bindings import Wish
from support.registry_model.contents import INVALID, Items, Text
from support.registry_model.holding import Sent
from support.registry_model.scopes import DEFAULT, GLOBAL

if TYPE_CHECKING:
    from support.registry_model.calls import Calls

__all__ = ["SCENES", "Scene"]

_TOPIC: Final = ":.eu:t-value"
_X: Final[Items] = ((("properties", "owner"), "x"),)
_Y: Final[Items] = ((("properties", "owner"), "y"),)
_ONE: Final[Items] = ((("domainRules", "d"), "1"), (("domainRules", "e"), "1"))
_TWO: Final[Items] = ((("domainRules", "e"), "2"), (("migrationRules", "m"), "1"))


def _sent(kind: str, **members: Any) -> Sent:
    return Sent(text=Text(kind), **members)


def read_only(machine: Calls, subject: str) -> None:
    """What is there is answered, and nothing changes."""
    machine.send(subject, _sent("int"))
    machine.set_mode(subject, "READONLY", force=True)
    machine.send(subject, _sent("int"))
    machine.send(subject, _sent("long"))
    machine.patch(subject, {"normalize": True})
    machine.drop_config(subject)
    machine.drop_version(subject, None, permanent=False)
    machine.drop_subject(subject, permanent=False)
    machine.set_mode(subject, None, force=False)


def levels(machine: Calls, subject: str) -> None:
    """A transitive level looks at all versions, its plain one at the latest."""
    machine.patch(subject, {"compatibility": "NONE"})
    for kind in ("string", "int", "long"):
        machine.send(subject, _sent(kind))
    for level in ("BACKWARD_TRANSITIVE", "FORWARD_TRANSITIVE", "FULL", "FORWARD", "BACKWARD"):
        machine.patch(subject, {"compatibility": level})
        machine.send(subject, _sent("int", metadata=_X))
        machine.send(subject, _sent("long", metadata=_Y))
    machine.patch(subject, {"compatibility": None})


def groups(machine: Calls, subject: str) -> None:
    """Versions are compared within a group."""
    machine.patch(subject, {"compatibility": "BACKWARD_TRANSITIVE", "compatibilityGroup": "owner"})
    for kind, metadata in (("int", _X), ("string", _Y), ("bytes", _X), ("bytes", _Y), ("long", _X)):
        machine.send(subject, _sent(kind, metadata=metadata))
    machine.patch(subject, {"compatibility": None, "compatibilityGroup": None})


def alias(machine: Calls, subject: str) -> None:
    """Writes and reads follow an alias, config and mode do not."""
    machine.patch("b", {"alias": subject})
    machine.send("b", _sent("int"))
    machine.look("b", _sent("int"), deleted=False)
    machine.derive("b", None, Sent(metadata=_Y), None, frozenset())
    machine.drop_version("b", None, permanent=False)
    machine.drop_subject("b", permanent=False)
    machine.drop_subject("b", permanent=True)
    machine.patch("b", {"alias": None})


def owned(machine: Calls, subject: str) -> None:
    """What belongs to a topic cannot be leaned on or deleted, and goes with it."""
    machine.apply("t", [Wish(operation="CREATE", schema=_sent("record"))])
    machine.send(subject, _sent("user", references=((_TOPIC, -1),)))
    machine.drop_version(_TOPIC, None, permanent=False)
    machine.drop_subject(_TOPIC, permanent=False)
    machine.apply("t", [Wish(operation="UPSERT", schema=_sent("record", metadata=_X))])
    machine.release("t", ["value"], cascade=False)
    machine.release("t", ["value"], cascade=True)


def used(machine: Calls, subject: str) -> None:
    """What a topic uses keeps a live version."""
    machine.send(subject, _sent("int"))
    machine.apply("u", [Wish(operation="CREATE", subject=subject, lifecycle="WEAK")])
    machine.drop_subject(subject, permanent=False)
    for _ in range(3):
        machine.drop_version(subject, None, permanent=False)
    machine.release("u", ["key", "value"], cascade=False)


def rules(machine: Calls, subject: str) -> None:
    """Rules are merged and removed by name, also in a version that is not the latest."""
    machine.send(subject, _sent("int", rules=_ONE))
    machine.derive(subject, None, Sent(), _TWO, frozenset())
    machine.derive(subject, None, Sent(), None, frozenset({"d"}))
    machine.derive(subject, 1, Sent(metadata=_X), _TWO, frozenset({"e"}))


def added(machine: Calls, subject: str) -> None:
    """What config adds lies below and above what is sent."""
    machine.patch(subject, {"defaultMetadata": _X, "overrideMetadata": ((("tags", "/x"), ("PII",)),)})
    machine.send(subject, _sent("int", metadata=_Y))
    machine.patch(subject, {"defaultRuleSet": _ONE, "overrideRuleSet": _TWO})
    machine.send(subject, _sent("int", rules=()))
    machine.look(subject, _sent("int"), deleted=False)
    machine.patch(subject, {"defaultMetadata": None, "overrideMetadata": _Y})
    machine.send(subject, _sent("int", metadata=_X))
    machine.drop_config(subject)


def spellings(machine: Calls, subject: str) -> None:
    """A spelling is stored as it came, or as the one, and found by the other."""
    machine.send(subject, _sent("ba", normalize=True, force=True, metadata=_X))
    machine.send(subject, _sent("ba", force=True, metadata=_Y))
    machine.look(subject, _sent("ab", metadata=_X), deleted=True)


def again(machine: Calls, subject: str) -> None:
    """A soft-deleted content comes back under its id, in place of what was deleted."""
    for _ in range(2):
        machine.send(subject, _sent("int", force=True))
        machine.drop_version(subject, None, permanent=False)
    machine.send(subject, _sent("int", force=True))
    machine.drop_subject(subject, permanent=False)
    machine.send(subject, _sent("int", force=True))


def context(machine: Calls, _subject: str) -> None:
    """A context's settings are those of its subjects."""
    machine.patch(":.eu:", {"compatibility": "NONE"})
    machine.send(":.eu:a", _sent("int"))
    machine.send(":.eu:a", _sent("string"))
    machine.set_mode(":.eu:", "READONLY", force=False)
    machine.send(":.eu:a", _sent("bytes", metadata=_X))
    machine.set_mode(":.eu:", None, force=False)
    machine.patch(":.eu:", {"compatibility": None})


def leaning(machine: Calls, subject: str) -> None:
    """What others lean on stays; what is written out in place is the same."""
    machine.send("r", _sent("record"))
    machine.send(subject, _sent("user", references=((":.:r" if subject.startswith(":.") else "r", -1),), force=True))
    machine.look(subject, _sent("inlined"), deleted=False)
    machine.drop_version("r", None, permanent=False)
    machine.drop_subject("r", permanent=False)
    machine.drop_version(subject, None, permanent=False)
    machine.drop_version("r", None, permanent=False)
    machine.drop_version("r", 1, permanent=True)


def room(machine: Calls, subject: str) -> None:
    """IMPORT begins where nothing is live."""
    machine.send(subject, _sent("int"))
    machine.set_mode(subject, "IMPORT", force=False)
    machine.set_mode(subject, None, force=False)
    machine.drop_subject(subject, permanent=False)
    machine.set_mode(subject, "IMPORT", force=False)
    machine.send_under_its_id(subject, _sent("long", id=7, version=3))
    machine.send_under_its_id(subject, _sent("bytes", id=7))
    machine.set_mode(subject, None, force=False)


def refused(machine: Calls, subject: str) -> None:
    """Each refusal has its code."""
    machine.send(subject, _sent("int", force=True))
    machine.send(subject, _sent("int", rules=INVALID))
    machine.drop_subject(subject, permanent=True)
    machine.drop_version(subject, None, permanent=True)
    machine.drop_version(subject, 99, permanent=False)
    machine.drop_version(subject, 1, permanent=False)
    machine.drop_version(subject, 1, permanent=False)
    machine.drop_subject(subject, permanent=False)
    machine.drop_subject(subject, permanent=False)
    machine.drop_subject(subject, permanent=True)
    machine.drop_subject(subject, permanent=True)
    machine.set_mode(subject, "FORWARD", force=False)
    machine.apply("t", [Wish(operation="CREATE", lifecycle="WEAK", schema=_sent("record"))])
    machine.release("t", ["key"], cascade=False)


def everywhere(machine: Calls, subject: str) -> None:
    """All that can be set is set and dropped again, for one, for a context and for all."""
    for scope in (subject, ":.eu:", DEFAULT, GLOBAL):
        machine.patch(
            scope,
            {
                "compatibility": "FULL",
                "compatibilityPolicy": "LENIENT",
                "compatibilityGroup": "owner",
                "normalize": True,
                "validateFields": True,
                "validateNewSchemas": True,
                "validateRules": False,
                "aliasForDeks": "a",
            },
        )
        machine.set_mode(scope, "READONLY", force=False)
        machine.send(subject, _sent("object"))
        machine.drop_mode(scope, recursive=True)
        machine.send(subject, _sent("object"))
        machine.drop_config(scope)
    machine.send(":.eu:a", _sent("int"))
    machine.drop_context(":.eu:")
    machine.drop_subject(":.eu:a", permanent=False)
    machine.drop_subject(":.eu:a", permanent=True)
    machine.drop_context(":.eu:")


Scene = Callable[["Calls", str], None]
SCENES: Final[list[Scene]] = [
    read_only,
    levels,
    groups,
    alias,
    owned,
    used,
    rules,
    added,
    spellings,
    again,
    context,
    leaning,
    room,
    refused,
    everywhere,
]
