"""Messages for unauthenticated callers: the registry, the credentials that were given, and the settings to use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from contractlog.clients.settings import Address, Security, registry_url
from contractlog.compatibility.errors import ContractlogError, Unauthorized, Unreachable, UsageError

__all__ = ["sentence_of"]


def sentence_of(error: ContractlogError, argv: Iterable[str]) -> str:
    """Return the message of an error; for an unauthenticated caller, with the credentials that were used.

    Args:
        error: that ended a verb.
        argv: of the verb; a URL in it may name who asks.
    """
    url = error.facts.get("url")
    if isinstance(error, Unreachable) and url is not None and "reason" in error.facts:
        return (
            f"the registry at {url} cannot be reached ({error.facts['reason']}); start one with `contractlog serve`, "
            "or name another with --registry or CONTRACTLOG_REGISTRY_URL"
        )
    if not isinstance(error, Unauthorized) or url is None:
        return str(error)
    security = Security.from_environment()
    user = next(_named(url, (*argv, registry_url())), None)
    if user is not None:
        return f"the registry at {url} rejected user `{user}` and the password, both taken from the URL that was given"
    if security.user is not None:
        return (
            f"the registry at {url} rejected user `{security.user}` and the password; "
            "check CONTRACTLOG_REGISTRY_USER and CONTRACTLOG_REGISTRY_PASSWORD"
        )
    if security.token is not None:
        return f"the registry at {url} rejected the token; check CONTRACTLOG_REGISTRY_TOKEN"
    return (
        f"the registry at {url} needs credentials: set CONTRACTLOG_REGISTRY_USER and CONTRACTLOG_REGISTRY_PASSWORD, "
        "or CONTRACTLOG_REGISTRY_TOKEN"
    )


def _named(url: str, texts: Iterable[str]) -> Iterator[str]:
    """Yield who is named in the texts that are URLs of this registry."""
    for text in texts:
        with suppress(UsageError):
            yield from (one.user for one in Address.parse(text) if one.url == url and one.user is not None)
