"""Make the asynchronous modules of the clients from the blocking ones; ``generate.py`` writes them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

__all__ = ["ASYNC_MODULES", "make_async"]

ROOT: Final = Path(__file__).parent.parent
_HEADER: Final = "# made by docs/generate.py from {source}: change that, then `make docs`\n\n"
_CONFLUENT_MODULES: Final = {
    "clients/confluent/client.py": "clients/confluent/async_client.py",
    "clients/confluent/config_methods.py": "clients/confluent/async_config_methods.py",
}
_PUBLIC_METHOD: Final = re.compile(r"^    def (?=[a-z])", re.MULTILINE)
#: Methods that send something; ``config()`` and the like do not.
_SENDING_METHOD: Final = re.compile(
    r"^    def (?!config\(|over\(|clear_|latest_generation|new_client)(?=[a-z]|_send\(|__enter__|__exit__)",
    re.MULTILINE,
)
_OWN_CALL: Final = re.compile(r"(?<![\w.])self\.(?=(?:[a-z]\w*|_send|_registry\.(?:send|close))\()")
_YIELD_FROM: Final = re.compile(r"^( +)yield from (.+)$", re.MULTILINE)
_REPLACEMENTS: Final = {
    "contractlog.clients.endpoints": "contractlog.clients.async_endpoints",
    "Iterator[": "AsyncIterator[",
    "import Iterable, Iterator": "import AsyncIterator, Iterable",
    "import Iterator": "import AsyncIterator",
    "contractlog.clients.registry import": "contractlog.clients.async_registry import",
    "contractlog.clients.confluent.config_methods import": "contractlog.clients.confluent.async_config_methods import",
    # Both may be awaited, as with confluent-kafka's client, or called alone.
    "def clear_latest_caches(self) -> None": "def clear_latest_caches(self) -> Awaitable[None]",
    "def clear_caches(self) -> None": "def clear_caches(self) -> Awaitable[None]",
    'newest."""\n        self._caches.clear_latest()\n': (
        'newest."""\n        self._caches.clear_latest()\n        return COMPLETED\n'
    ),
    'remembered."""\n        self._caches.clear()\n': (
        'remembered."""\n        self._caches.clear()\n        return COMPLETED\n'
    ),
    "confluent.response_caches import ResponseCaches\nfrom contractlog.clients.confluent.schema import Reg": (
        "confluent.response_caches import COMPLETED,"
        " ResponseCaches\nfrom contractlog.clients.confluent.schema import Reg"
    ),
    "from types import TracebackType\nfrom typing import Any, Literal": "from collections.abc import Awaitable\n"
    "from types import TracebackType\nfrom typing import Any, Literal",
    "__enter__": "__aenter__",
    "__exit__": "__aexit__",
}
_CLASS_NAMES: Final = re.compile(r"\b(SchemaRegistryClient|Registry|Sender|ConfigMethods|[A-Z][a-z]+Endpoints)\b")


def make_async(text: str, source: str) -> str:
    """Return the twin of a module: its public methods are coroutines, and await each other."""
    public = _SENDING_METHOD if source in _CONFLUENT_MODULES else _PUBLIC_METHOD
    text = _OWN_CALL.sub("await self.", public.sub("    async def ", _CLASS_NAMES.sub(r"Async\1", text)))
    text = _YIELD_FROM.sub(r"\1for item in \2:\n\1    yield item", text)
    for old, new in _REPLACEMENTS.items():
        text = text.replace(old, new)
    if source in _CONFLUENT_MODULES:
        text = _CLASS_NAMES.sub(r"Async\1", text).replace("async def close(", "async def aclose(")
    doc, future, rest = text.partition("from __future__")
    return _format_code(_HEADER.format(source=source) + doc + future + rest)


def _format_code(text: str) -> str:
    for verb in (["check", "--quiet", "--select", "I001", "--fix-only", "-"], ["format", "-"]):
        command = [sys.executable, "-m", "ruff", *verb]
        text = subprocess.run(command, check=True, capture_output=True, text=True, input=text, cwd=ROOT).stdout  # noqa: S603
    return text


def _module_source(source: str) -> Callable[[], Iterator[str]]:
    return lambda: iter([make_async((ROOT / source).read_text("utf-8"), source)])


#: Path of each generated module, and its generator.
ASYNC_MODULES: Final[dict[str, Callable[[], Iterator[str]]]] = {
    f"clients/async_endpoints/{file.name}": _module_source(f"clients/endpoints/{file.name}")
    for file in sorted((ROOT / "clients" / "endpoints").glob("*.py"))
} | {twin: _module_source(source) for source, twin in _CONFLUENT_MODULES.items()}
