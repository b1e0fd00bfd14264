"""Selection of the manifest and the environment that the options of a command name."""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Final

from contractlog.clients.cli.credential_selection import list_urls, use_manifest_registry
from contractlog.clients.cli.schema_folder.manifest import MANIFEST, Environment, Manifest, find_manifest
from contractlog.clients.cli.suggested_commands import repeat_in_commands
from contractlog.clients.settings import URL_VARIABLES, environment_variables
from contractlog.compatibility.errors import UsageError

__all__ = ["DEFAULT", "resolve_environment", "select_environment", "select_registry"]

DEFAULT: Final = "default"  #: the environment that `init` and `pull` write


def select_environment(options: Namespace) -> None:
    """Load the manifest; set the registry, the context and the default level of ``--environment``.

    Without it, the environment ``default`` is chosen, if no option and no variable names a registry; not for commands
    without ``--registry``, which do not connect to a registry or name environments themselves. If there is none of this
    name, ``connect`` rejects the command.

    Raises:
        UsageError: the manifest is not valid, or has no such environment.
    """
    options.manifest = find_manifest(options.manifest, options.files)
    options.context = ""
    options.unselected_environments = ()
    repeated = _named_registry(options)
    if options.environment is None and options.manifest is not None and not _names_registry(options):
        options.environment = DEFAULT if DEFAULT in options.manifest.environments else None
        if options.environment is None:
            options.unselected_environments = tuple(options.manifest.environments)
    if options.environment is not None:
        if options.manifest is None:
            raise UsageError(f"--environment needs a manifest: write {MANIFEST}, or pass --manifest")
        environment = resolve_environment(options.manifest, options.environment)
        options.context = environment.context
        if not options.registry:
            use_manifest_registry(options, environment.registry)
        repeated |= _locate_manifest(options.manifest)
        options.manifest = replace(
            options.manifest, default_level=environment.level, default_namespace=environment.default_namespace
        )
    repeat_in_commands(repeated)


def select_registry(options: Namespace) -> str:
    """Set the registry of a command without files as ``select_environment`` does, and return the context.

    The manifest is read only if an environment may be chosen from it.
    """
    if options.manifest is None and options.environment is None and _names_registry(options):
        repeat_in_commands(_named_registry(options))
        return ""
    selected = Namespace(**{**vars(options), "files": []})
    select_environment(selected)
    options.registry, options.environment = selected.registry, selected.environment
    options.manifest_url = getattr(selected, "manifest_url", None)
    options.unselected_environments = selected.unselected_environments
    return str(selected.context)


def _named_registry(options: Namespace) -> dict[str, str]:
    """Return the options that name the registry, without credentials."""
    named = {}
    if getattr(options, "registry", None):
        named["registry"] = ",".join(list_urls(options.registry))
    if options.environment is not None:
        named["environment"] = options.environment
    return named


def _locate_manifest(manifest: Manifest) -> dict[str, str]:
    """Return the option that names the manifest, unless a command finds it in the working directory."""
    is_default = manifest.path.resolve() == Path(MANIFEST).resolve()
    return {} if is_default else {"manifest": str(manifest.path)}


def _names_registry(options: Namespace) -> bool:
    return not hasattr(options, "registry") or bool(options.registry) or any(map(os.environ.get, URL_VARIABLES))


def resolve_environment(manifest: Manifest, name: str) -> Environment:
    """Return an environment, at the URL of ``CONTRACTLOG_REGISTRY_URL_<NAME>`` if that variable is set.

    CI sets it beside the credentials, so that a changed manifest cannot send them elsewhere.

    Raises:
        UsageError: the manifest has no such environment.
    """
    environment = manifest.environment(name)
    url = environment_variables(name).get(URL_VARIABLES[0])
    return replace(environment, registry=url) if url else environment
