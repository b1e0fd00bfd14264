"""Mistakes that a service could have, each planted in the real code; the model has to notice every one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, Final

import pytest

from contractlog.registry.features.associations import changes
from contractlog.registry.features.config_and_mode import service as config_service
from contractlog.registry.features.contexts import service as contexts_service
from contractlog.registry.registration import candidate, content_lookup, deletion, draft_completion
from contractlog.registry.registration import service as registration_service
from contractlog.registry.registration.compatibility_checker import CompatibilityChecker
from contractlog.registry.registration.draft_completion import Derivation
from contractlog.registry.storage import append_state, batch_append
from contractlog.registry.storage.store_values import ScopeSettings
from contractlog.registry.storage.transaction import Transaction

__all__ = ["FAULTS"]

Plant = Callable[[pytest.MonkeyPatch], None]


def _instead(owner: Any, name: str, by: Callable[..., Any]) -> Plant:
    """Plant another function, which gets the real one first."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        real = getattr(owner, name)

        @wraps(real)
        def wrong(*of: Any, **named: Any) -> Any:
            return by(real, *of, **named)

        patch.setattr(owner, name, wrong)

    return plant


def _nothing(_real: Any, *_of: Any, **_named: Any) -> None:
    """Do nothing."""


def _without_metadata(real: Any, draft: Any, *of: Any) -> Any:
    return real(replace(draft, metadata=None), *of)


def _settings_stay(real: Any, transaction: Any, scope: Any, configured: Any) -> None:
    if not (scope.name and configured.empty):
        real(transaction, scope, configured)


def _newest_alone(real: Any, *of: Any) -> Any:
    return real(*of)[-1:]


def _of_the_latest(real: Any, service: Any, named: Any, _number: Any) -> Any:
    return real(service, named, None)


#: What is wrong, and how it comes about.
FAULTS: Final[dict[str, Plant]] = {
    "metadata are no part of identity": _instead(candidate, "hash_draft", _without_metadata),
    "what others lean on can be deleted": _instead(Transaction, "lowest_referenced_version", _nothing),
    "contexts have no settings": _instead(
        ScopeSettings, "merge", lambda real, chain: real(tuple(chain)[:1] + tuple(chain)[2:])
    ),
    "the config wins over what overrides it": _instead(
        draft_completion, "merge_metadata", lambda real, *layers: real(*reversed(layers))
    ),
    "rules of the config are not added": _instead(
        draft_completion,
        "merge_rule_sets",
        lambda real, *layers: real(*layers[1:]) if len(layers) > 2 else real(*layers),
    ),
    "confluent:version is not written": _instead(
        draft_completion, "add_version_property", lambda _real, metadata, _number: metadata
    ),
    "transitive levels look at the latest alone": _instead(CompatibilityChecker, "select_versions", _newest_alone),
    "groups are not looked at": _instead(
        CompatibilityChecker,
        "select_versions",
        lambda real, *of: real(*of[:-1], replace(of[-1], compatibility_group=None)),
    ),
    "settings stay when a subject goes": _instead(Transaction, "configure", _settings_stay),
    "READONLY lets deletions through": _instead(deletion, "reject_read_only", _nothing),
    "READONLY lets configs through": _instead(config_service, "reject_read_only", _nothing),
    "a deletion does not follow the alias": _instead(
        deletion, "resolve_alias", lambda _real, _snapshot, subject: subject
    ),
    "an import writes over an id": _instead(append_state, "read_assigned_ids", lambda _real, *_of: {}),
    "a bound subject can be deleted": _instead(deletion, "reject_associated", _nothing),
    "what a topic owned stays behind": _instead(changes, "_delete_owned_subject", _nothing),
    "tags are changed in the latest, whatever was named": _instead(
        registration_service.RegistrationService, "_read_base", _of_the_latest
    ),
    "rules are merged and none removed": _instead(draft_completion, "remove_rules", lambda _real, rules, _names: rules),
    "nothing is normalized": _instead(
        candidate, "build_content", lambda real, snapshot, parsed, **_named: real(snapshot, parsed, normalize=False)
    ),
    "soft-deleted ids are forgotten": _instead(batch_append._BatchPlan, "_drop_older", _nothing),
    "a lookup does not take over metadata": _instead(
        content_lookup, "complete_draft", lambda _real, draft, *_of: draft
    ),
    "IMPORT begins beside live schemas": _instead(config_service, "purge_deleted_versions", _nothing),
    "a context goes with its schemas": _instead(contexts_service.contexts, "is_empty", lambda *_of: True),
    "force lets nothing through": _instead(
        registration_service.RegistrationService,
        "propose",
        lambda real, service, request: real(service, replace(request, force=False)),
    ),
    "the tags endpoint forgets metadata": _instead(
        Derivation, "draft", lambda real, derivation, base: replace(real(derivation, base), metadata=None)
    ),
}
