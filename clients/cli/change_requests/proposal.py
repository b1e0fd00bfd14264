"""Proposals of ``contractlog change open`` and ``change waive``, from their arguments."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from contractlog.clients.cli.schema_folder.collection import collect_files
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.schema import Reference

__all__ = ["build_change", "build_source", "build_waiver"]


def build_change(options: Namespace, registry: Registry) -> dict[str, Any]:
    """Return the proposed change.

    Raises:
        UsageError: the arguments name no change, or several; or the file cannot be read.
    """
    changes: list[dict[str, Any]] = []
    if options.file is not None:
        changes.append(_build_registration(options, registry))
    if options.delete is not None:
        deletion: dict[str, Any] = {"permanent": options.permanent}
        changes.append({"deletion": deletion | _parse_version(options.delete)})
    if options.level is not None:
        changes.append({"config": {"compatibility": options.level.value}})
    if options.mode is not None:
        changes.append({"mode": {"mode": options.mode.upper()}})
    if len(changes) != 1:
        raise UsageError("name one change: a schema file, --delete, --level or --mode")
    return changes[0]


def build_waiver(options: Namespace) -> dict[str, Any]:
    """Return the proposed waiver."""
    waiver = {"kind": options.kind, "days": options.days, "user": options.user}
    return {"waiver": {name: value for name, value in waiver.items() if value is not None}}


def build_source(options: Namespace) -> dict[str, str] | None:
    """Return the commit and the URL, or None without them."""
    source = {"commit": options.commit, "url": options.url}
    return {name: value for name, value in source.items() if value is not None} or None


def _build_registration(options: Namespace, registry: Registry) -> dict[str, Any]:
    ((file,),) = collect_files([options.file], subject=options.subject, references=options.references).values()
    draft = file.draft.body()
    if file.draft.references:
        draft["references"] = [_resolve(registry, reference).body() for reference in file.draft.references]
    return {"schema": draft, "normalize": options.normalize}


def _resolve(registry: Registry, reference: Reference) -> Reference:
    """Return a reference with the number of its version; ``latest`` is -1."""
    if reference.version > 0:
        return reference
    return Reference(reference.name, reference.subject, registry.latest(reference.subject).version or 0)


def _parse_version(text: str) -> dict[str, int]:
    if text == "all":
        return {}
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"`{text}` is not a version number: pass --delete VERSION, or --delete for all versions")
    return {"version": int(text)}
