"""Selection of the manifest and the environment that the options of a command name."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from contractlog.clients.cli.schema_folder.manifest import MANIFEST, Environment, Manifest, find_manifest
from contractlog.clients.settings import URL_VARIABLES, environment_variables
from contractlog.compatibility.errors import UsageError

__all__ = ["resolve_environment", "select_environment"]


def select_environment(options: Namespace) -> None:
    """Load the manifest; set the registry, the context and the default level of ``--environment``.

    Raises:
        UsageError: the manifest is not valid, or has no such environment.
    """
    options.manifest = find_manifest(options.manifest, options.files)
    options.context = ""
    if options.environment is not None:
        if options.manifest is None:
            raise UsageError(f"--environment needs a manifest: write {MANIFEST}, or pass --manifest")
        environment = resolve_environment(options.manifest, options.environment)
        options.registry, options.context = options.registry or environment.registry, environment.context
        options.manifest = replace(options.manifest, default_level=environment.level)


def resolve_environment(manifest: Manifest, name: str) -> Environment:
    """Return an environment, at the URL of ``CONTRACTLOG_REGISTRY_URL_<NAME>`` if that variable is set.

    CI sets it beside the credentials, so that a changed manifest cannot send them elsewhere.

    Raises:
        UsageError: the manifest has no such environment.
    """
    environment = manifest.environment(name)
    url = environment_variables(name).get(URL_VARIABLES[0])
    return replace(environment, registry=url) if url else environment
