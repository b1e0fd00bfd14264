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
_FACES: Final = {
    "clients/confluent/client.py": "clients/confluent/aclient.py",
    "clients/confluent/setting.py": "clients/confluent/asetting.py",
}
_PUBLIC: Final = re.compile(r"^    def (?=[a-z])", re.MULTILINE)
#: What of a face sends something; ``config()`` and the like do not.
_SENDING: Final = re.compile(
    r"^    def (?!config\(|over\(|clear_|latest_generation|new_client)(?=[a-z]|_ask\(|__enter__|__exit__)", re.MULTILINE
)
_OWN: Final = re.compile(r"(?<![\w.])self\.(?=(?:[a-z]\w*|_ask|_registry\.(?:send|close))\()")
_EACH: Final = re.compile(r"^( +)yield from (.+)$", re.MULTILINE)
_WORDS: Final = {
    "contractlog.clients.blocking": "contractlog.clients.awaited",
    "``awaited/`` is made from this": "made from ``blocking/``",
    "a client that waits": "a client that is awaited",
    "Iterator[": "AsyncIterator[",
    "import Iterable, Iterator": "import AsyncIterator, Iterable",
    "import Iterator": "import AsyncIterator",
    "contractlog.clients.client import": "contractlog.clients.aclient import",
    "contractlog.clients.confluent.setting import": "contractlog.clients.confluent.asetting import",
    # Both may be awaited, as with confluent-kafka's client, or called alone.
    "def clear_latest_caches(self) -> None": "def clear_latest_caches(self) -> Awaitable[None]",
    "def clear_caches(self) -> None": "def clear_caches(self) -> Awaitable[None]",
    'newest."""\n        self._known.clear_latest()\n': (
        'newest."""\n        self._known.clear_latest()\n        return DONE\n'
    ),
    'remembered."""\n        self._known.clear()\n': (
        'remembered."""\n        self._known.clear()\n        return DONE\n'
    ),
    "confluent.known import Known\nfrom contractlog.clients.confluent.schemas import Reg": (
        "confluent.known import DONE, Known\nfrom contractlog.clients.confluent.schemas import Reg"
    ),
    "from types import TracebackType\nfrom typing import Any, Literal": "from collections.abc import Awaitable\n"
    "from types import TracebackType\nfrom typing import Any, Literal",
    "__enter__": "__aenter__",
    "__exit__": "__aexit__",
}
_NAMES: Final = re.compile(r"\b(SchemaRegistryClient|Registry)\b")


def awaited(text: str, source: str) -> str:
    """Return the twin of a module: its public methods are coroutines, and await each other."""
    public = _SENDING if source in _FACES else _PUBLIC
    text = _OWN.sub("await self.", public.sub("    async def ", text))
    text = _EACH.sub(r"\1for one in \2:\n\1    yield one", text)
    for word, other in _WORDS.items():
        text = text.replace(word, other)
    if source in _FACES:
        text = _NAMES.sub(r"Async\1", text).replace("async def close(", "async def aclose(")
    doc, future, rest = text.partition("from __future__")
    return _formatted(_MADE.format(source=source) + doc + future + rest)


def _formatted(text: str) -> str:
    for verb in (["check", "--quiet", "--select", "I001", "--fix-only", "-"], ["format", "-"]):
        command = [sys.executable, "-m", "ruff", *verb]
        text = subprocess.run(command, check=True, capture_output=True, text=True, input=text, cwd=ROOT).stdout  # noqa: S603
    return text


def _twin(source: str) -> Callable[[], Iterator[str]]:
    return lambda: iter([awaited((ROOT / source).read_text("utf-8"), source)])


#: What is made, and how.
TWINS: Final[dict[str, Callable[[], Iterator[str]]]] = {
    f"clients/awaited/{file.name}": _twin(f"clients/blocking/{file.name}")
    for file in sorted((ROOT / "clients" / "blocking").glob("*.py"))
} | {twin: _twin(source) for source, twin in _FACES.items()}
