"""Identity of schema content: the content hash used by the store, and the guid carried by records."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from contractlog.compatibility.data_contract import Metadata, Rule, RuleSet
from contractlog.compatibility.schema import Reference

__all__ = ["CANONICAL_FORM", "compute_guid", "hash_content"]

#: Version of the serialization that is hashed; hashes made with an older one must be recomputed.
CANONICAL_FORM: Final = 3


def hash_content(
    canonical: str,
    references: Iterable[Reference] = (),
    metadata: Metadata | None = None,
    rule_set: RuleSet | None = None,
) -> str:
    """Return the SHA-256 that identifies this content in the store, as 64 hex digits.

    The members are delimited, so different contents never serialize to the same text. Empty metadata and empty rules
    count as absent.
    """
    members = [
        canonical,
        [reference.body() for reference in references],
        None if metadata is None else metadata.body() or None,
        None if rule_set is None else rule_set.body() or None,
    ]
    text = json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def compute_guid(
    canonical: str,
    references: Iterable[Reference] = (),
    metadata: Metadata | None = None,
    rule_set: RuleSet | None = None,
) -> str:
    """Return the MD5 of the content by the reference implementation's recipe, as a lower-case UUID.

    >>> compute_guid('"string"')
    '095d71cf-1255-6b9d-5e33-0ad575b3df5d'
    """
    digest = hashlib.md5(usedforsecurity=False)
    digest.update(canonical.encode())
    for reference in references:
        digest.update(
            reference.name.encode() + reference.subject.encode() + reference.version.to_bytes(4, "big", signed=True)
        )
    if metadata is not None:
        digest.update(b"\x01")
        digest.update("".join(_metadata_parts(metadata)).encode())
    if rule_set is not None:
        digest.update(b"\x01")
        for rule in (*rule_set.migration_rules, *rule_set.domain_rules, *rule_set.encoding_rules):
            digest.update("".join(_rule_parts(rule)).encode() + (b"\x01" if rule.disabled else b""))
        digest.update((rule_set.enable_at or "").encode())
    return str(uuid.UUID(bytes=digest.digest()))


def _metadata_parts(metadata: Metadata) -> Iterator[str]:
    for path, tags in sorted(metadata.tags.items()):
        yield path
        yield from sorted(tags)
    yield from _pairs(metadata.properties)
    yield from sorted(metadata.sensitive)


def _rule_parts(rule: Rule) -> Iterator[str]:
    yield from (rule.name, rule.doc or "", rule.kind, rule.mode, rule.type or "")
    yield from sorted(rule.tags)
    yield from _pairs(rule.params)
    yield from (rule.expr or "", rule.on_success or "", rule.on_failure or "")


def _pairs(mapping: Mapping[str, str]) -> Iterator[str]:
    for key, value in sorted(mapping.items()):
        yield key
        yield value
