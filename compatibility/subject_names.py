"""Subject name strategies as pure functions of topic, part and record name."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from contractlog.compatibility.identifiers import topic_subject

__all__ = ["NAMING_STRATEGIES", "SubjectNameStrategyType", "derive_subject", "parse_strategy", "strategy_word"]


class SubjectNameStrategyType(StrEnum):
    """Strategies by name; NONE, as a fall-back, makes a topic without association an error."""

    NONE = "NONE"
    TOPIC = "TOPIC"
    RECORD = "RECORD"
    TOPIC_RECORD = "TOPIC_RECORD"
    ASSOCIATED = "ASSOCIATED"


#: Strategies that need no registry.
NAMING_STRATEGIES: Final = (
    SubjectNameStrategyType.TOPIC,
    SubjectNameStrategyType.RECORD,
    SubjectNameStrategyType.TOPIC_RECORD,
)


def derive_subject(strategy: SubjectNameStrategyType, topic: str, part: str, record_name: str) -> str:
    """Return the subject by one of ``NAMING_STRATEGIES``.

    Args:
        strategy: the strategy.
        topic: name of the topic; not used by RECORD.
        part: ``key`` or ``value``; used by TOPIC only.
        record_name: full name of the record, or title of the JSON schema; not used by TOPIC.

    >>> [derive_subject(each, "orders", "value", "shop.Order") for each in NAMING_STRATEGIES]
    ['orders-value', 'shop.Order', 'orders-shop.Order']
    """
    if strategy is SubjectNameStrategyType.RECORD:
        return record_name
    return topic_subject(topic, part if strategy is SubjectNameStrategyType.TOPIC else record_name)


def strategy_word(strategy: SubjectNameStrategyType) -> str:
    """Return the name of a strategy as on the command line.

    >>> strategy_word(SubjectNameStrategyType.TOPIC_RECORD)
    'topic-record'
    """
    return strategy.lower().replace("_", "-")


def parse_strategy(text: str) -> SubjectNameStrategyType:
    """Parse the name of a strategy, as on the command line or in other clients.

    >>> parse_strategy("topic-record"), parse_strategy("TopicRecordNameStrategy")
    (<SubjectNameStrategyType.TOPIC_RECORD: 'TOPIC_RECORD'>, <SubjectNameStrategyType.TOPIC_RECORD: 'TOPIC_RECORD'>)

    Raises:
        ValueError: there is no such strategy.
    """
    word = re.sub("[^a-z]", "", text.lower()).removesuffix("strategy").removesuffix("name")
    for strategy in (*NAMING_STRATEGIES, SubjectNameStrategyType.ASSOCIATED):
        if word == strategy.lower().replace("_", ""):
            return strategy
    raise ValueError(f"`{text}` is not a strategy: write topic, record, topic-record or associated")
