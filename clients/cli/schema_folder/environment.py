"""Selection of the manifest and the environment that the options of a command name."""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Final

from contractlog.clients.cli.schema_folder.manifest import MANIFEST, Environment, Manifest, find_manifest
from contractlog.clients.settings import URL_VARIABLES, environment_variables
from contractlog.compatibility.errors import UsageError

__all__ = ["is_whole_folder", "resolve_environment", "select_environment"]

DEFAULT: Final = "default"  #: the environment that `init` and `pull` write


def select_environment(options: Namespace) -> None:
    """Load the manifest; set the registry, the context and the default level of ``--environment``.

    Without it, the environment ``default`` is chosen, if no option and no variable names a registry; not for commands
    without ``--registry``, which do not connect to a registry or name environments themselves.

    Raises:
        UsageError: the manifest is not valid, or has no such environment.
    """
    options.manifest = find_manifest(options.manifest, options.files)
    options.context = ""
    if options.environment is None and options.manifest is not None and not _names_registry(options):
        options.environment = DEFAULT if DEFAULT in options.manifest.environments else None
    if options.environment is not None:
        if options.manifest is None:
            raise UsageError(f"--environment needs a manifest: write {MANIFEST}, or pass --manifest")
        environment = resolve_environment(options.manifest, options.environment)
        options.registry, options.context = options.registry or environment.registry, environment.context
        options.manifest = replace(
            options.manifest, default_level=environment.level, default_namespace=environment.default_namespace
        )


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


def is_whole_folder(options: Namespace) -> bool:
    """Return whether the files are all those of the folder of the manifest."""
    whole = [options.manifest.path.parent.resolve()]
    return not options.subject and [Path(name).resolve() for name in options.files] == whole
