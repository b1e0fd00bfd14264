"""Credentials of a command: from the environment, and only for a registry that the user has named.

Manifests and saved plans may come from a pull request, so they do not decide where credentials go. ``docs/ci.md`` has
the rule as a table.
"""

from __future__ import annotations

import os
from argparse import Namespace
from contextlib import suppress
from dataclasses import replace

from contractlog.clients.settings import (
    URL_VARIABLES,
    RegistryAddress,
    Security,
    environment_variable,
    environment_variables,
    find_url_variables,
)
from contractlog.compatibility.errors import UsageError

__all__ = [
    "has_credentials",
    "list_urls",
    "select_security",
    "select_security_of_config",
    "use_manifest_registry",
    "uses_manifest_registry",
]


def use_manifest_registry(options: Namespace, url: str) -> None:
    """Set the registry to a URL that only a manifest names."""
    options.registry = options.manifest_url = url


def uses_manifest_registry(options: Namespace) -> bool:
    """Return whether neither an argument nor a variable names the registry, but a manifest."""
    url = getattr(options, "manifest_url", None)
    return url is not None and url == options.registry and not _is_named_by_variable(url)


def select_security(options: Namespace) -> Security:
    """Return the credentials for the registry of the options, and the CA to trust.

    Variables that end in the name of ``--environment`` come first. If any variable names a registry, those without an
    ending are not sent to a registry that only the manifest names.

    Raises:
        UsageError: there are no others.
    """
    name = getattr(options, "environment", None)
    own = {} if name is None else environment_variables(name)
    security = Security.from_environment({**os.environ, **own})
    if not (uses_manifest_registry(options) and find_url_variables()):
        return security
    suffixed = replace(Security.from_environment(own), ca=security.ca)
    if has_credentials(security) and not has_credentials(suffixed):
        variable = "the registry" if name is None else environment_variable(name)
        raise _withheld_error(
            "manifest", options.registry, variable, "add the name of their environment to the names of these variables"
        )
    return suffixed


def select_security_of_config(url: str, config: str, other_way: str) -> Security:
    """Return the credentials for a registry that only a configuration names.

    Args:
        url: the registry.
        config: the configuration, for the message.
        other_way: to name the registry, for the message.

    Raises:
        UsageError: variables name other registries.
    """
    security = Security.from_environment()
    if has_credentials(security) and find_url_variables() and not _is_named_by_variable(url):
        raise _withheld_error(config, url, URL_VARIABLES[0], other_way)
    return security


def _withheld_error(config: str, registry: str, variable: str, other_way: str) -> UsageError:
    url = ", ".join(list_urls(registry))
    return UsageError(
        f"only the {config} names the registry {url}, and {_describe_named()} another one, so that "
        f"credentials of variables without the ending of an environment are not sent to it: set {variable} to "
        f"the URL if it is meant, or {other_way}"
    )


def has_credentials(security: Security) -> bool:
    """Return whether there is a user, a token or a certificate."""
    return any((security.user, security.password, security.token, security.certificate))


def list_urls(text: str) -> list[str]:
    """Return the URLs of a registry, without credentials."""
    return [address.url for address in RegistryAddress.parse(text)]


def _is_named_by_variable(text: str) -> bool:
    """Return whether variables name all URLs of a registry."""
    urls: set[str] = set()
    for named in find_url_variables().values():
        with suppress(UsageError):  # of a registry that this command does not use
            urls.update(list_urls(named))
    return urls.issuperset(list_urls(text))


def _describe_named() -> str:
    variables = sorted(find_url_variables())
    return f"{', '.join(variables)} {'names' if len(variables) == 1 else 'name'}"
