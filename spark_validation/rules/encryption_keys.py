"""Keys of the encryption rules of schemas, as far as consumers can still read them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from contractlog.clients.calls import encryption_keys
from contractlog.clients.registry import Registry
from contractlog.compatibility.data_contract import Metadata, Rule, RuleSet
from contractlog.compatibility.errors import Forbidden, KeyNotFound, NotFound, RegistryError, Unauthorized
from contractlog.compatibility.identifiers import MAX_VERSION
from contractlog.contracts.encryption.rule_parameters import (
    ALGORITHM,
    DEFAULT_ALGORITHM,
    ENCRYPTION_RULES,
    EXPIRY_DAYS,
    KEK_NAME,
    find_parameter,
)
from contractlog.spark_validation.rules.writer_rules import list_writer_rules

__all__ = ["EncryptionKeyCatalogue", "RuleKeys", "is_encryption", "lack_same_versions"]

MAX_LOOKUPS: Final = 1_000  #: DEKs whose versions are fetched in an audit
MAX_NUMBERS: Final = 10_000  #: of a DEK
_NO_EXPIRY: Final = frozenset({None, "", "0"})


@dataclass(frozen=True, slots=True)
class RuleKeys:
    """The DEK of an encryption rule: the versions with which values can be decrypted."""

    kek_name: str
    versioned: bool = False  #: whether ciphertexts begin with the version of the DEK
    #: by subject; none if the KEK was deleted
    versions: Mapping[str, frozenset[int]] = field(default_factory=dict)
    reason: str = ""  #: why the versions are unknown; empty if they are known

    def of_subjects(self, subjects: Collection[str]) -> frozenset[int]:
        """Return the versions of any of some subjects; of all subjects if there are none."""
        chosen = [versions for subject, versions in self.versions.items() if not subjects or subject in subjects]
        return frozenset().union(*chosen)

    def body(self) -> dict[str, Any]:
        """Return the versions as JSON, with the first and the last of each run of numbers."""
        return {
            "kek": self.kek_name,
            "reason": self.reason,
            "versions": {subject: _list_runs(versions) for subject, versions in sorted(self.versions.items())},
        }


def is_encryption(rule: Rule) -> bool:
    """Return True if a rule encrypts fields or bodies."""
    return rule.type in ENCRYPTION_RULES and rule.kind == "TRANSFORM"


def lack_same_versions(former: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return True if the keys of a rule, as bodies, lack the same versions; later versions do not count."""
    if (former.get("kek"), former.get("reason")) != (now["kek"], now["reason"]):
        return False
    before = former.get("versions", {})
    return before.keys() == now["versions"].keys() and all(
        _clip(runs, before[subject][-1][1] if before[subject] else MAX_VERSION) == before[subject]
        for subject, runs in now["versions"].items()
    )


def _clip(runs: Iterable[Sequence[int]], last: int) -> list[list[int]]:
    """Return runs of numbers without those above the last."""
    return [[start, min(end, last)] for start, end in runs if start <= last]


def _list_runs(numbers: Iterable[int]) -> list[list[int]]:
    """Return the first and the last of each run of numbers.

    >>> _list_runs({1, 2, 3, 7})
    [[1, 3], [7, 7]]
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return runs


class _Unknown(Exception):
    """The versions of a DEK are unknown; the message says why."""


class EncryptionKeyCatalogue:
    """Versions of DEKs in a registry, each requested once.

    Args:
        registry: client of the registry with the keys.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._versions: dict[tuple[str, str, str], frozenset[int] | _Unknown] = {}

    def find(self, rule_set: RuleSet | None, metadata: Metadata | None, subjects: Iterable[str]) -> dict[str, RuleKeys]:
        """Return the keys of the encryption rules of a schema, by the rule's JSON Pointer.

        Args:
            rule_set: the rules of the schema.
            metadata: its metadata, which may have parameters of rules.
            subjects: the subjects that have the schema.

        Raises:
            Unreachable: the registry does not respond.
        """
        names = sorted(set(subjects))
        return {
            pointer: self._find_keys(rule, metadata, names)
            for pointer, rule in list_writer_rules(rule_set)
            if is_encryption(rule)
        }

    def _find_keys(self, rule: Rule, metadata: Metadata | None, subjects: Iterable[str]) -> RuleKeys:
        kek_name = find_parameter(rule, metadata, KEK_NAME)
        algorithm = find_parameter(rule, metadata, ALGORITHM) or DEFAULT_ALGORITHM
        versioned = find_parameter(rule, metadata, EXPIRY_DAYS) not in _NO_EXPIRY
        if not kek_name:
            return RuleKeys("", reason=f"the parameter {KEK_NAME} is absent")
        try:
            return RuleKeys(
                kek_name, versioned, {subject: self._fetch(kek_name, subject, algorithm) for subject in subjects}
            )
        except _Unknown as reason:
            return RuleKeys(kek_name, versioned, reason=str(reason))

    def _fetch(self, kek_name: str, subject: str, algorithm: str) -> frozenset[int]:
        """Return the versions of a DEK.

        Raises:
            _Unknown: they cannot be determined.
        """
        key = (kek_name, subject, algorithm)
        if key not in self._versions:
            try:
                self._versions[key] = self._request(kek_name, subject, algorithm)
            except _Unknown as reason:
                self._versions[key] = reason
        versions = self._versions[key]
        if isinstance(versions, _Unknown):
            raise versions
        return versions

    def _request(self, kek_name: str, subject: str, algorithm: str) -> frozenset[int]:
        """Return the versions that consumers find: soft-deleted ones too, but none under a deleted KEK."""
        if len(self._versions) >= MAX_LOOKUPS:
            raise _Unknown(f"an audit requests the versions of at most {MAX_LOOKUPS:,} keys")
        try:
            self._registry.send(encryption_keys.kek(kek_name))
            call = encryption_keys.dek_versions(kek_name, subject, algorithm=algorithm, deleted=True)
            numbers = self._registry.send(call)
        except KeyNotFound:
            return frozenset()
        except (Unauthorized, Forbidden):
            raise _Unknown("the registry does not permit this user to read its keys (`read_keys`)") from None
        except NotFound:
            raise _Unknown("the registry has no encryption keys (/dek-registry/v1)") from None
        except RegistryError as error:
            raise _Unknown(f"the registry responded with {error.error_code} to the request of its keys") from None
        if len(numbers) > MAX_NUMBERS:
            raise _Unknown(f"the key has more than {MAX_NUMBERS:,} versions")
        return frozenset(numbers)
