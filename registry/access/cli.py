"""The verb ``users``: who may do what, kept in a file that ``serve --users`` reads."""

from __future__ import annotations

import getpass
import json
import os
import secrets
import sys
import tempfile
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from contractlog.compatibility.errors import UsageError
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users import Users, checked_name, entry, parse, unreadable, without
from contractlog.registry.settings import Settings

__all__ = ["users"]

_FORMAT: Final = "contractlog.users/1"
_GENERATED_BYTES: Final = 24
_OWNER_ONLY: Final = 0o600
_HEAD: Final = "# Who may read and write which subjects; made by `contractlog users`, read again when it changes.\n\n"


def users(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Add, remove or list the users of a file."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = _action(actions, "add", "add a user, or replace one", " ci --write 'orders-*'")
    add.add_argument("name", help="the name; of those who come with a certificate its subject, or its common name")
    add.add_argument(
        "--read", action="append", default=[], metavar="SUBJECTS", help="orders-value, orders-*, :.eu:*, *"
    )
    add.add_argument("--write", action="append", default=[], metavar="SUBJECTS", help="the same; includes reading")
    kind = add.add_mutually_exclusive_group()
    kind.add_argument("--generate", action="store_true", help="make a password, and print it")
    kind.add_argument("--no-password", action="store_true", help="the user comes with a certificate")
    remove = _action(actions, "remove", "remove a user", " ci")
    remove.add_argument("name", help="the name")
    _action(actions, "list", "list the users", "")
    options = parser.parse_args(argv)
    path = Settings.from_environment(users_file=options.file).users_file
    if not path:
        raise UsageError("which file? Give --file FILE or set CONTRACTLOG_USERS_FILE")
    return {"add": _add, "remove": _remove, "list": _list}[options.action](Path(path), options)


def _action(actions: Any, name: str, summary: str, words: str) -> ArgumentParser:
    parser: ArgumentParser = actions.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"example:\n  contractlog users {name}{words} --file users.toml",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--file", metavar="FILE", help="the file of users (else CONTRACTLOG_USERS_FILE)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="of the result (default: text)")
    return parser


def _add(path: Path, options: Namespace) -> int:
    try:
        name = checked_name(options.name)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if not all(options.read + options.write):
        raise UsageError("--read and --write name subjects, such as orders-* or *; an empty one was given")
    text = _read(path) if path.exists() else _HEAD
    _parsed(path, text)
    password = None if options.no_password else _password(generate=options.generate)
    hashed = None if password is None else HashedPassword.of(password)
    kept = without(text, name).rstrip("\n")
    new = f"{kept}\n\n" + entry(name, hashed, options.read, options.write)
    try:
        parse(new)
    except ValueError as error:
        raise UsageError(f"{error}; {path} stays as it was") from None
    _write(path, new)
    answer = {"format": _FORMAT, "file": str(path), "name": name}
    if options.generate:
        answer["password"] = password or ""
    if options.format == "json":
        print(json.dumps(answer))
    elif options.generate:
        print(password)
    if not options.read and not options.write:
        print(f"user {name} may do nothing yet: give --read or --write", file=sys.stderr)
    return 0


def _password(*, generate: bool) -> str:
    if generate:
        return secrets.token_urlsafe(_GENERATED_BYTES)
    if sys.stdin.isatty():
        password = getpass.getpass("password: ")
        if getpass.getpass("once more: ") != password:
            raise UsageError("the two passwords differ")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise UsageError("a password cannot be empty; write it to standard input, or give --generate")
    return password


def _remove(path: Path, options: Namespace) -> int:
    text = _read(path)
    if options.name not in _parsed(path, text).by_name:
        raise UsageError(f"{path} has no user `{options.name}`")
    _write(path, without(text, options.name))
    if options.format == "json":
        print(json.dumps({"format": _FORMAT, "file": str(path), "name": options.name}))
    return 0


def _list(path: Path, options: Namespace) -> int:
    found = _parsed(path, text := _read(path)).by_name
    written = {name: (members.get("read", []), members.get("write", [])) for name, members in _members(text).items()}
    if options.format == "json":
        listed = [
            {"name": name, "read": read, "write": write, "password": found[name].password is not None}
            for name, (read, write) in written.items()
        ]
        print(json.dumps({"format": _FORMAT, "file": str(path), "users": listed}))
        return 0
    for name, (read, write) in written.items():
        kind = "password" if found[name].password is not None else "certificate"
        print(f"{name}  read: {' '.join(read) or '-'}  write: {' '.join(write) or '-'}  by {kind}")
    return 0


def _members(text: str) -> dict[str, dict[str, Any]]:
    import tomllib  # noqa: PLC0415 - `parse` has read it already

    found: dict[str, dict[str, Any]] = tomllib.loads(text).get("users", {})
    return found


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from None


def _parsed(path: Path, text: str) -> Users:
    try:
        return parse(text)
    except ValueError as error:
        raise UsageError(f"the file of users {path} cannot be used: {error}") from None


def _write(path: Path, text: str) -> None:
    """Put the new file in the place of the old one at once: a server may be reading it. Only its owner may."""
    target = path.resolve()
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else _OWNER_ONLY
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=target.parent, prefix=f".{target.name}.", delete=False
        ) as file:
            file.write(text)
        Path(file.name).chmod(mode)
        os.replace(file.name, target)  # noqa: PTH105 - the target may be a string of any kind of path
    except OSError as error:
        raise UsageError(f"the file of users `{path}` cannot be written: {error.strerror}") from None
