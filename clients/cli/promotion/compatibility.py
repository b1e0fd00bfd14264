"""Compatibility of a promoted version with those of the target, with the waivers of the manifest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from contractlog.clients.cli.check.file_check import FileCheck
from contractlog.clients.cli.check.subject_checker import SubjectChecker
from contractlog.clients.cli.promotion.environment_client import EnvironmentClient
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.resolver import ResolvedFile
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = ["check_version"]


def check_version(
    target: EnvironmentClient, subject: str, schema: RegisteredSchema, draft: SchemaDraft, manifest: Manifest
) -> FileCheck:
    """Check a version of the source as a file that would be registered in the target.

    Args:
        target: the environment that gets it.
        subject: the name that both environments share.
        schema: the version in the source.
        draft: the version with references to versions of the target.
        manifest: the manifest, whose `[[checks]]` are not applied.

    Raises:
        UsageError: a waiver covers it, and the manifest has no level to return to.
    """
    qualified = target.qualify(subject)
    referenced = target.registry.referenced(draft, subject=qualified)
    file = SchemaFile(Path(f"{subject}:{schema.version}"), qualified, draft)
    subjects = {reference.name: reference.subject for reference in draft.references}
    resolved = ResolvedFile(file, file, parse_schema(draft, referenced, strict=False), referenced, subjects=subjects)
    level = manifest.environment(target.name).level
    waiving = replace(manifest, checks=(), default_level=level)
    return SubjectChecker(target.registry, qualified, manifest=waiving).check(resolved)
