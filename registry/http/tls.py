"""TLS listener: certificates that are reloaded when they change, client certificates as callers."""

from __future__ import annotations

import asyncio
import logging
import ssl
from asyncio import Transport
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from contractlog.compatibility.errors import UsageError
from contractlog.registry.access.certificate_names import CERTIFICATE, ClientCertificate
from contractlog.registry.file_stamps import file_stamp, open_regular_file
from contractlog.registry.http.fastpath.direct_protocol import DirectProtocol
from contractlog.registry.settings import ClientCertificates, Settings

__all__ = ["Certificates", "CertifiedProtocol", "handle_loop_error"]

_LOG: Final = logging.getLogger("contractlog.registry.access")
_POLL_SECONDS: Final = 1.0


class Certificates:
    """The server's certificate and key, and its CA of clients; new connections use changed files."""

    def __init__(self, settings: Settings) -> None:
        self._files = settings.tls_certificate, settings.tls_key or settings.tls_certificate
        self._password = settings.tls_key_password or None
        self._client_ca = settings.tls_client_ca
        self._required = settings.tls_client_certificates is ClientCertificates.REQUIRED
        self._stamps_of_loaded = self._stamps()
        try:
            self.context = self._load()
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            if not settings.tls_key and _has_no_key(settings.tls_certificate):
                raise UsageError(
                    f"`{settings.tls_certificate}` is a certificate without its key: "
                    "name the file of the key too, by --tls-key or CONTRACTLOG_TLS_KEY"
                ) from None
            raise UsageError(f"TLS cannot be set up with {self._files[0]}: {_reason(error)}") from None

    @classmethod
    def of(cls, settings: Settings) -> Certificates | None:
        """Return the certificates of the settings; None if the registry listens without TLS.

        Raises:
            UsageError: a file cannot be used, or a key or a CA is configured without a certificate.
        """
        if settings.tls_certificate:
            return cls(settings)
        if settings.tls_key or settings.tls_client_ca:
            raise UsageError("TLS needs a certificate: --tls-certificate FILE or CONTRACTLOG_TLS_CERTIFICATE")
        return None

    def _load(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._load_chain(context)
        if self._client_ca:
            context.load_verify_locations(self._client_ca)
            context.verify_mode = ssl.CERT_REQUIRED if self._required else ssl.CERT_OPTIONAL
        return context

    def _load_chain(self, context: ssl.SSLContext) -> None:
        # Without a password in the settings, OpenSSL must not prompt for one on the terminal.
        context.load_cert_chain(*self._files, password=self._password or str)

    def refresh(self) -> bool:
        """Reload changed files, and return True if they are in use now.

        Files that do not fit together, as in the middle of a renewal, leave everything as it was.
        """
        stamps = self._stamps()
        if stamps == self._stamps_of_loaded:
            return False
        self._stamps_of_loaded = stamps
        try:
            for path in self._paths():
                open_regular_file(path).close()  # OpenSSL would wait for the writer of a pipe, and stop the event loop
            self._load()  # into a new context: a chain that fails half way leaves a context without its key
            self._load_chain(self.context)
            if self._client_ca:
                self.context.load_verify_locations(self._client_ca)
        except (OSError, ValueError) as error:
            _LOG.error("the new certificate cannot be used, so the old one stays: %s", _reason(error))
            return False
        _LOG.info("the certificate %s was read again", self._files[0])
        return True

    async def watch(self, every: float = _POLL_SECONDS) -> None:
        """Check the files periodically, forever; on the event loop, because handshakes use the context there."""
        while True:
            await asyncio.sleep(every)
            self.refresh()

    def _stamps(self) -> tuple[tuple[int, ...], ...]:
        return tuple(map(file_stamp, self._paths()))

    def _paths(self) -> Iterator[str]:
        return filter(None, (*self._files, self._client_ca))


def _has_no_key(path: str) -> bool:
    try:
        return b"PRIVATE KEY" not in Path(path).read_bytes()
    except OSError:
        return False


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return f"{error.reason or error}; the key must belong to the certificate"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


class CertifiedProtocol(DirectProtocol):
    """HTTP protocol that adds the client certificate to each request, in ASGI's TLS extension."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Read the client certificate, which the handshake has verified."""
        super().connection_made(transport)
        peer = transport.get_extra_info("peercert")
        if peer:
            certificate = ClientCertificate.of(peer)
            self._extensions = {"tls": {"client_cert_name": certificate.text, CERTIFICATE: certificate}}

    def on_message_begin(self) -> None:
        """Add the certificate to the request."""
        super().on_message_begin()
        if self._extensions is not None:
            self.scope["extensions"] = self._extensions


def handle_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log a failed handshake in one line; leave other errors of the event loop to its default handler.

    The certificate of a client may have names that cannot be decoded: then the connection is closed.
    """
    error = context.get("exception")
    if "SSL" not in str(context.get("message")) or not isinstance(error, ssl.SSLError | ValueError):
        loop.default_exception_handler(context)
        return
    _LOG.warning("a TLS handshake failed, and its connection was closed: %s", type(error).__name__)
