"""Scenarios that random calls rarely produce; each makes several calls in sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from support.registry_model.association_model import AssociationRequest
from support.registry_model.contents import INVALID, Items, Text
from support.registry_model.registry_state import RegistrationDraft
from support.registry_model.scopes import DEFAULT, GLOBAL

if TYPE_CHECKING:
    from support.registry_model.calls import ModelCalls

__all__ = ["SCENARIOS", "Scenario"]

_TOPIC: Final = ":.eu:t-value"
_X: Final[Items] = ((("properties", "owner"), "x"),)
_Y: Final[Items] = ((("properties", "owner"), "y"),)
_ONE: Final[Items] = ((("domainRules", "d"), "1"), (("domainRules", "e"), "1"))
_TWO: Final[Items] = ((("domainRules", "e"), "2"), (("migrationRules", "m"), "1"))


def _create_draft(kind: str, **members: Any) -> RegistrationDraft:
    return RegistrationDraft(text=Text(kind), **members)


def write_in_read_only_mode(machine: ModelCalls, subject: str) -> None:
    """Return existing versions in READONLY mode, and reject changes."""
    machine.register_draft(subject, _create_draft("int"))
    machine.set_mode(subject, "READONLY", force=True)
    machine.register_draft(subject, _create_draft("int"))
    machine.register_draft(subject, _create_draft("long"))
    machine.update(subject, {"normalize": True})
    machine.delete_config_call(subject)
    machine.delete_version_call(subject, None, permanent=False)
    machine.delete_subject_call(subject, permanent=False)
    machine.set_mode(subject, None, force=False)


def compare_levels(machine: ModelCalls, subject: str) -> None:
    """Compare with all versions at a transitive level, with the latest one otherwise."""
    machine.update(subject, {"compatibility": "NONE"})
    for kind in ("string", "int", "long"):
        machine.register_draft(subject, _create_draft(kind))
    for level in ("BACKWARD_TRANSITIVE", "FORWARD_TRANSITIVE", "FULL", "FORWARD", "BACKWARD"):
        machine.update(subject, {"compatibility": level})
        machine.register_draft(subject, _create_draft("int", metadata=_X))
        machine.register_draft(subject, _create_draft("long", metadata=_Y))
    machine.update(subject, {"compatibility": None})


def compare_groups(machine: ModelCalls, subject: str) -> None:
    """Compare versions within a compatibility group."""
    machine.update(subject, {"compatibility": "BACKWARD_TRANSITIVE", "compatibilityGroup": "owner"})
    for kind, metadata in (("int", _X), ("string", _Y), ("bytes", _X), ("bytes", _Y), ("long", _X)):
        machine.register_draft(subject, _create_draft(kind, metadata=metadata))
    machine.update(subject, {"compatibility": None, "compatibilityGroup": None})


def follow_alias(machine: ModelCalls, subject: str) -> None:
    """Follow an alias in writes and reads, but not in config and mode."""
    machine.update("b", {"alias": subject})
    machine.register_draft("b", _create_draft("int"))
    machine.look_up("b", _create_draft("int"), deleted=False)
    machine.derive("b", None, RegistrationDraft(metadata=_Y), None, frozenset())
    machine.delete_version_call("b", None, permanent=False)
    machine.delete_subject_call("b", permanent=False)
    machine.delete_subject_call("b", permanent=True)
    machine.update("b", {"alias": None})


def change_owned_subject(machine: ModelCalls, subject: str) -> None:
    """Reject references to and deletions of owned subjects, which are deleted with the topic."""
    machine.bind_associations("t", [AssociationRequest(operation="CREATE", schema=_create_draft("record"))])
    machine.register_draft(subject, _create_draft("user", references=((_TOPIC, -1),)))
    machine.delete_version_call(_TOPIC, None, permanent=False)
    machine.delete_subject_call(_TOPIC, permanent=False)
    machine.bind_associations(
        "t", [AssociationRequest(operation="UPSERT", schema=_create_draft("record", metadata=_X))]
    )
    machine.unbind_associations("t", ["value"], cascade=False)
    machine.unbind_associations("t", ["value"], cascade=True)


def delete_used_subject(machine: ModelCalls, subject: str) -> None:
    """Keep a live version of a subject that a topic uses."""
    machine.register_draft(subject, _create_draft("int"))
    machine.bind_associations("u", [AssociationRequest(operation="CREATE", subject=subject, lifecycle="WEAK")])
    machine.delete_subject_call(subject, permanent=False)
    for _ in range(3):
        machine.delete_version_call(subject, None, permanent=False)
    machine.unbind_associations("u", ["key", "value"], cascade=False)


def merge_rules(machine: ModelCalls, subject: str) -> None:
    """Merge and remove rules by name, also based on an older version."""
    machine.register_draft(subject, _create_draft("int", rules=_ONE))
    machine.derive(subject, None, RegistrationDraft(), _TWO, frozenset())
    machine.derive(subject, None, RegistrationDraft(), None, frozenset({"d"}))
    machine.derive(subject, 1, RegistrationDraft(metadata=_X), _TWO, frozenset({"e"}))


def add_config_members(machine: ModelCalls, subject: str) -> None:
    """Apply defaults and overrides of the config to the members of a request."""
    machine.update(subject, {"defaultMetadata": _X, "overrideMetadata": ((("tags", "/x"), ("PII",)),)})
    machine.register_draft(subject, _create_draft("int", metadata=_Y))
    machine.update(subject, {"defaultRuleSet": _ONE, "overrideRuleSet": _TWO})
    machine.register_draft(subject, _create_draft("int", rules=()))
    machine.look_up(subject, _create_draft("int"), deleted=False)
    machine.update(subject, {"defaultMetadata": None, "overrideMetadata": _Y})
    machine.register_draft(subject, _create_draft("int", metadata=_X))
    machine.delete_config_call(subject)


def register_spellings(machine: ModelCalls, subject: str) -> None:
    """Store a spelling as sent or normalized, and find it by the other spelling."""
    machine.register_draft(subject, _create_draft("ba", normalize=True, force=True, metadata=_X))
    machine.register_draft(subject, _create_draft("ba", force=True, metadata=_Y))
    machine.look_up(subject, _create_draft("ab", metadata=_X), deleted=True)


def register_again(machine: ModelCalls, subject: str) -> None:
    """Register a soft-deleted content again under its id, which replaces the deleted version."""
    for _ in range(2):
        machine.register_draft(subject, _create_draft("int", force=True))
        machine.delete_version_call(subject, None, permanent=False)
    machine.register_draft(subject, _create_draft("int", force=True))
    machine.delete_subject_call(subject, permanent=False)
    machine.register_draft(subject, _create_draft("int", force=True))


def configure_context(machine: ModelCalls, _subject: str) -> None:
    """Apply the settings of a context to its subjects."""
    machine.update(":.eu:", {"compatibility": "NONE"})
    machine.register_draft(":.eu:a", _create_draft("int"))
    machine.register_draft(":.eu:a", _create_draft("string"))
    machine.set_mode(":.eu:", "READONLY", force=False)
    machine.register_draft(":.eu:a", _create_draft("bytes", metadata=_X))
    machine.set_mode(":.eu:", None, force=False)
    machine.update(":.eu:", {"compatibility": None})


def delete_referenced(machine: ModelCalls, subject: str) -> None:
    """Keep referenced versions, and find inlined references to be the same content."""
    machine.register_draft("r", _create_draft("record"))
    machine.register_draft(
        subject, _create_draft("user", references=((":.:r" if subject.startswith(":.") else "r", -1),), force=True)
    )
    machine.look_up(subject, _create_draft("inlined"), deleted=False)
    machine.delete_version_call("r", None, permanent=False)
    machine.delete_subject_call("r", permanent=False)
    machine.delete_version_call(subject, None, permanent=False)
    machine.delete_version_call("r", None, permanent=False)
    machine.delete_version_call("r", 1, permanent=True)


def set_import_mode(machine: ModelCalls, subject: str) -> None:
    """Set the mode IMPORT only if nothing is live."""
    machine.register_draft(subject, _create_draft("int"))
    machine.set_mode(subject, "IMPORT", force=False)
    machine.set_mode(subject, None, force=False)
    machine.delete_subject_call(subject, permanent=False)
    machine.set_mode(subject, "IMPORT", force=False)
    machine.import_draft(subject, _create_draft("long", id=7, version=3))
    machine.import_draft(subject, _create_draft("bytes", id=7))
    machine.set_mode(subject, None, force=False)


def send_rejected(machine: ModelCalls, subject: str) -> None:
    """Return the documented code of each rejection."""
    machine.register_draft(subject, _create_draft("int", force=True))
    machine.register_draft(subject, _create_draft("int", rules=INVALID))
    machine.delete_subject_call(subject, permanent=True)
    machine.delete_version_call(subject, None, permanent=True)
    machine.delete_version_call(subject, 99, permanent=False)
    machine.delete_version_call(subject, 1, permanent=False)
    machine.delete_version_call(subject, 1, permanent=False)
    machine.delete_subject_call(subject, permanent=False)
    machine.delete_subject_call(subject, permanent=False)
    machine.delete_subject_call(subject, permanent=True)
    machine.delete_subject_call(subject, permanent=True)
    machine.set_mode(subject, "FORWARD", force=False)
    machine.bind_associations(
        "t", [AssociationRequest(operation="CREATE", lifecycle="WEAK", schema=_create_draft("record"))]
    )
    machine.unbind_associations("t", ["key"], cascade=False)


def set_and_delete_everything(machine: ModelCalls, subject: str) -> None:
    """Set and delete all settings of a subject, of a context and globally."""
    for scope in (subject, ":.eu:", DEFAULT, GLOBAL):
        machine.update(
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
        machine.register_draft(subject, _create_draft("object"))
        machine.delete_mode_call(scope, recursive=True)
        machine.register_draft(subject, _create_draft("object"))
        machine.delete_config_call(scope)
    machine.register_draft(":.eu:a", _create_draft("int"))
    machine.delete_context_call(":.eu:")
    machine.delete_subject_call(":.eu:a", permanent=False)
    machine.delete_subject_call(":.eu:a", permanent=True)
    machine.delete_context_call(":.eu:")


Scenario = Callable[["ModelCalls", str], None]
SCENARIOS: Final[list[Scenario]] = [
    write_in_read_only_mode,
    compare_levels,
    compare_groups,
    follow_alias,
    change_owned_subject,
    delete_used_subject,
    merge_rules,
    add_config_members,
    register_spellings,
    register_again,
    configure_context,
    delete_referenced,
    set_import_mode,
    send_rejected,
    set_and_delete_everything,
]
