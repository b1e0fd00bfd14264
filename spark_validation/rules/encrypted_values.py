"""Encrypted fields and bodies of records in an audit: those that no existing key decrypts."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.rule_counts import RuleCounts, RuleDescription
from contractlog.spark_validation.columnar.record_text import RenderedBody, render_bytes
from contractlog.spark_validation.columnar.validator_results import ColumnPiece, RecordOutcomes
from contractlog.spark_validation.rules.encryption_keys import RuleKeys
from contractlog.spark_validation.rules.rule_batch import RuleBatch, RuleResult

__all__ = ["EncryptedBodyValidator", "EncryptedFields", "describe_missing_key"]

_FIRST_VERSION: Final = 1  #: of keys that do not expire, whose ciphertexts have no version
_PREFIX_BYTES: Final = 5  #: a zero byte, then the version in four bytes, big-endian
_PREFIX_CHARACTERS: Final = 7  #: of base64, which have all bits of the prefix
_NO_VERSION: Final = 0  #: of values that do not begin with a version, so that they were not encrypted
_MAX_VERSION: Final = 2**31 - 1


def describe_missing_key(rule: RuleDescription, keys: RuleKeys) -> str:
    """Return why records cannot be decrypted; one text for all records of a rule."""
    return f"rule `{rule.name}`: the KEK `{keys.kek_name}`, or the DEK that encrypted the value, was deleted"


@dataclass(frozen=True, slots=True)
class EncryptedFields:
    """A rule of type ENCRYPT."""

    rule: RuleDescription
    keys: RuleKeys
    names: frozenset[str] | None  #: of the fields that the rule encrypts; None: any

    def evaluate(self, batch: RuleBatch, subjects: Collection[str]) -> RuleResult:
        """Return the records with a value that no key of the subjects decrypts."""
        versions = np.array(sorted(self.keys.of_subjects(subjects)), np.int64)
        result = RuleResult(np.zeros(batch.size, np.bool_), np.zeros(batch.size, np.bool_))
        if not self.keys.versioned and _FIRST_VERSION in versions:
            return result
        for piece in batch.pieces:
            if not self._encrypts(piece):
                continue
            missing = np.ones(len(piece.values), np.bool_)
            if self.keys.versioned:
                numbers = _read_versions(piece.values)
                missing = (numbers != _NO_VERSION) & ~np.isin(numbers, versions)
            rows = piece.rows[missing]
            result.broken[rows] = True
            for row in np.unique(rows).tolist():
                result.fields.setdefault(row, piece.field)
        return result

    def _encrypts(self, piece: ColumnPiece) -> bool:
        kind = piece.values.type
        if not (pa.types.is_string(kind) or pa.types.is_binary(kind)):
            return False
        return self.names is None or piece.field.rpartition(".")[2].rstrip("[]{}") in self.names


@dataclass
class EncryptedBodyValidator:
    """Validator of the records of a schema with a rule of type ENCRYPT_PAYLOAD, which are not decoded.

    Args:
        rule: the rule.
        keys: its keys; None if they are unknown.
        subjects: those with which records were written.
    """

    rule: RuleDescription
    keys: RuleKeys | None
    subjects: Collection[str]
    counts: dict[str, RuleCounts] = field(default_factory=dict)  #: by pointer of the rule

    def validate(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, columns: bool
    ) -> RecordOutcomes:
        """Give each record the outcome ``UNDECRYPTABLE`` or ``ENCRYPTED``."""
        del columns
        missing = np.zeros(starts.size, np.bool_)
        codes = np.full(starts.size, Outcome.ENCRYPTED, np.uint8)
        paths = np.full(starts.size, -1, np.int32)
        if self.keys is None:
            return RecordOutcomes(codes, paths, [], {}, [])
        versions = self.keys.of_subjects(self.subjects)
        if self.keys.versioned:
            prefixes = [data[start : min(end, start + _PREFIX_BYTES)] for start, end in zip(starts, ends, strict=True)]
            numbers = np.array([_parse_version(prefix.tobytes()) for prefix in prefixes], np.int64)
            missing = (numbers != _NO_VERSION) & ~np.isin(numbers, sorted(versions))
        elif _FIRST_VERSION not in versions:
            missing[:] = True
        codes[missing] = Outcome.UNDECRYPTABLE
        paths[missing] = 0
        counts = RuleCounts(starts.size, int(missing.sum()))
        self.counts[self.rule.pointer] = self.counts.get(self.rule.pointer, RuleCounts()).merge(counts)
        details = dict.fromkeys(np.flatnonzero(missing).tolist(), describe_missing_key(self.rule, self.keys))
        return RecordOutcomes(codes, paths, [(self.rule.pointer, "")], details, [])

    @staticmethod
    def render(body: bytes, *, show: bool) -> RenderedBody:
        """Return the text of a body, which cannot be decoded."""
        return RenderedBody(render_bytes(body, show=show))


def _read_versions(values: pa.Array[Any]) -> NDArray[np.int64]:
    """Return the version of the DEK in front of each ciphertext; 0 if there is none."""
    if pa.types.is_string(values.type):
        prefixes = pc.utf8_slice_codeunits(values, 0, _PREFIX_CHARACTERS).dictionary_encode()
    else:
        prefixes = pc.binary_slice(values, 0, _PREFIX_BYTES).dictionary_encode()
    numbers = [_parse_version(_decode(prefix)) for prefix in prefixes.dictionary.to_pylist()]
    return np.array(numbers, np.int64)[np.asarray(prefixes.indices, np.int64)]


def _decode(prefix: Any) -> bytes:
    if isinstance(prefix, bytes):
        return prefix
    try:
        return base64.b64decode(f"{prefix}A", validate=True)
    except (binascii.Error, ValueError):
        return b""


def _parse_version(prefix: bytes) -> int:
    """Return the version in the first bytes of a ciphertext; 0 if they have none."""
    version = int.from_bytes(prefix[1:_PREFIX_BYTES], "big")
    valid = len(prefix) >= _PREFIX_BYTES and prefix[0] == 0 and version <= _MAX_VERSION
    return version if valid else _NO_VERSION
