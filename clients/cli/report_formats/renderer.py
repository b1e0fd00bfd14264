"""Table of the report formats; reports on stdout and in files."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from contractlog.clients.atomic_file import open_atomically
from contractlog.clients.cli.error_messages import error_message
from contractlog.clients.cli.output import print_document
from contractlog.clients.cli.report_formats.check_report import relative_path
from contractlog.clients.cli.report_formats.github import render_github
from contractlog.clients.cli.report_formats.gitlab import render_gitlab
from contractlog.clients.cli.report_formats.junit import render_junit
from contractlog.clients.cli.report_formats.markdown import render_markdown
from contractlog.clients.cli.report_formats.report import Report, ReportedFile, ReportedFinding, ReportedRule
from contractlog.clients.cli.report_formats.sarif import render_sarif
from contractlog.compatibility.errors import ContractlogError, UsageError

__all__ = ["RENDERERS", "output_report", "render", "reported_failures"]

RENDERERS: Final[dict[str, Callable[[Report], str]]] = {
    "junit": render_junit,
    "sarif": render_sarif,
    "github": render_github,
    "gitlab": render_gitlab,
    "markdown": render_markdown,
}
REGISTRY_FAILED: Final = ReportedRule(
    "REGISTRY_FAILED",
    "The registry cannot be reached, or rejected a request",
    "The command ended before it had compared all files with the registry.",
)


def render(report: Report, format_name: str) -> str:
    """Return a report in a format of ``RENDERERS``, without control characters or unintended CI commands."""
    return RENDERERS[format_name](report)


def output_report(options: Namespace, build: Callable[[Path, str], Report]) -> None:
    """Print a report if ``--format`` requests one, and write the files of ``--report``.

    Args:
        options: the arguments of the command.
        build: called with the working directory and the version of contractlog, if a report is requested.

    Raises:
        UsageError: a file cannot be written.
    """
    if options.format in RENDERERS or options.reports:
        from importlib.metadata import version  # noqa: PLC0415 - slow to import, and only needed for reports

        report = build(Path.cwd(), version("contractlog"))
        if options.format in RENDERERS:
            print_document(render(report, options.format))
        for format_name, path in options.reports:
            _write_report(path, render(report, format_name))


@contextmanager
def reported_failures(options: Namespace, command: str, argv: Sequence[str], path: str = ".") -> Iterator[None]:
    """Report an error of the registry that ends a command, so that CI shows the reason.

    The report is about ``path``, unless the command has files.
    """
    try:
        yield
    except UsageError:
        raise
    except ContractlogError as error:
        message = error_message(error, argv)
        path = next(iter(getattr(options, "files", ())), path)
        output_report(options, partial(_failure_report, command, path, message))
        raise


def _failure_report(command: str, path: str, message: str, root: Path, tool_version: str) -> Report:
    name = relative_path(Path(path), root)
    finding = ReportedFinding(name, None, None, REGISTRY_FAILED.id, "error", message)
    file = ReportedFile(name, "unreadable", message, (finding,))
    rules = {REGISTRY_FAILED.id: REGISTRY_FAILED}
    summary = "ended early: the registry cannot be reached, or rejected a request"
    return Report(command, summary, (file,), rules, tool_version, completed=False)


def _write_report(path: Path, text: str) -> None:
    try:
        with open_atomically(path) as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UsageError(f"the report `{path}` cannot be written: {error.strerror or error}") from None
