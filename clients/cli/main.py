"""Entry point of ``contractlog VERB …``: dispatch to the verb, error messages and exit codes."""

from __future__ import annotations

import gc
import os
import signal
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Final, TextIO

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.verb_parser import VerbParser, suggest_name
from contractlog.clients.cli.verbs import VERBS, Section, Verb
from contractlog.clients.functions_by_name import import_function
from contractlog.compatibility.errors import (
    BrokerDenied,
    ContractlogError,
    IncompatibleSchema,
    NotFound,
    ReferenceExists,
    RegistryError,
    Unreachable,
)
from contractlog.compatibility.text.encodable_text import is_encodable

__all__ = ["main"]

_NOT_PERMITTED_STATUS: Final = frozenset({401, 403})
_BUSY_STATUS: Final = frozenset({408, 429})
_FAILED_STATUS: Final = 500
_INTERRUPTED: Final = 130  # as in shells: 128 plus the number of the signal
_BROKEN_PIPE: Final = 141
_OPERATION_NOT_PERMITTED: Final = 42205


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _open_streams()
    try:
        code = _exit_code(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        # The reader closed the pipe before the verdict was written, so this is not a success.
        _discard_output(sys.stdout)
        _discard_output(sys.stderr)
        return _BROKEN_PIPE
    except KeyboardInterrupt:
        gc.freeze()  # collecting what was read, such as hundreds of thousands of versions, would delay the end
        return _report_failure(_INTERRUPTED, "interrupted")
    except OSError as error:  # a full disk, a read-only folder
        _discard_output(sys.stdout)
        return _report_failure(exit_codes.USAGE, f"a file or the output cannot be used: {error}")
    except Exception as error:  # noqa: BLE001 - uncaught, the exit code would be 1: findings
        return _report_failure(exit_codes.INTERNAL_ERROR, *_internal_error_lines(error))
    return code


def _discard_output(stream: TextIO) -> None:
    """Send the rest of a standard stream to the null device, so that writing it cannot fail again."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _open_streams() -> None:
    """Replace closed standard streams, which are None in Python, by empty input and the null device."""
    if sys.stdin is None:
        sys.stdin = TextIOWrapper(BytesIO(), encoding="utf-8")
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - for the whole process


def _exit_code(arguments: list[str]) -> int:
    try:
        return _dispatch(arguments)
    except SystemExit as done:  # argparse has printed help or an error
        return done.code if isinstance(done.code, int) else exit_codes.USAGE


def _dispatch(arguments: list[str]) -> int:
    for argument in arguments:
        if not is_encodable(argument):
            written = ascii(argument)[1:-1].replace("\\udc", "\\x")  # the bytes as they were passed
            message = f"the argument `{written}` is not UTF-8: rename the file, or correct the encoding of the shell"
            return _report_failure(exit_codes.USAGE, message)
    for name, value in os.environ.items():
        if name.startswith("CONTRACTLOG_") and not is_encodable(name + value):  # the value may be a password
            return _report_failure(exit_codes.USAGE, f"the variable {ascii(name)[1:-1]} is not UTF-8: set it again")
    if arguments[:1] in (["--version"], ["-V"]):
        from importlib.metadata import version  # noqa: PLC0415 - takes as long as the rest of the start

        print(f"contractlog {version('contractlog')}")
        return exit_codes.CLEAN
    if not arguments or arguments[0] in {"-h", "--help"}:
        print(_usage_text(), file=sys.stdout if arguments else sys.stderr)
        return exit_codes.CLEAN if arguments else exit_codes.USAGE
    name, *rest = arguments
    verb = VERBS.get(name)
    if verb is None:
        message = f"unknown verb `{name}`{suggest_name(name, VERBS) or '; `contractlog --help` lists the verbs'}"
        return _report_failure(exit_codes.USAGE, message)
    return _run_verb(name, verb, rest)


def _run_verb(name: str, verb: Verb, argv: list[str]) -> int:
    parser = VerbParser(
        prog=f"contractlog {name}",
        description=verb.summary[0].upper() + verb.summary[1:] + ".",
        epilog=f"example:\n  {verb.example}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    if verb.daemon:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a reload during the start must not end it
    try:
        return _load_verb(verb)(parser, argv)
    except ModuleNotFoundError as missing:
        if verb.extra is None or (missing.name or "").startswith("contractlog"):
            raise
        return _report_failure(
            exit_codes.USAGE, f"`contractlog {name}` needs an extra: pip install 'contractlog[{verb.extra}]'"
        )
    except ContractlogError as error:
        from contractlog.clients.cli.error_messages import error_message  # noqa: PLC0415 - only needed after an error

        return _report_failure(exit_code_of(error), error_message(error, argv), *error.facts.get("details", ()))


def _load_verb(verb: Verb) -> Callable[[ArgumentParser, Sequence[str]], int]:
    gc.disable()  # imported objects are not garbage; collecting takes 5 % of the start of `serve`
    try:
        loaded: Callable[[ArgumentParser, Sequence[str]], int] = import_function(verb.target)
    finally:
        gc.enable()
    return loaded


def exit_code_of(error: ContractlogError) -> int:
    """Return the exit code for an exception."""
    if isinstance(error, (IncompatibleSchema, ReferenceExists)):
        return exit_codes.FINDINGS
    if isinstance(error, Unreachable) or (type(error) is NotFound and "url" in error.facts):  # no registry is there
        return exit_codes.UNREACHABLE
    if isinstance(error, BrokerDenied):
        return exit_codes.REFUSED
    if not isinstance(error, RegistryError):
        return exit_codes.USAGE
    status = int(str(error.error_code)[:3])
    if status >= _FAILED_STATUS or status in _BUSY_STATUS:
        return exit_codes.UNREACHABLE
    refused = error.code == _OPERATION_NOT_PERMITTED or status in _NOT_PERMITTED_STATUS
    return exit_codes.REFUSED if refused else exit_codes.USAGE


def _internal_error_lines(error: Exception) -> list[str]:
    """Return the lines that report a defect of contractlog; with CONTRACTLOG_TRACEBACK set, the traceback."""
    if os.environ.get("CONTRACTLOG_TRACEBACK"):
        from traceback import format_exception  # noqa: PLC0415 - only needed after an error

        return "".join(format_exception(error)).splitlines()
    return [
        (
            f"internal error, a defect of contractlog ({type(error).__name__}: {error}). "
            "Set CONTRACTLOG_TRACEBACK=1, run the command again, and report what it prints."
        )
    ]


def _report_failure(code: int, *lines: str) -> int:
    from contractlog.clients.cli.output import print_error  # noqa: PLC0415 - only needed after an error

    try:
        for number, line in enumerate(lines):
            print_error(line if number else f"contractlog: {line}")
        sys.stderr.flush()
    except OSError:  # stderr cannot be written, and only the exit code is left to report the failure
        _discard_output(sys.stderr)
    return code


def _usage_text() -> str:
    width = max(map(len, VERBS))
    lines = []
    for section in Section:
        lines += ["", f"{section.value}:"]
        lines += [f"  {name:<{width}}  {verb.summary}" for name, verb in VERBS.items() if verb.section is section]
    return "\n".join(
        [
            "usage: contractlog VERB [ARGUMENT …]",
            "",
            "The schema registry that reads the log.",
            *lines,
            "",
            "`contractlog VERB --help` shows the arguments of a verb, with an example.",
            "",
            "exit codes: 0 success, 1 findings, 2 usage error, 3 registry or broker unreachable, 4 not permitted,",
            "            70 internal error of contractlog, 130 interrupted",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
