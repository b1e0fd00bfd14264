"""``contractlog check``: may these schema files follow what is registered?"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence

from contractlog.clients.cli.options import add_files, add_format, add_registry

__all__ = ["check"]


def check(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Judge every file and say what to mend; exit code 1 when one may not be registered."""
    add_files(parser)
    add_registry(parser)
    add_format(parser)
    options = parser.parse_intermixed_args(argv)
    from contractlog.clients.cli.checking import run  # noqa: PLC0415 - the engines are slow to load; help is quick

    return run(options, argv)
