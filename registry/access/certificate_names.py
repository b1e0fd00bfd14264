"""Names in a client certificate: its subject, its common names, its alternative names.

Names are compared only with names of the same kind: a common name that looks like a whole subject or like an
alternative name still is a common name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final, Self

from contractlog.compatibility.errors import Unauthorized

__all__ = [
    "CERTIFICATE",
    "AlternativeName",
    "ClientCertificate",
    "SubjectName",
    "format_rfc4514",
    "parse_alternative_name",
    "parse_certificate_subject",
]

SubjectName = tuple[frozenset[tuple[str, str]], ...]
"""A certificate's subject, broadest part first; each part is a set of (attribute type, value)."""

AlternativeName = tuple[str, str]
"""Kind (``dns``, ``uri``, ``email`` or ``ip``) and name."""

#: Key of the certificate in the ASGI scope, beside the members of ASGI's TLS extension.
CERTIFICATE: Final = "contractlog.certificate"

Names = Iterable[Iterable[tuple[str, str]]]

#: Attribute types: OpenSSL's name, the name in RFC 4514, the object identifier.
_TYPES: Final = (
    ("commonName", "CN", "2.5.4.3"),
    ("localityName", "L", "2.5.4.7"),
    ("stateOrProvinceName", "ST", "2.5.4.8"),
    ("organizationName", "O", "2.5.4.10"),
    ("organizationalUnitName", "OU", "2.5.4.11"),
    ("countryName", "C", "2.5.4.6"),
    ("streetAddress", "STREET", "2.5.4.9"),
    ("domainComponent", "DC", "0.9.2342.19200300.100.1.25"),
    ("userId", "UID", "0.9.2342.19200300.100.1.1"),
    ("serialNumber", "serialNumber", "2.5.4.5"),
    ("emailAddress", "emailAddress", "1.2.840.113549.1.9.1"),
)
_SHORT: Final = {long: short for long, short, _ in _TYPES}
_LONG: Final = {name.lower(): row[0].lower() for row in _TYPES for name in row}
_COMMON_NAME: Final = "commonName"
_TYPE: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*|[0-9]+(?:\.[0-9]+)+")
_PIECE: Final = re.compile(r"\\[0-9A-Fa-f]{2}|\\[^0-9A-Fa-f]|[^\\]", re.DOTALL)
_SPECIAL_CHARACTERS: Final = frozenset(',+"\\<>;')
_HEX_ESCAPE: Final = 3
_KINDS: Final = {"DNS": "dns", "URI": "uri", "email": "email", "IP Address": "ip"}  #: named as in the ssl module


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """The names in a certificate that the listener has verified."""

    subject: SubjectName
    common_names: tuple[str, ...]
    alternative_names: tuple[AlternativeName, ...]
    text: str  #: for the change log and the log: the subject, else the first alternative name, else the serial number

    @classmethod
    def of(cls, certificate: Mapping[str, Any]) -> Self:
        """Create it from the result of ``ssl.SSLSocket.getpeercert``."""
        subject = certificate.get("subject", ())
        names = tuple(
            (_KINDS[kind], _normalize(_KINDS[kind], value))
            for kind, value in certificate.get("subjectAltName", ())
            if kind in _KINDS
        )
        first = next((":".join(name) for name in names), f"serial:{certificate.get('serialNumber', 'none')}")
        return cls(
            tuple(frozenset((_long_type(kind), value) for kind, value in part) for part in subject),
            tuple(value for part in subject for kind, value in part if kind == _COMMON_NAME),
            names,
            format_rfc4514(subject) or first,
        )

    @property
    def common_name(self) -> str | None:
        """The single common name; None if there is none.

        Raises:
            Unauthorized: there are several, and choosing one of them would be a guess.
        """
        if len(self.common_names) > 1:
            raise Unauthorized(
                f"The client certificate has {len(self.common_names)} common names (CN), so it identifies no user: "
                "present a certificate with one"
            )
        return self.common_names[0] if self.common_names else None


def parse_alternative_name(text: str) -> AlternativeName | None:
    """Parse ``dns:NAME``, ``uri:NAME``, ``email:NAME`` or ``ip:ADDRESS``; None for any other prefix.

    Raises:
        ValueError: the name is missing, or the address is invalid.

    >>> parse_alternative_name("dns:Billing.example")
    ('dns', 'billing.example')
    """
    kind, colon, name = text.partition(":")
    kind = kind.lower()
    if not colon or kind not in _KINDS.values():
        return None
    if not name:
        raise ValueError(f"`{text}` has no name after `{kind}:`")
    if kind == "ip":
        ip_address(name)
    return kind, _normalize(kind, name)


def _normalize(kind: str, name: str) -> str:
    if kind == "dns":
        return name.lower()
    if kind == "email":
        local, at, domain = name.rpartition("@")
        return local + at + domain.lower()
    if kind == "ip":
        try:
            return str(ip_address(name))
        except ValueError:
            return name
    return name


def parse_certificate_subject(text: str) -> SubjectName | None:
    """Parse a subject in the form of RFC 4514, which writes the certificate's last part first.

    Spaces around parts are ignored. Returns None for text that does not begin like a subject: with a known attribute
    type or an object identifier, and ``=``.

    Raises:
        ValueError: the text begins like a subject, but is not one.

    >>> parse_certificate_subject("CN=ci, O=Acme")
    (frozenset({('organizationname', 'Acme')}), frozenset({('commonname', 'ci')}))
    """
    kind, equals, _ = text.partition("=")
    kind = kind.strip()
    if not equals or not _TYPE.fullmatch(kind) or not (kind.lower() in _LONG or kind[0].isdigit()):
        return None
    return tuple(frozenset(map(_parse_attribute, _split(part, "+"))) for part in reversed(list(_split(text, ","))))


def _split(text: str, separator: str) -> Iterator[str]:
    """Yield the parts between unescaped separators.

    Raises:
        ValueError: a backslash escapes nothing.
    """
    pieces = _PIECE.findall(text)
    if len("".join(pieces)) != len(text):
        raise ValueError(f"`{text}` has a backslash that escapes nothing")
    part = ""
    for piece in pieces:
        if piece == separator:
            yield part
            part = ""
        else:
            part += piece
    yield part


def _parse_attribute(text: str) -> tuple[str, str]:
    kind, equals, value = text.partition("=")
    if not equals or not _TYPE.fullmatch(kind.strip()):
        raise ValueError(f"`{text.strip()}` is not a part of a subject, such as CN=ci")
    return _long_type(kind.strip()), _parse_value(value)


def _long_type(kind: str) -> str:
    return _LONG.get(kind.lower(), kind.lower())


def _parse_value(text: str) -> str:
    pieces = _PIECE.findall(text)
    while pieces and pieces[0] == " ":
        del pieces[0]
    while pieces and pieces[-1] == " ":
        del pieces[-1]
    if pieces and (pieces[0] == "#" or _SPECIAL_CHARACTERS & set(pieces)):
        raise ValueError(f"`{text.strip()}` has a character that needs a backslash before it")
    encoded = b"".join(
        bytes.fromhex(piece[1:]) if len(piece) == _HEX_ESCAPE else piece[-1].encode() for piece in pieces
    )
    return encoded.decode()


def format_rfc4514(subject: Names) -> str:
    r"""Format a subject as in RFC 4514, the last part first; distinct subjects never give the same text.

    >>> format_rfc4514(((("organizationName", "Acme"),), (("commonName", "ci,O=x"),)))
    'CN=ci\\,O=x,O=Acme'
    """
    parts = ["+".join(f"{_SHORT.get(kind, kind)}={_escape_value(value)}" for kind, value in part) for part in subject]
    return ",".join(reversed(parts))


def _escape_value(value: str) -> str:
    text = "".join(map(_escape_character, value))
    if value.endswith(" "):
        text = text[:-1] + "\\20"
    return f"\\{text}" if value[:1] == "#" or (value[:1] == " " and len(value) > 1) else text


def _escape_character(character: str) -> str:
    if character in _SPECIAL_CHARACTERS:
        return f"\\{character}"
    if character.isprintable():
        return character
    return "".join(f"\\{byte:02x}" for byte in character.encode())
