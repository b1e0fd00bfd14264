from __future__ import annotations

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.serdes.subject_names import SubjectNameStrategyType as Kind
from contractlog.spark_validation.expectations.given_strategies import GivenStrategies


def test_strategies_are_read_by_every_name_that_is_in_use() -> None:
    for name in ("topic-record", "TOPIC_RECORD", "TopicRecordNameStrategy", "topic_record"):
        assert GivenStrategies.parse([name]).of("any", "value") is Kind.TOPIC_RECORD
    given = GivenStrategies.parse(["record", "a.b=topic", "c:key=associated"])
    assert (given.of("x", "value"), given.of("x", "key")) == (Kind.RECORD, None)
    assert (given.of("a.b", "value"), given.of("c", "key"), given.of("c", "value")) == (
        Kind.TOPIC,
        Kind.ASSOCIATED,
        Kind.RECORD,
    )


@pytest.mark.parametrize("argument", ["x", "none", "=topic", "a=", "a:body=topic", ""])
def test_unknown_strategies_and_topics_are_rejected(argument: str) -> None:
    with pytest.raises(UsageError, match="--strategy"):
        GivenStrategies.parse([argument])


def test_contradictions_are_refused() -> None:
    with pytest.raises(UsageError, match="contradicts"):
        GivenStrategies.parse(["record", "topic"])
    with pytest.raises(UsageError, match="contradicts"):
        GivenStrategies.parse(["a=record", "a=topic"])
