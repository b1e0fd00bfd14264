"""Signature of requests to webhooks, by registries and audits, and its verification by the receivers."""

from __future__ import annotations

import hmac
import re
import time
from hashlib import sha256
from typing import Final

__all__ = ["SIGNATURE_HEADER", "InvalidSignature", "sign_webhook", "verify_webhook"]

SIGNATURE_HEADER: Final = "X-Contractlog-Signature"
_SIGNATURE: Final = re.compile(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})")
_TOLERANCE: Final = 300.0  #: seconds


class InvalidSignature(ValueError):
    """A request has another sender, was changed on its way, or is a repetition of an old one."""


def sign_webhook(body: bytes, secret: bytes, at: int) -> str:
    """Return the value of the header for a body that is sent at a time, in seconds since 1970.

    It is ``t=<at>,v1=<HMAC-SHA256 of "<at>." and the body>``.
    """
    return f"t={at},v1={hmac.new(secret, b'%d.' % at + body, sha256).hexdigest()}"


def verify_webhook(
    body: bytes, header: str | None, secret: bytes, *, tolerance: float = _TOLERANCE, now: float | None = None
) -> None:
    """Verify the signature of a request to a webhook.

    Args:
        body: as it was received.
        header: the value of ``X-Contractlog-Signature``.
        secret: ``CONTRACTLOG_WEBHOOK_SECRET`` of the registry or audit.
        tolerance: maximum age of the request, and difference of the clocks, in seconds.
        now: seconds since 1970; None is the time of this machine.

    Raises:
        InvalidSignature: the request must be rejected.
    """
    match = _SIGNATURE.fullmatch(header or "")
    if match is None:
        raise InvalidSignature(f"the header {SIGNATURE_HEADER} is missing or invalid")
    at = int(match[1])
    if not hmac.compare_digest(sign_webhook(body, secret, at), match[0]):
        raise InvalidSignature("the signature is not that of this body and secret")
    if abs((time.time() if now is None else now) - at) > tolerance:
        raise InvalidSignature(f"the request was signed more than {tolerance:g} seconds ago or ahead")
