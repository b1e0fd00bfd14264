"""A local object store that speaks the protocol of S3."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

__all__ = ["CREDENTIALS", "s3_folder"]

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "user", "AWS_SECRET_ACCESS_KEY": "secret"}


@pytest.fixture
def s3_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Start a store with an empty bucket; yield the address of a folder in it, with parameters."""
    from moto.server import ThreadedMotoServer
    from pyarrow import fs

    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        bucket = f"lake-{uuid4().hex[:12]}"  # servers of one process have their content in common
        parameters = f"endpoint_override={host}:{port}&scheme=http&region=us-east-1"
        filesystem, _ = fs.FileSystem.from_uri(f"s3://{bucket}?{parameters}&allow_bucket_creation=true")
        filesystem.create_dir(bucket)
        yield f"s3://{bucket}/archive?{parameters}"
    finally:
        server.stop()
