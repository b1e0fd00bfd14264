"""Table of the report formats; reports on stdout and in files."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from contractlog.clients.atomic_file import open_atomically
from contractlog.clients.cli.error_messages import error_message
from contractlog.clients.cli.output import print_document, print_json
from contractlog.clients.cli.report_formats.error_report import EndingError, error_report
from contractlog.clients.cli.report_formats.github import render_github
from contractlog.clients.cli.report_formats.gitlab import render_gitlab
from contractlog.clients.cli.report_formats.junit import render_junit
from contractlog.clients.cli.report_formats.markdown import render_markdown
from contractlog.clients.cli.report_formats.report import Report
from contractlog.clients.cli.report_formats.sarif import render_sarif
from contractlog.clients.cli.report_formats.warning_report import add_folder_warnings, fail_files
from contractlog.compatibility.errors import ContractlogError, UsageError
from contractlog.compatibility.lint.rule import Severity

__all__ = ["RENDERERS", "output_json", "output_report", "render", "reported_failures"]

RENDERERS: Final[dict[str, Callable[[Report], str]]] = {
    "junit": render_junit,
    "sarif": render_sarif,
    "github": render_github,
    "gitlab": render_gitlab,
    "markdown": render_markdown,
}


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
    options.is_reported = True
    if options.format in RENDERERS or options.reports:
        from importlib.metadata import version  # noqa: PLC0415 - slow to import, and only needed for reports

        root = Path.cwd()
        report = add_folder_warnings(build(root, version("contractlog")), getattr(options, "folder_warnings", ()), root)
        report = fail_files(report, Severity(getattr(options, "fail_on", Severity.ERROR)))
        if options.format in RENDERERS:
            print_document(render(report, options.format))
        for format_name, path in options.reports:
            _write_report(path, render(report, format_name))


def output_json(options: Namespace, body: Mapping[str, Any]) -> None:
    """Print the JSON document of a command, if ``--format`` requests it."""
    if options.format == "json":
        options.is_json_printed = True
        print_json(body)


@contextmanager
def reported_failures(options: Namespace, command: str, argv: Sequence[str], path: str = ".") -> Iterator[None]:
    """Report an error that ends a command before its report, so that CI shows the reason.

    An error without a position is reported for ``path``, unless the command has files.
    """
    try:
        yield
    except ContractlogError as error:
        error.facts.setdefault("environment", getattr(options, "environment", None))
        path = next(iter(getattr(options, "files", ())), path)
        ending = EndingError(command, path, error, error_message(error, argv))
        if not getattr(options, "is_reported", False):
            output_report(options, partial(error_report, ending))
        if not getattr(options, "is_json_printed", False):
            output_json(options, ending.body())
        raise


def _write_report(path: Path, text: str) -> None:
    try:
        with open_atomically(path) as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UsageError(f"the report `{path}` cannot be written: {error.strerror or error}") from None
