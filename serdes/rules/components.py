"""Executors, actions and overrides that a serializer uses: those registered, else the built-in ones."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from contractlog.serdes.rules.builtin import BUILTIN_ACTIONS, BUILTIN_EXECUTORS, make_builtin
from contractlog.serdes.rules.original_record import ORIGINAL_KEYS
from contractlog.serdes.rules.rule_registry import list_global_registries

__all__ = ["RuleComponents", "RuleSettings"]

_LOG: Final = logging.getLogger(__name__)
_FIXED_ACTIONS: Final = frozenset({"ERROR", "NONE"})  #: those that a registry cannot replace


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """The arguments of a serializer that concern rules."""

    conf: Mapping[str, Any] = field(default_factory=dict)
    registry: Any | None = None  #: a ``RuleRegistry``, ours or confluent-kafka's; None: the global ones


class RuleComponents:
    """Executors, actions and overrides of a serializer. May be shared by threads.

    Args:
        client: the registry client that the serializer was given.
        settings: the arguments that concern rules.
    """

    def __init__(self, client: Any, settings: RuleSettings) -> None:
        self._client = client
        self._settings = settings
        self._builtin: dict[tuple[str, str], Any] = {}
        self._lock = threading.RLock()
        for registry in self._registries():
            for component in (*registry.get_executors(), *registry.get_actions()):
                self._configure(component)
            if registry.get_actions():
                ORIGINAL_KEYS.enabled = True
        if any(str(key).startswith("dlq.") for key in settings.conf):
            ORIGINAL_KEYS.enabled = True

    def find_executor(self, rule_type: str) -> Any | None:
        """Return the executor of a type of rule; None if there is none."""
        name = rule_type.upper()
        for registry in self._registries():
            executor = registry.get_executor(name)
            if executor is not None:
                return executor
        return self._find_builtin(BUILTIN_EXECUTORS, name, "executor")

    def find_action(self, name: str) -> Any | None:
        """Return an action by its name; None if there is none."""
        if name not in _FIXED_ACTIONS:
            for registry in self._registries():
                action = registry.get_action(name)
                if action is not None:
                    return action
        return self._find_builtin(BUILTIN_ACTIONS, name, "action")

    def find_override(self, rule_type: str | None) -> Any | None:
        """Return the override for the rules of a type; None if there is none."""
        if rule_type is None:
            return None
        overrides = (registry.get_override(rule_type) for registry in self._registries())
        return next((override for override in overrides if override is not None), None)

    def close(self) -> None:
        """Close what belongs to this serializer: the members of its own registry, and built-in components.

        Members of a global registry remain, as other serializers use them. Actions are closed before executors.
        """
        registry = self._settings.registry
        owned = registry is not None and all(registry is not shared for shared in list_global_registries())
        with self._lock:
            builtin, self._builtin = self._builtin, {}
        components = [*registry.get_actions(), *registry.get_executors()] if owned and registry is not None else []
        for component in [*components, *(builtin[key] for key in sorted(builtin))]:
            try:
                component.close()
            except Exception:  # noqa: BLE001 -- all others are closed, too
                _LOG.exception("%s could not be closed", type(component).__name__)

    def _registries(self) -> list[Any]:
        return list_global_registries() if self._settings.registry is None else [self._settings.registry]

    def _find_builtin(self, table: Mapping[str, str], name: str, kind: str) -> Any | None:
        with self._lock:
            component = self._builtin.get((kind, name))
            if component is None:
                component = make_builtin(table, name)
                if component is not None:
                    self._configure(component)
                    self._builtin[kind, name] = component
            return component

    def _configure(self, component: Any) -> None:
        bind_client = getattr(component, "bind_client", None)
        if bind_client is not None:
            bind_client(self._client)
        has_conf = hasattr(self._client, "get_schema") and hasattr(
            self._client, "config"
        )  # a client of confluent-kafka
        component.configure(self._client.config() if has_conf else {}, dict(self._settings.conf))
