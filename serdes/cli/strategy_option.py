"""The option ``--strategy``: the subject name strategy of a topic."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError

from contractlog.serdes.subject_names import SubjectNameStrategyType, parse_strategy

__all__ = ["add_strategy"]


def add_strategy(parser: ArgumentParser, meaning: str) -> None:
    """Add ``--strategy``."""
    parser.add_argument(
        "--strategy",
        type=_parse_strategy_argument,
        metavar="STRATEGY",
        help=f"the subject name strategy {meaning}: topic, record, topic-record or associated",
    )


def _parse_strategy_argument(text: str) -> SubjectNameStrategyType:
    try:
        return parse_strategy(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
