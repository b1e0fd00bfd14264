"""``contractlog VERB …``: find the verb, call it, turn what went wrong into a sentence and an exit code."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.verbs import VERBS, Verb
from contractlog.compatibility.errors import ContractlogError, RegistryError, ServerError, Unreachable

__all__ = ["main"]

_REFUSED_STATUS: Final = frozenset({401, 403})
_OPERATION_NOT_PERMITTED: Final = 42205


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] in (["--version"], ["-V"]):
        print(f"contractlog {version('contractlog')}")
        return exit_codes.CLEAN
    if not arguments or arguments[0] in {"-h", "--help"}:
        print(_usage())
        return exit_codes.CLEAN if arguments else exit_codes.USAGE
    name, *rest = arguments
    verb = VERBS.get(name)
    if verb is None:
        return _fail(f"`{name}` is no verb of contractlog; `contractlog --help` lists them", exit_codes.USAGE)
    return _run(name, verb, rest)


def _run(name: str, verb: Verb, argv: list[str]) -> int:
    parser = ArgumentParser(
        prog=f"contractlog {name}",
        description=verb.summary[0].upper() + verb.summary[1:] + ".",
        epilog=f"example:\n  {verb.example}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    try:
        return _load(verb)(parser, argv)
    except ModuleNotFoundError as missing:
        if verb.extra is None or (missing.name or "").startswith("contractlog"):
            raise
        return _fail(f"`contractlog {name}` needs more: pip install 'contractlog[{verb.extra}]'", exit_codes.USAGE)
    except ContractlogError as error:
        return _fail(str(error), exit_code_of(error))
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has had enough; nothing is wrong
        return exit_codes.CLEAN
    except KeyboardInterrupt:
        return _fail("interrupted", 130)


def _load(verb: Verb) -> Callable[[ArgumentParser, Sequence[str]], int]:
    module, _, function = verb.target.partition(":")
    loaded: Callable[[ArgumentParser, Sequence[str]], int] = getattr(import_module(module), function)
    return loaded


def exit_code_of(error: ContractlogError) -> int:
    """The exit code that an exception ends a verb with."""
    if isinstance(error, Unreachable | ServerError):
        return exit_codes.UNREACHABLE
    if isinstance(error, RegistryError) and (
        error.code == _OPERATION_NOT_PERMITTED or error.http_status in _REFUSED_STATUS
    ):
        return exit_codes.REFUSED
    return exit_codes.USAGE


def _fail(sentence: str, code: int) -> int:
    print(f"contractlog: {sentence}", file=sys.stderr)
    return code


def _usage() -> str:
    width = max(map(len, VERBS))
    lines = [f"  {name:<{width}}  {verb.summary}" for name, verb in VERBS.items()]
    return "\n".join(
        [
            "usage: contractlog VERB [ARGUMENT …]",
            "",
            "The schema registry that reads the log.",
            "",
            *lines,
            "",
            "`contractlog VERB --help` tells the arguments of a verb, with an example.",
            "",
            "exit codes: 0 clean, 1 findings, 2 usage, 3 registry or broker unreachable, 4 refused by mode or rights",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
