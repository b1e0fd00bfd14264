"""Error messages with the registry's URL: unreachable, not a registry, credentials rejected."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from contractlog.clients.cli.credential_selection import select_security, uses_manifest_registry
from contractlog.clients.settings import (
    URL_VARIABLES,
    RegistryAddress,
    Security,
    environment_variable,
    environment_variables,
    find_url_variables,
    registry_url,
)
from contractlog.compatibility.errors import (
    ContractlogError,
    Forbidden,
    IncompatibleSchema,
    NotFound,
    ServerError,
    Unauthorized,
    Unreachable,
    UnreadableResponse,
    UsageError,
)
from contractlog.compatibility.identifiers import Subject

__all__ = ["error_message", "interruption_message"]


_PROXY_STATUSES: Final = frozenset({502, 503, 504})
#: A registry's message about a missing permission, which does not name the user.
_DENIED: Final = re.compile(r"User is denied operation (Read|Write) on Subject: (.+)", re.DOTALL)
_EVERY_SUBJECT: Final = frozenset({"*", ":*:*"})


def error_message(error: ContractlogError, argv: Iterable[str]) -> str:
    """Return the message of an error, with the registry's URL and the credentials used if relevant.

    Args:
        error: the error that ended a verb; its fact ``environment`` names that of the manifest, if one was used.
        argv: arguments of the verb; a URL in them may contain the user.
    """
    url = error.facts.get("url")
    if url is None:
        return str(error)
    source = _RegistrySource.of(error, list(argv))
    if isinstance(error, Unreachable) and "reason" in error.facts:
        return _unreachable_message(url, str(error.facts["reason"]), source)
    if isinstance(error, UnreadableResponse) or type(error) is NotFound:
        advice = f"check {source.describe_url()}"
        if error.facts.get("status") in _PROXY_STATUSES:
            advice = f"a proxy may respond for a registry that is down or starting: try again later, or {advice}"
        return f"{url} does not respond as a registry does: {error}; {advice}"
    if isinstance(error, (ServerError, IncompatibleSchema)):
        outcome = "failed" if isinstance(error, ServerError) else "rejected the schema as incompatible, in its words"
        return f"the registry at {url} {outcome}: {error}"
    if isinstance(error, Forbidden):
        return _forbidden_message(error, url, source)
    return _rejected_message(url, source) if isinstance(error, Unauthorized) else str(error)


@dataclass(frozen=True, slots=True)
class _RegistrySource:
    """The options and variables that named the registry of a command, and its credentials."""

    arguments: Sequence[str]
    environment: str | None  #: of the manifest

    @classmethod
    def of(cls, error: ContractlogError, arguments: Sequence[str]) -> _RegistrySource:
        """Return the source for an error, by its facts and the arguments of the command."""
        following = [after for word, after in pairwise(arguments) if word == "--environment"]
        given = [word.partition("=")[2] for word in arguments if word.startswith("--environment=")]
        return cls(arguments, error.facts.get("environment") or next(iter((*following, *given)), None))

    def describe_url(self) -> str:
        """Return what gives the URL."""
        if self.environment is None or any(word.partition("=")[0] == "--registry" for word in self.arguments):
            return f"the URL given with --registry or {URL_VARIABLES[0]}"
        variable = environment_variable(self.environment)
        return f"the URL of the environment `{self.environment}` in the manifest, which {variable} replaces"

    @property
    def suffix(self) -> str:
        """The ending of the environment's variables; empty without an environment."""
        return "" if self.environment is None else environment_variable(self.environment).removeprefix(URL_VARIABLES[0])

    def name_variable(self, name: str, *, beside: str | None = None) -> str:
        """Return the variable with a part of the credentials: that of the environment if it is set.

        ``beside`` is the part that is looked for, if it differs.
        """
        plain = f"CONTRACTLOG_REGISTRY_{name}"
        own = {} if self.environment is None else environment_variables(self.environment)
        return plain + (self.suffix if f"CONTRACTLOG_REGISTRY_{beside or name}" in own else "")

    def find_user(self, url: str) -> str | None:
        """Return the user in the URL that was given, or None."""
        texts = self.arguments if self.environment is not None else (*self.arguments, registry_url())
        return next(_users_of_url(url, texts), None)

    def read_security(self, url: str) -> Security:
        """Return the credentials in variables, as far as they are sent to the registry."""
        try:
            return select_security(self._options(url))
        except UsageError:
            return Security()

    def needs_own_variables(self, url: str) -> bool:
        """Return whether only variables of the environment are sent to the registry."""
        return uses_manifest_registry(self._options(url)) and bool(find_url_variables())

    def _options(self, url: str) -> Namespace:
        """Return the options that decide where credentials are sent."""
        is_named = self.environment is None or any(word.partition("=")[0] == "--registry" for word in self.arguments)
        return Namespace(registry=url, manifest_url=None if is_named else url, environment=self.environment)


def interruption_message(error: BaseException, argv: Iterable[str]) -> str:
    """Return the message of anything that ends a verb after it has changed something."""
    if isinstance(error, ContractlogError):
        return error_message(error, argv)
    return "interrupted" if isinstance(error, KeyboardInterrupt) else f"{type(error).__name__}: {error}"


def _unreachable_message(url: str, reason: str, source: _RegistrySource) -> str:
    if "certificate" in reason.lower():  # the registry runs: starting another one does not help
        return f"no secure connection to the registry at {url}: {reason}"
    way_out = f"name another with --registry or {URL_VARIABLES[0]}"
    if source.environment is not None:
        way_out = f"correct {source.describe_url()}"
    return f"the registry at {url} cannot be reached ({reason}); start one with `contractlog serve`, or {way_out}"


def _forbidden_message(error: Forbidden, url: str, source: _RegistrySource) -> str:
    """Return the message for what the caller may not do: with the user, or about a proxy."""
    if error.facts.get("uncoded"):
        return (
            f"{url} rejected the request: {error}, with a response that is not a registry's; a proxy in front of it "
            f"may forbid the access: ask its operator, or check {source.describe_url()}"
        )
    denied = _DENIED.fullmatch(str(error))
    if denied is None:
        return str(error)
    operation, subjects = denied.groups()
    user = source.find_user(url) or source.read_security(url).user
    return (
        f"{'the user' if user is None else f'user `{user}`'} has no permission to {operation.lower()} "
        f"{_describe_subjects(subjects)}: ask an operator of the registry"
    )


def _describe_subjects(name: str) -> str:
    """Return a subject, or in words those of a context or with a prefix (`prefix*`)."""
    if name in _EVERY_SUBJECT:
        return "all subjects"
    subject = Subject.parse(name)
    if subject.name in {"", "*"}:
        return f"all subjects of the context `{subject.context}`"
    return f"all subjects `{name}`" if name.endswith("*") else f"`{name}`"


def _rejected_message(url: str, source: _RegistrySource) -> str:
    """Return the message for an unauthenticated caller, with the credentials that were used."""
    user = source.find_user(url)
    if user is not None:
        return f"the registry at {url} rejected user `{user}` and the password, both taken from the URL that was given"
    security = source.read_security(url)
    if security.user is not None and security.password is None:
        return (
            f"the registry at {url} rejected user `{security.user}`, for which no password was set: set "
            f"{source.name_variable('PASSWORD', beside='USER')}"
        )
    if security.user is not None:
        return (
            f"the registry at {url} rejected user `{security.user}` and the password; "
            f"check {source.name_variable('USER')} and {source.name_variable('PASSWORD')}"
        )
    if security.token is not None:
        return f"the registry at {url} rejected the token; check {source.name_variable('TOKEN')}"
    suffix = source.suffix if source.needs_own_variables(url) else ""
    user, password, token = (f"CONTRACTLOG_REGISTRY_{name}{suffix}" for name in ("USER", "PASSWORD", "TOKEN"))
    needed = f"{user} and {password}, or {token}"
    if source.environment is not None and not suffix:
        needed += f" (for the environment `{source.environment}` alone: with the ending {source.suffix})"
    return f"the registry at {url} needs credentials: set {needed}"


def _users_of_url(url: str, texts: Iterable[str]) -> Iterator[str]:
    """Yield the users in those texts that are URLs of this registry."""
    for text in texts:
        with suppress(UsageError):
            yield from (
                address.user
                for address in RegistryAddress.parse(text)
                if address.url == url and address.user is not None
            )
