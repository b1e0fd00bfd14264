"""The commands ``serve`` and ``db``."""

from __future__ import annotations

import errno
import json
import re
import socket
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.loopback import is_loopback
from contractlog.compatibility.text.terminal_text import escape_json_line, escape_line
from contractlog.registry import database
from contractlog.registry.http.tls import Certificates
from contractlog.registry.http.trusted_proxies import parse_proxies
from contractlog.registry.maintenance import audit_results, context_deletion, id_counter_correction
from contractlog.registry.serving.server import install_exit_handlers, serve_single_process
from contractlog.registry.serving.workers import serve_with_workers
from contractlog.registry.settings import ClientCertificates, Settings, find_misspelled_variables
from contractlog.registry.storage.engines import mask_url, parse_url, require_multi_process
from contractlog.registry.telemetry.logging import LogFormat

__all__ = ["db", "serve"]

_ERRNO_DETAIL: Final = re.compile(r"^\[Errno -?\d+\] | \(while attempting .*\)$")
_BIND_DETAIL: Final = re.compile(r" \(while attempting .*\)$")
_SERVE_FORMAT: Final = "contractlog.serve/1"
_DB_FORMAT: Final = "contractlog.db/1"


def serve(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Run the registry until SIGTERM or Ctrl-C."""
    parser.add_argument("--host", help="the address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, help="the port to listen on (default: 8081); 0 chooses a free one")
    _add_database_url(parser)
    _add_operating(parser)
    _add_access(parser)
    _add_format(parser)
    arguments = vars(parser.parse_args(argv))
    form = arguments.pop("format")
    install_exit_handlers()
    settings = Settings.from_environment(**arguments)
    if settings.anonymous_reads and not settings.authenticates:
        raise UsageError("--anonymous-reads has no effect without --users FILE: no credentials are required")
    if settings.workers > 1:
        require_multi_process(parse_url(settings.database_url))
    parse_proxies(settings.trusted_proxies)
    certificates = Certificates.of(settings)
    with _listen(settings) as listener:
        serve_now = serve_with_workers if settings.workers > 1 else serve_single_process
        return serve_now(settings, listener, _create_announcer(settings, listener, form), certificates)


def _listen(settings: Settings) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        return socket.create_server((settings.host, settings.port), family=family, reuse_port=False, backlog=2048)
    except socket.gaierror as error:
        raise UsageError(
            f"cannot listen on {settings.host}: {_ERRNO_DETAIL.sub('', str(error))}; use another --host"
        ) from None
    except OSError as error:
        other = "--port" if error.errno in {errno.EADDRINUSE, errno.EACCES} else "--host"
        reason = _BIND_DETAIL.sub("", error.strerror or str(error))
        raise UsageError(f"cannot listen on {settings.host}:{settings.port}: {reason}; use another {other}") from None


def _create_announcer(settings: Settings, listener: socket.socket, form: str) -> Callable[[Iterable[str]], None]:
    """Return a function that announces the registry's URL and then prints warnings.

    The announcement is a sentence on stderr, or a line of JSON on stdout.
    """
    database_url = mask_url(settings.database_url)
    host, port = listener.getsockname()[:2]
    url = f"{'https' if settings.tls_certificate else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"

    def greet(warnings: Iterable[str]) -> None:
        if form == "json":
            print(
                escape_json_line(json.dumps({"format": _SERVE_FORMAT, "url": url, "database": database_url})),
                flush=True,
            )
        else:
            sentence = f"contractlog serves the registry on {url} from {database_url}; stop it with Ctrl-C"
            print(escape_line(sentence), file=sys.stderr, flush=True)
        for warning in chain(find_misspelled_variables(), _exposure_warnings(settings, host, port), warnings):
            print(escape_line(f"warning: {warning}"), file=sys.stderr, flush=True)

    return greet


def _exposure_warnings(settings: Settings, host: str, port: int) -> Iterator[str]:
    """Warn of a listener that other machines can reach without access control or without TLS."""
    if is_loopback(host):
        return
    if not settings.authenticates:
        yield (
            f"everyone who can reach port {port} of {host} has all permissions: pass --users FILE "
            "(contractlog users add), or listen on 127.0.0.1"
        )
    if not settings.tls_certificate:
        yield (
            f"connections to port {port} of {host} are not encrypted, so others can read passwords: pass "
            "--tls-certificate FILE, or terminate TLS at a proxy and make the port reachable from the proxy only"
        )


def db(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Upgrade, downgrade or show the tables of a database."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    upgrade = _action(actions, "upgrade", "upgrade the tables to this release")
    downgrade = _action(actions, "downgrade", "downgrade the tables to an earlier revision", " 0001")
    downgrade.add_argument("revision", help="a revision, -1 for the previous one, or `base` for no tables")
    current = _action(actions, "current", "show the revision of the database")
    raise_ids = _action(
        actions, "raise-ids", "make new ids start above a number, after a restore from a backup", " --to 1500"
    )
    raise_ids.add_argument("--to", type=int, required=True, metavar="N", help="the largest id that was ever assigned")
    raise_ids.add_argument("--context", default=".", metavar="NAME", help="the context (default: the default context)")
    raise_ids.add_argument("--create", action="store_true", help="create the context if the backup does not contain it")
    lower_ids = _action(
        actions,
        "lower-ids",
        "make new ids of a context start below an isolated high id; repeat for further ones",
        " .eu",
    )
    lower_ids.add_argument("context", metavar="CONTEXT", help="the context; `.` is the default one")
    forget_context = _action(
        actions, "forget-context", "delete a context without live versions, including its ids", " .eu --confirm .eu"
    )
    forget_context.add_argument("context", metavar="NAME", help="the context; `.` is the default one")
    forget_context.add_argument(
        "--confirm",
        required=True,
        metavar="NAME",
        help="the name again, to confirm that no record contains an id of the context",
    )
    prune = _action(
        actions, "prune", "remove old audit results, except the newest of each topic", " --results-days 400"
    )
    prune.add_argument(
        "--results-days",
        type=int,
        metavar="N",
        help="days that results are stored for; 0 is for ever (default: CONTRACTLOG_RESULTS_DAYS, or 400). Hourly "
        "counts of results older than 30 days are merged to days in any case",
    )
    for action in (upgrade, downgrade, current, raise_ids, lower_ids, forget_context, prune):
        _add_database_url(action)
        _add_format(action)
    arguments = parser.parse_args(argv)
    url = Settings.from_environment(database_url=arguments.database_url).database_url
    if arguments.action == "prune":
        return _prune(url, arguments)
    if arguments.action in _CONTEXT_ACTIONS:
        return _CONTEXT_ACTIONS[arguments.action](url, arguments)
    revision: str | None
    if arguments.action == "upgrade":
        revision = newest = database.upgrade(url)
    elif arguments.action == "downgrade":
        revision, newest = database.downgrade(url, arguments.revision), database.newest_revision()
    else:
        revision, newest = database.current_revision(url)
    if arguments.format == "json":
        print(escape_json_line(json.dumps({"format": _DB_FORMAT, "revision": revision, "newest": newest})))
    else:
        print(revision or ("base" if arguments.action == "downgrade" else "none"))
    if arguments.action == "current" and revision != newest:
        print(f"this release needs {newest}: contractlog db upgrade", file=sys.stderr)
    return 0


def _raise_ids(url: str, arguments: Namespace) -> int:
    next_id = id_counter_correction.raise_ids(url, arguments.context, arguments.to, create=arguments.create)
    if arguments.format == "json":
        print(escape_json_line(json.dumps({"format": _DB_FORMAT, "context": arguments.context, "next_id": next_id})))
    else:
        print(next_id)
        print(escape_line(f"the next id of context {arguments.context} is {next_id}"), file=sys.stderr)
    return 0


def _lower_ids(url: str, arguments: Namespace) -> int:
    before, next_id = id_counter_correction.lower_ids(url, arguments.context)
    if arguments.format == "json":
        print(
            escape_json_line(
                json.dumps({"format": _DB_FORMAT, "context": arguments.context, "before": before, "next_id": next_id})
            )
        )
    else:
        print(next_id)
        sentence = f"the next id of context {arguments.context} is {next_id}, it was {before}"
        print(escape_line(sentence), file=sys.stderr)
    return 0


def _forget_context(url: str, arguments: Namespace) -> int:
    ids = context_deletion.forget_context(url, arguments.context, arguments.confirm)
    if arguments.format == "json":
        print(escape_json_line(json.dumps({"format": _DB_FORMAT, "context": arguments.context, "ids": ids})))
    else:
        print(escape_line(f"deleted context {arguments.context} and its {ids:,} ids"), file=sys.stderr)
    return 0


def _prune(url: str, arguments: Namespace) -> int:
    days = Settings.from_environment(results_days=arguments.results_days).results_days
    removed, merged = audit_results.prune_audits(url, days=days)
    if arguments.format == "json":
        print(escape_json_line(json.dumps({"format": _DB_FORMAT, "removed": removed, "merged": merged})))
    else:
        sentence = f"removed {removed:,} audit results older than {days} days" if days else "removed no audit result"
        print(f"{sentence}; merged the hourly counts of {merged:,}", file=sys.stderr)
    return 0


_CONTEXT_ACTIONS: Final[dict[str, Callable[[str, Namespace], int]]] = {
    "raise-ids": _raise_ids,
    "lower-ids": _lower_ids,
    "forget-context": _forget_context,
}


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
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="format of the output (default: text)"
    )


def _add_operating(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--workers", type=int, help="number of serving processes (default: 1); more than one needs PostgreSQL"
    )
    parser.add_argument(
        "--log-format", type=LogFormat, choices=tuple(LogFormat), help="format of the log (default: text)"
    )
    parser.add_argument("--access-log", action="store_true", default=None, help="log each request")


def _add_access(parser: ArgumentParser) -> None:
    """Add the access control settings; those not given are read from the environment."""
    access = parser.add_argument_group(
        "access control", "each can also be set by a variable: CONTRACTLOG_USERS_FILE, CONTRACTLOG_TLS_KEY, …"
    )
    access.add_argument(
        "--trusted-proxies",
        metavar="ADDRESSES",
        help="addresses and networks of proxies, separated by commas, whose X-Forwarded-For has the client's address",
    )
    access.add_argument(
        "--users", dest="users_file", metavar="FILE", help="users and their permissions; see `contractlog users`"
    )
    access.add_argument(
        "--owners", dest="owners_file", metavar="FILE", help="protected subjects, and the owners who approve changes"
    )
    access.add_argument(
        "--anonymous-reads", action="store_true", default=None, help="permit reads to unauthenticated callers"
    )
    access.add_argument(
        "--allowed-hosts",
        metavar="NAMES",
        help="names allowed in the header Host, separated by commas (default: the local machine's on a loopback "
        "address, else all)",
    )
    access.add_argument(
        "--allowed-origins",
        metavar="ORIGINS",
        help="origins of web pages that may write, such as https://NAME of a proxy; separated by commas",
    )
    access.add_argument("--tls-certificate", metavar="FILE", help="certificate chain (PEM) for TLS")
    access.add_argument("--tls-key", metavar="FILE", help="its key, if it is not in the same file")
    access.add_argument("--tls-client-ca", metavar="FILE", help="CA (PEM) that signs client certificates")
    access.add_argument(
        "--tls-client-certificates",
        type=ClientCertificates,
        choices=tuple(ClientCertificates),
        help="whether client certificates are required (default) or optional",
    )


def _add_database_url(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--database-url", metavar="URL", help="sqlite:///FILE (default: sqlite:///contractlog.db) or postgresql://…"
    )
