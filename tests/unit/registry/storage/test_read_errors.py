"""Errors of queries: nothing is written by them, so their outcome is never unknown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy.exc import OperationalError

from contractlog.compatibility.errors import StoreError
from contractlog.registry.database import open_store
from contractlog.registry.settings import Settings
from contractlog.registry.storage.store import Store


class _StatementTimeout(Exception):
    """The driver's error of a statement that PostgreSQL has interrupted."""

    sqlstate = "57014"


@pytest.fixture
def store() -> Iterator[Store]:
    store = open_store(Settings(database_url="sqlite://"))
    yield store
    store.close()


@pytest.mark.parametrize(
    ("cause", "is_lost"),
    [(ConnectionError("server closed the connection"), True), (_StatementTimeout(), False)],
    ids=["connection lost", "statement timeout"],
)
def test_a_read_that_fails_is_no_write_that_may_have_been_committed(
    store: Store, cause: Exception, *, is_lost: bool
) -> None:
    def fail() -> None:
        with store.open_snapshot():
            raise OperationalError("SELECT 1", {}, cause, connection_invalidated=is_lost)

    with pytest.raises(StoreError) as caught:
        fail()
    assert caught.value.error_code == StoreError.code
