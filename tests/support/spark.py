"""One Spark session for all tests that need a JVM; nobody stops it between tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session on two cores of this machine."""
    from contractlog.spark_validation.session import open_session

    with open_session("local[2]", name="tests") as session:
        yield session
