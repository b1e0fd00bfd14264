"""Mistakes that a service could have, each planted in the real code; the model has to notice every one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, Final

import pytest

from contractlog.registry.services import (
    association_changes,
    content_lookup,
    contexts,
    drafting,
    levels,
    registration,
    retirement,
    understanding,
)
from contractlog.registry.services.drafting import Derivation
from contractlog.registry.services.judging import Judging
from contractlog.registry.services.understanding import Understood
from contractlog.registry.storage import appends, standing
from contractlog.registry.storage.values import Configured
from contractlog.registry.storage.writes import Transaction

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
    "metadata are no part of identity": _instead(understanding, "hashes_of", _without_metadata),
    "what others lean on can be deleted": _instead(Transaction, "leaning", _nothing),
    "contexts have no settings": _instead(
        Configured, "inherited", lambda real, chain: real(tuple(chain)[:1] + tuple(chain)[2:])
    ),
    "the config wins over what overrides it": _instead(
        drafting, "overlaid_metadata", lambda real, *layers: real(*reversed(layers))
    ),
    "rules of the config are not added": _instead(
        drafting, "overlaid_rules", lambda real, *layers: real(*layers[1:]) if len(layers) > 2 else real(*layers)
    ),
    "confluent:version is not written": _instead(drafting, "versioned", lambda _real, metadata, _number: metadata),
    "transitive levels look at the latest alone": _instead(Judging, "selected", _newest_alone),
    "groups are not looked at": _instead(
        Judging, "selected", lambda real, *of: real(*of[:-1], replace(of[-1], compatibility_group=None))
    ),
    "settings stay when a subject goes": _instead(Transaction, "configure", _settings_stay),
    "READONLY lets deletions through": _instead(retirement, "refuse_read_only", _nothing),
    "READONLY lets configs through": _instead(levels, "refuse_read_only", _nothing),
    "a deletion does not follow the alias": _instead(retirement, "aliased", lambda _real, _snapshot, subject: subject),
    "an import writes over an id": _instead(standing, "taken", lambda _real, *_of: {}),
    "a bound subject can be deleted": _instead(retirement, "refuse_associated", _nothing),
    "what a topic owned stays behind": _instead(association_changes, "_take_along", _nothing),
    "tags are changed in the latest, whatever was named": _instead(registration.Registration, "_live", _of_the_latest),
    "rules are merged and none removed": _instead(drafting, "without_rules", lambda _real, rules, _names: rules),
    "nothing is normalized": _instead(
        Understood, "content", lambda real, understood, snapshot, **_named: real(understood, snapshot, normalize=False)
    ),
    "soft-deleted ids are forgotten": _instead(appends._Plan, "_drop_older", _nothing),
    "a lookup does not take over metadata": _instead(content_lookup, "completed", lambda _real, draft, *_of: draft),
    "IMPORT begins beside live schemas": _instead(levels, "make_room", _nothing),
    "a context goes with its schemas": _instead(contexts.contexts, "empty", lambda *_of: True),
    "force lets nothing through": _instead(
        registration.Registration,
        "propose",
        lambda real, *of, **named: real(*of, **(named | {"force": False})),
    ),
    "the tags endpoint forgets metadata": _instead(
        Derivation, "draft", lambda real, derivation, base: replace(real(derivation, base), metadata=None)
    ),
}
