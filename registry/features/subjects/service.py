"""List of subjects."""

from __future__ import annotations

from contractlog.registry.features.read_service import ReadService
from contractlog.registry.features.subjects import queries
from contractlog.registry.storage.store_values import WHOLE_LIST, DeletedFilter, Page

__all__ = ["SubjectService"]


class SubjectService(ReadService):
    """Lists subjects."""

    async def list_subjects(self, prefix: str, deleted: DeletedFilter, page: Page = WHOLE_LIST) -> list[str]:
        """List qualified names, sorted; the prefix ``:*:`` means every context."""
        return await self._query(queries.list_subjects, prefix, deleted, page)
