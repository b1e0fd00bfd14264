"""Names in server certificates that clients accept, by handshakes in memory."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from contractlog.clients.settings import Security, create_system_tls_context

from support.tls import Authority, Pair

NAME = "registry.internal"
SUBJECT = [(NameOID.COMMON_NAME, NAME)]


def context_of_a_ca(ca: Path) -> ssl.SSLContext:
    context = Security(ca=str(ca)).tls_context()
    assert context is not None
    return context


def context_of_the_system(ca: Path) -> ssl.SSLContext:
    context = create_system_tls_context()
    context.load_verify_locations(ca)
    return context


@pytest.fixture(params=[context_of_a_ca, context_of_the_system])
def context(request: pytest.FixtureRequest, authority: Authority) -> ssl.SSLContext:
    create: Callable[[Path], ssl.SSLContext] = request.param
    return create(authority.certificate)


def shake_hands(client_context: ssl.SSLContext, pair: Pair) -> None:
    """Connect to a server with a certificate, by its name."""
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_context.load_cert_chain(pair.certificate, pair.key)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context.wrap_bio(to_client, to_server, server_hostname=NAME)
    server = server_context.wrap_bio(to_server, to_client, server_side=True)
    for side in (client, server, client):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue


def test_a_name_in_the_subject_alone_is_not_accepted(authority: Authority, context: ssl.SSLContext) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="mismatch"):
        shake_hands(context, authority.sign_certificate("subject", SUBJECT))


def test_an_alternative_name_is_accepted(authority: Authority, context: ssl.SSLContext) -> None:
    shake_hands(context, authority.sign_certificate("named", SUBJECT, [x509.DNSName(NAME)]))


def test_a_certificate_for_clients_alone_is_not_accepted(authority: Authority, context: ssl.SSLContext) -> None:
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
    with pytest.raises(ssl.SSLCertVerificationError, match="purpose"):
        shake_hands(context, authority.sign_extension("caller", usage))
