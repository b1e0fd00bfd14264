"""Loading and reloading of the listener's certificates."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.registry.http.tls import Certificates
from contractlog.registry.settings import Settings

from support.tls import Authority


def certificates(certificate: Path, key: Path | None = None) -> Certificates:
    return Certificates(Settings(tls_certificate=str(certificate), tls_key="" if key is None else str(key)))


def test_the_key_has_a_file_of_its_own_or_stands_beside_the_certificate(authority: Authority, tmp_path: Path) -> None:
    pair = authority.server()
    both = tmp_path / "both.pem"
    both.write_bytes(pair.certificate.read_bytes() + pair.key.read_bytes())
    for loaded in (certificates(pair.certificate, pair.key), certificates(both)):
        assert loaded.context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_a_certificate_without_its_key_is_a_usage_error(authority: Authority) -> None:
    pair = authority.server()
    with pytest.raises(UsageError, match="name the file of the key too"):
        certificates(pair.certificate)
    with pytest.raises(UsageError, match="the key must belong to the certificate"):
        certificates(pair.certificate, authority.server("another").key)


def test_files_are_loaded_again_when_they_changed_and_fit_together(authority: Authority) -> None:
    pair = authority.server()
    loaded = certificates(pair.certificate, pair.key)
    assert not loaded.refresh()
    pair.key.write_bytes(authority.server("another").key.read_bytes() + b"\n")
    assert not loaded.refresh()  # in the middle of a renewal
    authority.server()
    assert loaded.refresh()
    assert not loaded.refresh()


def test_a_file_that_became_a_pipe_is_not_waited_for(authority: Authority, caplog: pytest.LogCaptureFixture) -> None:
    pair = authority.server()
    loaded = certificates(pair.certificate, pair.key)
    for file in (pair.certificate, pair.key):
        text = file.read_bytes()
        file.unlink()
        os.mkfifo(file)
        assert not loaded.refresh()
        assert "it is not a regular file" in caplog.text
        caplog.clear()
        file.unlink()
        file.write_bytes(text)
        assert loaded.refresh()
