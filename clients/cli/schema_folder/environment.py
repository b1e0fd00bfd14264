"""Selection of the manifest and the environment that the options of a command name."""

from __future__ import annotations

from argparse import Namespace

from contractlog.clients.cli.schema_folder.manifest import MANIFEST, find_manifest
from contractlog.compatibility.errors import UsageError

__all__ = ["select_environment"]


def select_environment(options: Namespace) -> None:
    """Load the manifest; set the registry and the context of ``--environment``.

    Raises:
        UsageError: the manifest is not valid, or has no such environment.
    """
    options.manifest = find_manifest(options.manifest, options.files)
    options.context = ""
    if options.environment is not None:
        if options.manifest is None:
            raise UsageError(f"--environment needs a manifest: write {MANIFEST}, or pass --manifest")
        environment = options.manifest.environment(options.environment)
        options.registry, options.context = options.registry or environment.registry, environment.context
