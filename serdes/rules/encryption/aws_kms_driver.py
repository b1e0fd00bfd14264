"""Driver of AWS KMS (``aws-kms``), with confluent-kafka's configuration; needs the extra ``aws``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from contractlog.contracts.encryption.errors import DecryptionFailed
from contractlog.serdes.errors import RuleError
from contractlog.serdes.rules.encryption.kms_drivers import KeyWrapper, KmsClient, KmsDriver, register_kms_driver

__all__ = ["AwsKmsDriver"]

_PREFIX: Final = "aws-kms://"
_KEY_ARN: Final = re.compile(r"arn:aws[a-z-]*:kms:([a-z0-9-]{1,64}):[0-9]{1,32}:(key|alias)/[\w/-]{1,256}", re.ASCII)
_SESSION_NAME: Final = "contractlog-encrypt"
_TIMEOUTS: Final = Config(connect_timeout=5, read_timeout=10, retries={"max_attempts": 2, "mode": "standard"})
#: Codes of AWS KMS for a ciphertext that another key made.
_OTHER_KEY: Final = frozenset({"InvalidCiphertextException", "IncorrectKeyException"})


class AwsKmsDriver(KmsDriver):
    """Driver of AWS KMS; keys are named by their ARN.

    The configuration of rules may have ``access.key.id`` and ``secret.access.key``, or ``profile``, and ``role.arn``,
    ``role.session.name`` and ``role.external.id`` (else ``AWS_ROLE_ARN`` and the like) of a role to assume. Without
    them, the credentials are those that boto3 finds.
    """

    def get_key_url_prefix(self) -> str:
        """Return ``aws-kms://``."""
        return _PREFIX

    def new_kms_client(self, conf: Mapping[str, Any], key_url: str) -> KmsClient:
        """Return a connection to the region of a key.

        Raises:
            RuleError: the id of the key is not an ARN, or the role cannot be assumed.
        """
        match = _KEY_ARN.fullmatch(key_url.removeprefix(_PREFIX))
        if match is None:
            raise RuleError("the id of a key in AWS KMS is its ARN: arn:aws:kms:REGION:ACCOUNT:key/ID")
        return _AwsKmsClient(_create_session(conf, match[1]).client("kms", config=_TIMEOUTS))

    @classmethod
    def register(cls) -> None:
        """Register the driver. Exists for programs written for confluent-kafka; lookups need no registration."""
        register_kms_driver(cls())


class _AwsKmsClient:
    """A connection to AWS KMS."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def get_aead(self, key_uri: str) -> KeyWrapper:
        """Return a key."""
        return _AwsKey(self._client, key_uri.removeprefix(_PREFIX))


class _AwsKey:
    """A key in AWS KMS."""

    def __init__(self, client: Any, arn: str) -> None:
        self._client = client
        self._arn = arn

    def encrypt(self, plaintext: bytes, associated_data: bytes) -> bytes:  # noqa: ARG002 -- always empty
        """Return the wrapped key."""
        try:
            return bytes(self._client.encrypt(KeyId=self._arn, Plaintext=plaintext)["CiphertextBlob"])
        except ClientError as error:
            raise _translate_error(error) from None

    def decrypt(self, ciphertext: bytes, associated_data: bytes) -> bytes:  # noqa: ARG002 -- always empty
        """Return the key.

        Raises:
            DecryptionFailed: another key wrapped it.
        """
        try:
            return bytes(self._client.decrypt(KeyId=self._arn, CiphertextBlob=ciphertext)["Plaintext"])
        except ClientError as error:
            if error.response["Error"]["Code"] in _OTHER_KEY:
                raise DecryptionFailed from None
            raise _translate_error(error) from None


def _create_session(conf: Mapping[str, Any], region: str) -> Any:
    key, secret = conf.get("access.key.id"), conf.get("secret.access.key")
    if key and secret:
        session = boto3.Session(region_name=region, aws_access_key_id=key, aws_secret_access_key=secret)
    else:
        session = boto3.Session(region_name=region, profile_name=conf.get("profile"))
    role = conf.get("role.arn") or os.environ.get("AWS_ROLE_ARN")
    if not role or os.environ.get("AWS_WEB_IDENTITY_TOKEN_FILE"):  # of which boto3 takes care
        return session
    name = conf.get("role.session.name") or os.environ.get("AWS_ROLE_SESSION_NAME") or _SESSION_NAME
    external_id = conf.get("role.external.id") or os.environ.get("AWS_ROLE_EXTERNAL_ID")
    parameters = {"RoleArn": role, "RoleSessionName": name, **({"ExternalId": external_id} if external_id else {})}
    try:
        credentials = session.client("sts", config=_TIMEOUTS).assume_role(**parameters)["Credentials"]
    except ClientError as error:
        raise _translate_error(error) from None
    return boto3.Session(
        region_name=region,
        aws_access_key_id=credentials["AccessKeyId"],
        aws_secret_access_key=credentials["SecretAccessKey"],
        aws_session_token=credentials["SessionToken"],
    )


def _translate_error(error: ClientError) -> RuleError:
    """Return our error, with AWS's code alone: its text may have names of accounts and roles."""
    return RuleError(f"AWS responded with {error.response['Error']['Code']} to {error.operation_name}")
