"""Delivery of alerts to a command and to a webhook."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contractlog.clients.webhook_request import MAX_URL, is_allowed_url, post_to_webhook
from contractlog.clients.webhook_signature import SIGNATURE_HEADER, sign_webhook
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.spark_validation.jobs.alerts import Alert, read_alerts, remove_alert

__all__ = ["AlertReceivers", "deliver_alerts", "parse_receivers"]

SECRET_VARIABLE: Final = "CONTRACTLOG_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable
ATTEMPTS: Final = 3
COMMAND_SECONDS: Final = 60.0
_STDERR: Final = 2


@dataclass(frozen=True, slots=True)
class AlertReceivers:
    """Receivers of alerts; each alert goes to all of them."""

    command: tuple[str, ...] = ()
    webhook: str = ""
    private: bool = False  #: whether the webhook may have a private address, or no TLS
    secret: bytes = b""  #: key of the signature; empty for none
    pause: float = 1.0  #: seconds before the second request to the webhook; twice as many before the third

    def __bool__(self) -> bool:
        return bool(self.command or self.webhook)


def parse_receivers(options: Namespace) -> AlertReceivers:
    """Return the receivers that the options name.

    Raises:
        UsageError: the command cannot be split into words, or the URL is not one that may be used.
    """
    try:
        command = tuple(shlex.split(options.on_change or ""))
    except ValueError as error:
        raise UsageError(f"--on-change cannot be split into words: {error}") from None
    if options.on_change is not None and not command:
        raise UsageError("--on-change names no command")
    if options.webhook is not None and not is_allowed_url(options.webhook, private=options.webhook_private):
        raise UsageError(
            f"--webhook needs an https URL with a host, without a user, of at most {MAX_URL:,} characters "
            "(http needs --webhook-private, too)"
        )
    secret = os.environ.get(SECRET_VARIABLE, "").encode()
    return AlertReceivers(command, options.webhook or "", options.webhook_private, secret)


def deliver_alerts(folder: Path, receivers: AlertReceivers, *, print_line: Callable[[str], None]) -> None:
    """Deliver the pending alerts of a folder, oldest first; after a failure, all others stay pending."""
    for alert in read_alerts(folder):
        problem = _run_command(alert, receivers) or _post_alert(alert, receivers)
        if problem:
            print_line(f"an alert was not delivered, the next audit of this folder tries again: {escape_line(problem)}")
            return
        remove_alert(folder, alert)
        print_line(f"delivered an alert: {escape_line('; '.join(alert.text.splitlines()))}")


def _run_command(alert: Alert, receivers: AlertReceivers) -> str:
    """Run the command; return what went wrong, empty if nothing did."""
    if not receivers.command:
        return ""
    environment = {
        **os.environ,
        "CONTRACTLOG_ALERT_TEXT": alert.text,
        "CONTRACTLOG_ALERT_ID": alert.id,
    }
    environment.pop(SECRET_VARIABLE, None)
    try:
        done = subprocess.run(  # noqa: S603 - the command that the user names
            receivers.command,
            input=json.dumps(alert.body).encode(),
            stdout=_STDERR,  # standard output has the report
            env=environment,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"the command of --on-change did not end within {COMMAND_SECONDS:.0f} seconds"
    except OSError as error:
        return f"the command of --on-change cannot be run: {error.strerror or error}"
    return f"the command of --on-change ended with exit code {done.returncode}" if done.returncode else ""


def _post_alert(alert: Alert, receivers: AlertReceivers) -> str:
    """Post the alert to the webhook; return what went wrong, empty if nothing did."""
    if not receivers.webhook:
        return ""
    problem = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(receivers.pause * attempt)
        problem = _post_once(alert, receivers)
        if not problem:
            return ""
    return problem


def _post_once(alert: Alert, receivers: AlertReceivers) -> str:
    content = json.dumps(alert.body).encode()
    headers = {"Content-Type": "application/json", "X-Contractlog-Alert": alert.id}
    if receivers.secret:
        headers[SIGNATURE_HEADER] = sign_webhook(content, receivers.secret, int(time.time()))
    return post_to_webhook(receivers.webhook, content, headers, private=receivers.private, option="--webhook-private")
