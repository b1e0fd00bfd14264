"""Registry of rule executors, actions and overrides, with confluent-kafka's names and methods."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["RuleOverride", "RuleRegistry", "list_global_registries"]

_CONFLUENT_MODULE: Final = "confluent_kafka.schema_registry.rule_registry"


@dataclass(frozen=True, slots=True)
class RuleOverride:
    """Settings of this process that replace those of all rules of a type; None leaves the rule's own."""

    type: str
    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool | None = None


class RuleRegistry:
    """Executors and actions by type, and overrides by type of rule. May be shared by threads."""

    def __init__(self) -> None:
        self._executors: dict[str, Any] = {}
        self._actions: dict[str, Any] = {}
        self._overrides: dict[str, Any] = {}
        self._lock = threading.Lock()

    def register_executor(self, rule_executor: Any) -> None:
        """Register an executor under its type, in place of an earlier one."""
        with self._lock:
            self._executors[rule_executor.type()] = rule_executor

    def get_executor(self, name: str) -> Any | None:
        """Return the executor of a type."""
        with self._lock:
            return self._executors.get(name)

    def get_executors(self) -> list[Any]:
        """Return all executors."""
        with self._lock:
            return list(self._executors.values())

    def register_action(self, rule_action: Any) -> None:
        """Register an action under its type, in place of an earlier one."""
        with self._lock:
            self._actions[rule_action.type()] = rule_action

    def get_action(self, name: str) -> Any | None:
        """Return the action of a type."""
        with self._lock:
            return self._actions.get(name)

    def get_actions(self) -> list[Any]:
        """Return all actions."""
        with self._lock:
            return list(self._actions.values())

    def register_override(self, rule_override: Any) -> None:
        """Register an override for the rules of its type, in place of an earlier one."""
        with self._lock:
            self._overrides[rule_override.type] = rule_override

    def get_override(self, name: str) -> Any | None:
        """Return the override for the rules of a type."""
        with self._lock:
            return self._overrides.get(name)

    def get_overrides(self) -> list[Any]:
        """Return all overrides."""
        with self._lock:
            return list(self._overrides.values())

    def clear(self) -> None:
        """Remove everything."""
        with self._lock:
            self._executors.clear()
            self._actions.clear()
            self._overrides.clear()

    @staticmethod
    def get_global_instance() -> RuleRegistry:
        """Return the registry that serializers use unless they are given one."""
        return _GLOBAL_INSTANCE

    @staticmethod
    def register_rule_executor(rule_executor: Any) -> None:
        """Register an executor for all serializers that are not given a registry."""
        _GLOBAL_INSTANCE.register_executor(rule_executor)

    @staticmethod
    def register_rule_action(rule_action: Any) -> None:
        """Register an action for all serializers that are not given a registry."""
        _GLOBAL_INSTANCE.register_action(rule_action)

    @staticmethod
    def register_rule_override(rule_override: Any) -> None:
        """Register an override for all serializers that are not given a registry."""
        _GLOBAL_INSTANCE.register_override(rule_override)


_GLOBAL_INSTANCE: Final = RuleRegistry()


def list_global_registries() -> list[Any]:
    """Return our global registry, and confluent-kafka's if the program has loaded it.

    So a program that registers executors with confluent-kafka can change the imports of its serializers alone.
    """
    confluent = getattr(sys.modules.get(_CONFLUENT_MODULE), "RuleRegistry", None)
    return [_GLOBAL_INSTANCE] if confluent is None else [_GLOBAL_INSTANCE, confluent.get_global_instance()]
