"""Registry in this process with users and an owners file."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI

from contractlog.clients import Registry, Security
from contractlog.clients.transport import ASGIApp
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.testing import Registries

__all__ = ["connect_as", "create_protected_app"]


def create_protected_app(registries: Registries, folder: Path, owners: str, *users: str) -> FastAPI:
    """Create the app; the password of each user, who may write everything, is the user's name."""
    entries = (format_entry(name, HashedPassword.of(name), read=[], write=["*"]) for name in users)
    (folder / "users.toml").write_text("".join(entries))
    (folder / "owners.toml").write_text(owners)
    return registries.make({"users_file": str(folder / "users.toml"), "owners_file": str(folder / "owners.toml")})


def connect_as(app: ASGIApp, user: str) -> Registry:
    """Connect as one of the users."""
    return Registry(app=app, security=Security(user=user, password=user))
