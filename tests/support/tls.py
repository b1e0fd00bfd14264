"""Certificates for tests: a CA, and certificates signed by it."""

from __future__ import annotations

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = dt.timedelta(days=1)


@dataclass(frozen=True)
class Pair:
    """The files of a certificate and its key."""

    certificate: Path
    key: Path


class Authority:
    """A CA in a folder."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self._folder = folder
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._key = ec.generate_private_key(ec.SECP256R1())
        certificate_builder = self._builder(self._name, self._key).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self.certificate = folder / f"{name}.pem"
        self.certificate.write_bytes(
            certificate_builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        )

    def server(self, name: str = "server") -> Pair:
        """Sign a certificate for 127.0.0.1; files of the same name are replaced."""
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        return self._sign(name, [(NameOID.COMMON_NAME, name)], x509.SubjectAlternativeName([address]))

    def client(self, common_name: str, organization: str = "Acme, Inc") -> Pair:
        """Sign a certificate for a client."""
        parts = [(NameOID.ORGANIZATION_NAME, organization), (NameOID.COMMON_NAME, common_name)]
        return self._sign(common_name, parts, None)

    def sign_certificate(
        self, file: str, parts: list[tuple[x509.ObjectIdentifier, str]], names: list[x509.GeneralName] | None = None
    ) -> Pair:
        """Sign a certificate of any subject, with alternative names."""
        return self._sign(file, parts, x509.SubjectAlternativeName(names) if names else None)

    def sign_extension(self, name: str, extension: x509.ExtensionType) -> Pair:
        """Sign a certificate for a client, with any extension."""
        return self._sign(name, [(NameOID.COMMON_NAME, name)], extension)

    def _sign(self, name: str, parts: list[tuple[x509.ObjectIdentifier, str]], more: x509.ExtensionType | None) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(x509.Name([x509.NameAttribute(*part) for part in parts]), key)
        builder = builder if more is None else builder.add_extension(more, critical=False)
        pair = Pair(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        pair.certificate.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return pair

    def _builder(self, name: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _DAY)
            .not_valid_after(now + _DAY)
        )


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """Create a CA for a test."""
    return Authority(tmp_path)
