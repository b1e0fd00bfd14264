"""Requests to a cluster whose partitions have no leader yet."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from contractlog.spark_validation.sources.kafka_errors import retry_without_leader


def test_partitions_whose_leader_moves_are_asked_again() -> None:
    answers = iter([KafkaError.LEADER_NOT_AVAILABLE, KafkaError.NOT_LEADER_FOR_PARTITION, None])

    def ask() -> int:
        if code := next(answers):
            raise KafkaException(KafkaError(code))
        return 7

    assert retry_without_leader(ask, timeout_seconds=30) == 7


@pytest.mark.parametrize(
    ("code", "timeout_seconds", "asked"),
    [(KafkaError.TOPIC_AUTHORIZATION_FAILED, 30, 1), (KafkaError.LEADER_NOT_AVAILABLE, 0.15, 3)],
)
def test_other_failures_and_ones_that_last_are_told(code: int, timeout_seconds: float, asked: int) -> None:
    asks = []

    def ask() -> int:
        asks.append(code)
        raise KafkaException(KafkaError(code))

    with pytest.raises(KafkaException) as failure:
        retry_without_leader(ask, timeout_seconds)
    assert failure.value.args[0].code() == code
    assert 1 <= len(asks) <= asked
