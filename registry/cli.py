"""The verbs ``serve`` and ``db``."""

from __future__ import annotations

import json
import signal
import socket
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

import uvicorn

from contractlog.compatibility.errors import UsageError
from contractlog.registry import database
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings
from contractlog.registry.storage.engines import parse_url

__all__ = ["db", "serve"]

_GRACE_SECONDS: Final = 10
_SERVES: Final = "contractlog.serve/1"
_DB: Final = "contractlog.db/1"


def serve(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Run the registry until SIGTERM or Ctrl-C."""
    parser.add_argument("--host", help="the address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, help="the port to listen on (default: 8081); 0 takes a free one")
    _add_database_url(parser)
    _add_format(parser)
    arguments = parser.parse_args(argv)
    settings = Settings.from_environment(host=arguments.host, port=arguments.port, database_url=arguments.database_url)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)  # before and after the server has its own handlers
    with _listen(settings) as listener:
        app = create_app(settings)
        try:
            _run(app, listener, _greeting(settings, listener, arguments.format))
        except SystemExit:
            return 0
        finally:
            app.state.close()
    return 0


def _leave(_number: int, _frame: Any) -> NoReturn:
    raise SystemExit(0)


def _listen(settings: Settings) -> socket.socket:
    try:
        return socket.create_server((settings.host, settings.port), reuse_port=False, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot listen on {settings.host}:{settings.port}: {reason}; give another --port") from error


def _greeting(settings: Settings, listener: socket.socket, form: str) -> Callable[[], None]:
    """Make what says where the registry is: a sentence on stderr, or a line of JSON on stdout."""
    database_url = parse_url(settings.database_url).render_as_string(hide_password=True)
    host, port = listener.getsockname()[:2]
    url = f"http://{host}:{port}"

    def greet() -> None:
        if form == "json":
            print(json.dumps({"format": _SERVES, "url": url, "database": database_url}), flush=True)
        else:
            sentence = f"contractlog serves the registry on {url} from {database_url}; stop it with Ctrl-C"
            print(sentence, file=sys.stderr, flush=True)

    return greet


class _Server(uvicorn.Server):
    """Greets once it listens."""

    greet: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.greet()


def _run(app: Any, listener: socket.socket, greet: Callable[[], None]) -> None:
    server = _Server(
        uvicorn.Config(
            app,
            loop="uvloop",
            http="httptools",
            lifespan="off",  # `serve` closes the app itself, also when it never started
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
    )
    server.greet = greet
    server.run(sockets=[listener])


def db(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Upgrade, downgrade or show the tables of a database."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    upgrade = _action(actions, "upgrade", "bring the tables to this release")
    downgrade = _action(actions, "downgrade", "go back to an earlier revision", " 0001")
    downgrade.add_argument("revision", help="a revision, -1 for the one before, or `base`: no tables")
    current = _action(actions, "current", "show the revision that the database has")
    for action in (upgrade, downgrade, current):
        _add_database_url(action)
        _add_format(action)
    arguments = parser.parse_args(argv)
    url = Settings.from_environment(database_url=arguments.database_url).database_url
    found: str | None
    if arguments.action == "upgrade":
        found = newest = database.upgrade(url)
    elif arguments.action == "downgrade":
        found, newest = database.downgrade(url, arguments.revision), database.newest()
    else:
        found, newest = database.current(url)
    if arguments.format == "json":
        print(json.dumps({"format": _DB, "revision": found, "newest": newest}))
    else:
        print(found or ("base" if arguments.action == "downgrade" else "none"))
    if arguments.action == "current" and found != newest:
        print(f"this release needs {newest}: contractlog db upgrade", file=sys.stderr)
    return 0


def _action(actions: Any, name: str, summary: str, words: str = "") -> ArgumentParser:
    parser: ArgumentParser = actions.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"example:\n  contractlog db {name}{words} --database-url sqlite:///contractlog.db",
        formatter_class=RawDescriptionHelpFormatter,
    )
    return parser


def _add_format(parser: ArgumentParser) -> None:
    parser.add_argument("--format", choices=("text", "json"), default="text", help="of the result (default: text)")


def _add_database_url(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--database-url", metavar="URL", help="sqlite:///FILE (default: sqlite:///contractlog.db) or postgresql://…"
    )
