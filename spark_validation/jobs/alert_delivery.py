"""Delivery of alerts to a command and to a webhook."""

from __future__ import annotations

import hmac
import json
import os
import shlex
import socket
import subprocess
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

from contractlog.clients.settings import create_system_tls_context
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.terminal_text import escape_line
from contractlog.spark_validation.jobs.alerts import Alert, read_alerts, remove_alert

__all__ = ["AlertReceivers", "deliver_alerts", "parse_receivers"]

SECRET_VARIABLE: Final = "CONTRACTLOG_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable
ATTEMPTS: Final = 3
SECONDS: Final = 10.0  #: time limit of a request
COMMAND_SECONDS: Final = 60.0
MAX_URL: Final = 2_000  #: characters
_STDERR: Final = 2
_NAT64: Final = IPv6Network("64:ff9b::/96")
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
_RESERVED: Final = (IPv6Network("3fff::/20"), IPv4Network("192.0.0.0/24"))  #: unknown to earlier releases of Python
_PORTS: Final = {"https": 443, "http": 80}


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
    url = _split_url(options.webhook or "")
    if options.webhook is not None and not (
        url.hostname
        and url.username is None
        and len(options.webhook) <= MAX_URL
        and (url.scheme == "https" or (url.scheme == "http" and options.webhook_private))
    ):
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
    import httpx2  # noqa: PLC0415 - slow to import, and only needed for alerts

    from contractlog.clients.blocking_deadline import TimeLimit  # noqa: PLC0415 - needs httpx2

    url = _split_url(receivers.webhook)
    host, port = url.hostname or "", url.port or _PORTS[url.scheme]
    content = json.dumps(alert.body).encode()
    headers = {
        "Content-Type": "application/json",
        "X-Contractlog-Alert": alert.id,
        "Host": url.netloc.rpartition("@")[2],
    }
    if receivers.secret:
        headers["X-Contractlog-Signature"] = f"sha256={hmac.new(receivers.secret, content, sha256).hexdigest()}"
    try:
        address = _resolve(host, port, private=receivers.private)
        # The connection goes to the address that was checked, and not to what the name means a moment later.
        literal = f"[{address}]" if ":" in address else address
        target = url._replace(netloc=f"{literal}:{port}").geturl()
        limit = TimeLimit()
        verify = create_system_tls_context(trust_env=False)
        with httpx2.Client(timeout=SECONDS, follow_redirects=False, trust_env=False, verify=verify) as client:
            limit.apply_to(client)
            request = client.build_request(
                "POST", target, content=content, headers=headers, extensions={"sni_hostname": host}
            )
            with limit.within(SECONDS):
                response = client.send(request, stream=True)  # the body is not read
                response.close()
    except (httpx2.HTTPError, OSError, ValueError) as error:
        return f"the webhook of {host} failed: {str(error) or type(error).__name__}"
    if not response.is_success:
        return f"the webhook of {host} responded with status {response.status_code}"
    return ""


def _resolve(host: str, port: int, *, private: bool) -> str:
    """Return an address of a host.

    Raises:
        OSError: there is none, or it is private and may not be used.
    """
    addresses = [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    if not private and not all(map(_is_public, addresses)):
        raise OSError(f"{host} has a private address; --webhook-private allows that")
    return addresses[0]


def _is_public(address: str) -> bool:
    """Return whether an address is public, and the IPv4 address that it embeds for NAT64 or 6to4."""
    ip = ip_address(address)
    if isinstance(ip, IPv6Address):
        embedded = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            embedded = IPv4Address(ip.packed[-4:])
        if embedded is not None:
            return embedded.is_global and not embedded.is_multicast
        if ip not in _GLOBAL_UNICAST:
            return False
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in _RESERVED)


def _split_url(text: str) -> SplitResult:
    """Split a URL; one that cannot be split has no host."""
    try:
        url = urlsplit(text)
        _ = url.port
    except ValueError:
        return urlsplit("")
    return url
