"""Make the asynchronous half of the clients from the half that waits; ``generate.py`` writes it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

__all__ = ["TWINS", "awaited"]

ROOT: Final = Path(__file__).parent.parent
_MADE: Final = "# made by docs/generate.py from {source}: change that, then `make docs`\n\n"
_PUBLIC: Final = re.compile(r"^    def (?=[a-z])", re.MULTILINE)
_OWN: Final = re.compile(r"(?<![\w.])self\.(?=[a-z]\w*\()")
_EACH: Final = re.compile(r"^( +)yield from (.+)$", re.MULTILINE)
_WORDS: Final = {
    "contractlog.clients.blocking": "contractlog.clients.awaited",
    "contractlog.clients.confluent.client": "contractlog.clients.confluent.aclient",
    "``awaited/`` is made from this": "made from ``blocking/``",
    "a client that waits": "a client that is awaited",
    "Iterator[": "AsyncIterator[",
    "import Iterable, Iterator": "import AsyncIterator, Iterable",
    "import Iterator": "import AsyncIterator",
}


def awaited(text: str, source: str) -> str:
    """Return the twin of a module: its public methods are coroutines, and await each other."""
    text = _OWN.sub("await self.", _PUBLIC.sub("    async def ", text))
    text = _EACH.sub(r"\1for one in \2:\n\1    yield one", text)
    for word, other in _WORDS.items():
        text = text.replace(word, other)
    doc, future, rest = text.partition("from __future__")
    return _formatted(_MADE.format(source=source) + doc + future + rest)


def _formatted(text: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "-"]
    return subprocess.run(command, check=True, capture_output=True, text=True, input=text, cwd=ROOT).stdout  # noqa: S603


def _twin(source: str) -> Callable[[], Iterator[str]]:
    return lambda: iter([awaited((ROOT / source).read_text("utf-8"), source)])


#: What is made, and how.
TWINS: Final[dict[str, Callable[[], Iterator[str]]]] = {
    f"clients/awaited/{file.name}": _twin(f"clients/blocking/{file.name}")
    for file in sorted((ROOT / "clients" / "blocking").glob("*.py"))
}
