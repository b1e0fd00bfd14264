"""The command ``users``: edits the users file and permissions that ``serve --users`` reads."""

from __future__ import annotations

import getpass
import json
import secrets
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.text.terminal_text import escape_json_line, escape_line
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file import check_name
from contractlog.registry.access.users_file_editor import (
    add_user,
    format_entry,
    read_users,
    remove_user,
    require_file,
    user_exists_error,
)
from contractlog.registry.settings import Settings

__all__ = ["users"]

_FORMAT: Final = "contractlog.users/1"
_FURTHER_MEMBERS: Final = ("read_keys", "write_keys", "break_glass")
_GENERATED_PASSWORD_BYTES: Final = 24
_MAX_PASSWORD_BYTES: Final = 1024  #: bytes


def users(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Add, remove or list the users of a file."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = _action(actions, "add", "add a user", " ci --write 'orders-*'")
    add.add_argument(
        "name",
        help="the name; for a client certificate, its subject, its only common name, or dns:NAME, uri:NAME …",
    )
    add.add_argument(
        "--read",
        action="append",
        default=[],
        metavar="SUBJECTS",
        help="permit reading these subjects: orders-value, orders-*, :.eu:*, *; may be repeated",
    )
    add.add_argument(
        "--write",
        action="append",
        default=[],
        metavar="SUBJECTS",
        help="permit writing and reading these subjects; may be repeated",
    )
    add.add_argument(
        "--read-keys",
        action="append",
        default=[],
        metavar="KEKS",
        help="permit reading these encryption keys, by names of KEKs: pii, pii-*, *; may be repeated",
    )
    add.add_argument(
        "--write-keys",
        action="append",
        default=[],
        metavar="KEKS",
        help="permit writing and reading these encryption keys; may be repeated",
    )
    add.add_argument(
        "--break-glass",
        action="append",
        default=[],
        metavar="SUBJECTS",
        help="permit changing these protected subjects without approvals, with a reason; needs --write, too; may be "
        "repeated",
    )
    kind = add.add_mutually_exclusive_group()
    kind.add_argument("--generate", action="store_true", help="generate a password and print it")
    kind.add_argument("--no-password", action="store_true", help="the user authenticates with a client certificate")
    add.add_argument(
        "--replace", action="store_true", help="replace the existing user of this name, with password and permissions"
    )
    remove = _action(actions, "remove", "remove a user", " ci")
    remove.add_argument("name", help="the name")
    _action(actions, "list", "list the users", "")
    options = parser.parse_args(argv)
    path = Settings.from_environment(users_file=options.file).users_file
    if not path:
        raise UsageError("no users file: pass --file FILE or set CONTRACTLOG_USERS_FILE")
    return {"add": _add, "remove": _remove, "list": _list}[options.action](Path(path), options)


def _action(actions: Any, name: str, summary: str, words: str) -> ArgumentParser:
    parser: ArgumentParser = actions.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"example:\n  contractlog users {name}{words} --file users.toml",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--file", metavar="FILE", help="the users file (else CONTRACTLOG_USERS_FILE)")
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="format of the output (default: text)"
    )
    return parser


def _add(path: Path, options: Namespace) -> int:
    try:
        name = check_name(options.name, password=not options.no_password)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if not all(options.read + options.write + options.break_glass):
        raise UsageError(
            "--read, --write and --break-glass name subjects, such as orders-* or *; an empty one was given"
        )
    if not all(options.read_keys + options.write_keys):
        raise UsageError("--read-keys and --write-keys name KEKs, such as pii-* or *; an empty one was given")
    require_file(path)
    if path.exists() and name in read_users(path)[1].by_name and not options.replace:
        raise user_exists_error(path, name)  # before prompting for a password; checked again under the lock
    password = None if options.no_password else _read_password(generate=options.generate)
    hashed = None if password is None else HashedPassword.of(password)
    entry = format_entry(
        name,
        hashed,
        options.read,
        options.write,
        read_keys=options.read_keys,
        write_keys=options.write_keys,
        break_glass=options.break_glass,
    )
    replaced = add_user(path, name, entry, replace=options.replace)
    report = {"format": _FORMAT, "file": str(path), "name": name, "action": "replaced" if replaced else "added"}
    if options.generate:
        report["password"] = password or ""
    permissions = f"reads {' '.join(options.read) or '-'}, writes {' '.join(options.write) or '-'}"
    if options.read_keys or options.write_keys:
        read_keys, write_keys = (" ".join(names) or "-" for names in (options.read_keys, options.write_keys))
        permissions += f", reads keys {read_keys}, writes keys {write_keys}"
    if options.break_glass:
        permissions += f", changes {' '.join(options.break_glass)} without approvals"
    done = f"replaced user `{name}` in `{path}`" if replaced else f"added user `{name}` to `{path}`"
    _report(options, report, f"{done}: {permissions}")
    if options.generate and options.format == "text":
        print(password)
    if not any((options.read, options.write, options.read_keys, options.write_keys)):
        print(escape_line(f"user {name} has no permissions yet: pass --read or --write"), file=sys.stderr)
    return 0


def _read_password(*, generate: bool) -> str:
    if generate:
        return secrets.token_urlsafe(_GENERATED_PASSWORD_BYTES)
    if sys.stdin.isatty():
        password = getpass.getpass("password: ")
        if getpass.getpass("once more: ") != password:
            raise UsageError("the two passwords differ")
    else:
        password = _read_piped_password(sys.stdin.buffer.readline(_MAX_PASSWORD_BYTES + 3))
    if not password:
        raise UsageError("a password cannot be empty; write it to standard input, or pass --generate")
    return password


def _read_piped_password(line: bytes) -> str:
    """Read a password from the first line of standard input: every byte except the line ending.

    Raises:
        UsageError: it is too long, or is not UTF-8.
    """
    secret = line.removesuffix(b"\n")
    if secret != line:
        secret = secret.removesuffix(b"\r")
    if len(secret) > _MAX_PASSWORD_BYTES:
        raise UsageError(
            f"a password has at most {_MAX_PASSWORD_BYTES} bytes; the first line of standard input has more"
        )
    try:
        return secret.decode()
    except UnicodeDecodeError:
        raise UsageError("a password is text in UTF-8; the first line of standard input has other bytes") from None


def _remove(path: Path, options: Namespace) -> int:
    remove_user(path, options.name)
    report = {"format": _FORMAT, "file": str(path), "name": options.name, "action": "removed"}
    _report(options, report, f"removed user `{options.name}` from `{path}`")
    return 0


def _report(options: Namespace, report: dict[str, str], sentence: str) -> None:
    """Print the result: JSON on stdout, or text on stderr, so that stdout has a generated password alone."""
    if options.format == "json":
        print(escape_json_line(json.dumps(report)))
    else:
        print(escape_line(sentence), file=sys.stderr)


def _list(path: Path, options: Namespace) -> int:
    text, users = read_users(path)
    by_name = users.by_name
    members_by_name = _parse_members(text)
    written = {name: (members.get("read", []), members.get("write", [])) for name, members in members_by_name.items()}
    further = {
        name: {member: members[member] for member in _FURTHER_MEMBERS if members.get(member)}
        for name, members in members_by_name.items()
    }
    if options.format == "json":
        listed = [
            {
                "name": name,
                "read": read,
                "write": write,
                **further[name],
                "password": by_name[name].password is not None,
            }
            for name, (read, write) in written.items()
        ]
        print(escape_json_line(json.dumps({"format": _FORMAT, "file": str(path), "users": listed})))
        return 0
    for name, (read, write) in written.items():
        kind = "password" if by_name[name].password is not None else "certificate"
        granted = "".join(f"  {member}: {' '.join(names)}" for member, names in further[name].items())
        line = f"{name}  read: {' '.join(read) or '-'}  write: {' '.join(write) or '-'}{granted}  by {kind}"
        print(escape_line(line))
    return 0


def _parse_members(text: str) -> dict[str, dict[str, Any]]:
    import tomllib  # noqa: PLC0415 - `parse` has imported it already

    members: dict[str, dict[str, Any]] = tomllib.loads(text).get("users", {})
    return members
