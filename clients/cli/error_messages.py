"""Error messages with the registry's URL: unreachable, not a registry, credentials rejected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from contractlog.clients.settings import RegistryAddress, Security, registry_url
from contractlog.compatibility.errors import (
    ContractlogError,
    NotFound,
    ServerError,
    Unauthorized,
    Unreachable,
    UnreadableResponse,
    UsageError,
)

__all__ = ["error_message", "interruption_message"]


_PROXY_STATUSES: Final = frozenset({502, 503, 504})


def error_message(error: ContractlogError, argv: Iterable[str]) -> str:
    """Return the message of an error, with the registry's URL and the credentials used if relevant.

    Args:
        error: the error that ended a verb.
        argv: arguments of the verb; a URL in them may contain the user.
    """
    url = error.facts.get("url")
    if url is None:
        return str(error)
    if isinstance(error, Unreachable) and "reason" in error.facts:
        return _unreachable_message(url, str(error.facts["reason"]))
    if isinstance(error, UnreadableResponse) or type(error) is NotFound:
        advice = "check the URL given with --registry or CONTRACTLOG_REGISTRY_URL"
        if error.facts.get("status") in _PROXY_STATUSES:
            advice = f"a proxy may answer for a registry that is down or starting: try again later, or {advice}"
        return f"{url} does not answer as a registry does: {error}; {advice}"
    if isinstance(error, ServerError):
        return f"the registry at {url} failed: {error}"
    return _rejected_message(url, argv) if isinstance(error, Unauthorized) else str(error)


def interruption_message(error: BaseException, argv: Iterable[str]) -> str:
    """Return the message of anything that ends a verb after it has changed something."""
    if isinstance(error, ContractlogError):
        return error_message(error, argv)
    return "interrupted" if isinstance(error, KeyboardInterrupt) else f"{type(error).__name__}: {error}"


def _unreachable_message(url: str, reason: str) -> str:
    if "certificate" in reason.lower():  # the registry runs: starting another one does not help
        return f"no secure connection to the registry at {url}: {reason}"
    return (
        f"the registry at {url} cannot be reached ({reason}); start one with `contractlog serve`, "
        "or name another with --registry or CONTRACTLOG_REGISTRY_URL"
    )


def _rejected_message(url: str, argv: Iterable[str]) -> str:
    """Return the message for an unauthenticated caller, with the credentials that were used."""
    security = Security.from_environment()
    arguments = list(argv)
    names_environment = any(each.partition("=")[0] == "--environment" for each in arguments)  # of the manifest
    user = next(_users_of_url(url, arguments if names_environment else (*arguments, registry_url())), None)
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


def _users_of_url(url: str, texts: Iterable[str]) -> Iterator[str]:
    """Yield the users in those texts that are URLs of this registry."""
    for text in texts:
        with suppress(UsageError):
            yield from (
                address.user
                for address in RegistryAddress.parse(text)
                if address.url == url and address.user is not None
            )
