"""Faults that are planted in the real code, each of which the model must detect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, Final

import pytest

from contractlog.registry.features.associations import changes
from contractlog.registry.features.config_and_mode import service as config_service
from contractlog.registry.features.contexts import service as contexts_service
from contractlog.registry.registration import candidate, deletion, draft_completion, subject_lookup
from contractlog.registry.registration import service as registration_service
from contractlog.registry.registration.draft_checker import DraftChecker
from contractlog.registry.registration.draft_completion import Derivation
from contractlog.registry.storage import append_state, batch_append
from contractlog.registry.storage.store_values import ScopeSettings
from contractlog.registry.storage.transaction import Transaction

__all__ = ["FAULTS"]

Plant = Callable[[pytest.MonkeyPatch], None]


def _replace_function(owner: Any, name: str, by: Callable[..., Any]) -> Plant:
    """Create a fault that replaces a function; the replacement gets the original as its first argument."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        real = getattr(owner, name)

        @wraps(real)
        def wrong(*of: Any, **named: Any) -> Any:
            return by(real, *of, **named)

        patch.setattr(owner, name, wrong)

    return plant


def _do_nothing(_real: Any, *_of: Any, **_named: Any) -> None:
    """Do nothing."""


def _remove_metadata(real: Any, draft: Any, *of: Any) -> Any:
    return real(replace(draft, metadata=None), *of)


def _keep_settings(real: Any, transaction: Any, scope: Any, configured: Any) -> None:
    if not (scope.name and configured.empty):
        real(transaction, scope, configured)


def _select_newest_only(real: Any, *of: Any) -> Any:
    return real(*of)[-1:]


def _use_latest(real: Any, service: Any, named: Any, _number: Any, permissions: Any) -> Any:
    return real(service, named, None, permissions)


#: What is wrong, and how it comes about.
FAULTS: Final[dict[str, Plant]] = {
    "metadata are no part of identity": _replace_function(candidate, "hash_draft", _remove_metadata),
    "what others lean on can be deleted": _replace_function(Transaction, "lowest_referenced_version", _do_nothing),
    "contexts have no settings": _replace_function(
        ScopeSettings, "merge", lambda real, chain: real(tuple(chain)[:1] + tuple(chain)[2:])
    ),
    "the config wins over what overrides it": _replace_function(
        draft_completion, "merge_metadata", lambda real, *layers: real(*reversed(layers))
    ),
    "rules of the config are not added": _replace_function(
        draft_completion,
        "merge_rule_sets",
        lambda real, *layers: real(*layers[1:]) if len(layers) > 2 else real(*layers),
    ),
    "confluent:version is not written": _replace_function(
        draft_completion, "add_version_property", lambda _real, metadata, _number: metadata
    ),
    "transitive levels look at the latest alone": _replace_function(
        DraftChecker, "select_versions", _select_newest_only
    ),
    "groups are not looked at": _replace_function(
        DraftChecker,
        "select_versions",
        lambda real, *of: real(*of[:-1], replace(of[-1], compatibility_group=None)),
    ),
    "settings stay when a subject goes": _replace_function(Transaction, "configure", _keep_settings),
    "READONLY lets deletions through": _replace_function(deletion, "require_writable_mode", _do_nothing),
    "READONLY lets configs through": _replace_function(config_service, "require_writable_mode", _do_nothing),
    "a deletion does not follow the alias": _replace_function(
        deletion, "resolve_alias", lambda _real, _snapshot, subject, *_: subject
    ),
    "an import writes over an id": _replace_function(append_state, "read_assigned_ids", lambda _real, *_of: {}),
    "a bound subject can be deleted": _replace_function(deletion, "reject_associated", _do_nothing),
    "what a topic owned stays behind": _replace_function(changes, "_delete_owned_subject", _do_nothing),
    "tags are changed in the latest, whatever was named": _replace_function(
        registration_service.RegistrationService, "_read_base", _use_latest
    ),
    "rules are merged and none removed": _replace_function(
        draft_completion, "remove_rules", lambda _real, rules, _names: rules
    ),
    "nothing is normalized": _replace_function(
        candidate, "build_content", lambda real, snapshot, parsed, **_named: real(snapshot, parsed, normalize=False)
    ),
    "soft-deleted ids are forgotten": _replace_function(batch_append._BatchPlan, "_drop_older", _do_nothing),
    "a lookup does not take over metadata": _replace_function(
        subject_lookup, "complete_draft", lambda _real, draft, *_of: draft
    ),
    "IMPORT begins beside live schemas": _replace_function(config_service, "purge_deleted_versions", _do_nothing),
    "a context goes with its schemas": _replace_function(contexts_service.contexts, "is_empty", lambda *_of: True),
    "force lets nothing through": _replace_function(
        registration_service.RegistrationService,
        "propose",
        lambda real, service, request: real(service, replace(request, force=False)),
    ),
    "the tags endpoint forgets metadata": _replace_function(
        Derivation, "draft", lambda real, derivation, base: replace(real(derivation, base), metadata=None)
    ),
}
