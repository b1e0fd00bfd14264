"""Signatures of webhooks: made by the registry, verified by receivers."""

from __future__ import annotations

import hmac
from hashlib import sha256

import pytest

from contractlog.clients.webhook_signature import InvalidSignature, sign_webhook, verify_webhook

BODY, SECRET = b'[{"id":"1"}]', b"s3cret"


def test_a_signature_is_an_hmac_of_time_and_body() -> None:
    expected = hmac.new(SECRET, b"1000." + BODY, sha256).hexdigest()
    assert sign_webhook(BODY, SECRET, 1_000) == f"t=1000,v1={expected}"
    verify_webhook(BODY, f"t=1000,v1={expected}", SECRET, now=1_290)


@pytest.mark.parametrize(
    ("body", "header", "secret", "now"),
    [
        (BODY + b" ", sign_webhook(BODY, SECRET, 1_000), SECRET, 1_000),
        (BODY, sign_webhook(BODY, SECRET, 1_000), b"other", 1_000),
        (BODY, sign_webhook(BODY, SECRET, 1_000).replace("t=1000", "t=1001"), SECRET, 1_000),
        (BODY, sign_webhook(BODY, SECRET, 1_000), SECRET, 1_301),
        (BODY, sign_webhook(BODY, SECRET, 1_000), SECRET, 699),
        (BODY, None, SECRET, 1_000),
        (BODY, "", SECRET, 1_000),
        (BODY, "t=1000,v1=", SECRET, 1_000),
        (BODY, "sha256=" + "0" * 64, SECRET, 1_000),
    ],
)
def test_a_changed_repeated_or_unsigned_request_is_rejected(
    body: bytes, header: str | None, secret: bytes, now: float
) -> None:
    with pytest.raises(InvalidSignature):
        verify_webhook(body, header, secret, now=now)
