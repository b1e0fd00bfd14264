"""A page of a list, cut by the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlalchemy import Select

__all__ = ["WHOLE_LIST", "Page"]

T = TypeVar("T")
_MAX_ROWS: Final = 2**31 - 1  #: the largest number of rows that every database accepts


@dataclass(frozen=True, slots=True)
class Page:
    """Offset and limit of a page; without a positive limit it extends to the end."""

    offset: int = 0
    limit: int = -1

    @property
    def start(self) -> int:
        """The index of the first item; no list is longer than the largest one."""
        return min(max(self.offset, 0), _MAX_ROWS)

    def of(self, statement: Select[Any]) -> Select[Any]:
        """Return a statement limited to the page."""
        if self.limit > 0:
            statement = statement.limit(min(self.limit, _MAX_ROWS))
        return statement.offset(self.start) if self.start else statement

    def cut(self, items: list[T]) -> list[T]:
        """Return the page of a list."""
        return items[self.start : self.start + self.limit] if self.limit > 0 else items[self.start :]

    def within(self, default: int, most: int) -> Page:
        """Return the page with its limit if the server allows that, else with the default."""
        return Page(self.offset, self.limit if 0 < self.limit <= most else default)


WHOLE_LIST: Final = Page()
