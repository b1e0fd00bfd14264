"""All routes under ``/contractlog/v1`` except audits and the service's own state."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from contractlog.registry.routes import changes, differences, fetches, graph, many, moving, permissions, search

__all__ = ["ROUTERS"]

ROUTERS: Final[tuple[APIRouter, ...]] = tuple(
    module.router for module in (changes, search, differences, graph, many, fetches, moving, permissions)
)
