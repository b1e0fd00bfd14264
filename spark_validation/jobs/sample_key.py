"""The secret key of samples, as given by the environment."""

from __future__ import annotations

import os
from typing import Final

from contractlog.compatibility.errors import UsageError
from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.contracts.audit.value_samples import DESIGN, make_design

__all__ = ["SAMPLE_KEY_VARIABLE", "find_sample_key", "read_sample_key"]

SAMPLE_KEY_VARIABLE: Final = "CONTRACTLOG_SAMPLE_KEY"
MIN_CHARACTERS: Final = 16


def read_sample_key() -> str:
    """Return the secret key of the samples; empty if none is set.

    Raises:
        UsageError: the key is too short to be a secret.
    """
    key = os.environ.get(SAMPLE_KEY_VARIABLE, "")
    if key and len(key) < MIN_CHARACTERS:
        raise UsageError(
            f"{SAMPLE_KEY_VARIABLE} has {len(key)} characters, and a secret key needs at least {MIN_CHARACTERS}: "
            "make one with `openssl rand -hex 32`"
        )
    return key


def find_sample_key(state: AuditState) -> str:
    """Return the key that the samples of a state were made with; empty: the public one.

    Raises:
        UsageError: they were made with a key that is not set.
    """
    designs = {sample.design.key for sample in state.samples.values()} - {DESIGN.key}
    if not designs:
        return ""
    key = read_sample_key()
    unknown = designs - {make_design(key).key}
    if unknown:
        raise UsageError(
            f"the samples of this audit were made with a key that {SAMPLE_KEY_VARIABLE} does not have "
            f"(`{min(unknown)}`): set the variable as it was set for the audit"
        )
    return key
