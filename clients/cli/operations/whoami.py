"""``contractlog whoami``: the registry, the user and the permissions."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.credential_selection import select_security
from contractlog.clients.cli.options import (
    add_environment,
    add_format,
    add_output,
    add_registry,
    connect,
    select_context,
)
from contractlog.clients.cli.output import apply_output_options, print_json, print_message, print_result, print_table
from contractlog.clients.cli.registry_lookups import fetch_if_supported
from contractlog.clients.registry import Registry
from contractlog.clients.settings import RegistryAddress, registry_url
from contractlog.compatibility.errors import Forbidden
from contractlog.compatibility.identifiers import qualify_subject

__all__ = ["whoami"]

FORMAT: Final = "contractlog.whoami/1"
_ANY_SUBJECT: Final = "contractlog-whoami"  #: the request for the user names a subject, which need not exist
_MAX_SUBJECTS: Final = 100


def whoami(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Show the registry, the user it knows the caller as, and the permissions on subjects."""
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="show the permissions on these subjects")
    add_environment(parser)
    add_registry(parser)
    add_format(parser)
    add_output(parser, kept="results and errors")
    options = parser.parse_intermixed_args(argv)
    if len(options.subjects) > _MAX_SUBJECTS:
        parser.error(f"at most {_MAX_SUBJECTS} subjects at a time")
    with apply_output_options(options):
        return _run(options)


def _run(options: Namespace) -> int:
    context = select_context(options)
    subjects = [qualify_subject(subject, context) for subject in options.subjects]
    with connect(options) as registry:
        body = {
            "format": FORMAT,
            "registry": registry.url,
            "server_version": _read_server_version(registry),
            "credentials": _describe_credentials(options),
            **_read_permissions(registry, subjects),
        }
    if options.format == "json":
        print_json(body)
    else:
        _print_identity(body)
    return exit_codes.CLEAN


def _read_server_version(registry: Registry) -> str | None:
    try:
        return fetch_if_supported(registry.server_version)
    except Forbidden:
        return None


def _describe_credentials(options: Namespace) -> str:
    """Return the kind of the credentials that are sent, and the user name in them, but no secret."""
    user = next(
        (address.user for address in RegistryAddress.parse(registry_url(options.registry)) if address.user), None
    )
    security = select_security(options)
    if user is not None or security.user is not None:
        return f"password of user `{user or security.user}`"
    if security.token is not None:
        return "bearer token"
    return "client certificate" if security.certificate is not None else "none"


def _read_permissions(registry: Registry, subjects: Sequence[str]) -> dict[str, Any]:
    """Return the user and the permissions on all subjects and on these, as far as they are known."""
    own = fetch_if_supported(lambda: registry.permissions(_ANY_SUBJECT))
    user = None if own is None else str(own.get("user"))
    try:
        registry.subjects(limit=1)
        reads_all: bool = True
    except Forbidden:
        reads_all = False
    rows = []
    for subject in dict.fromkeys(subjects):
        allowed = None if own is None else registry.permissions(subject)
        rows.append({"subject": subject, **{name: allowed and bool(allowed.get(name)) for name in ("read", "write")}})
    return {"user": user, "reads_all_subjects": reads_all, "permissions": rows}


def _print_identity(body: dict[str, Any]) -> None:
    facts = [("registry", body["registry"]), ("version", body["server_version"]), ("credentials", body["credentials"])]
    facts += [("user", body["user"]), ("reads every subject", "yes" if body["reads_all_subjects"] else "no")]
    print_table(("FACT", "VALUE"), facts)
    rows = body["permissions"]
    words = {True: "yes", False: "no", None: None}
    if rows:
        print_result("")
    print_table(
        ("SUBJECT", "READ", "WRITE"), [(row["subject"], words[row["read"]], words[row["write"]]) for row in rows]
    )
    if body["user"] is None:
        print_message("this registry tells neither the user nor the permissions: only contractlog does")
    elif not rows:
        print_message("to see permissions, name subjects: contractlog whoami SUBJECT …")
