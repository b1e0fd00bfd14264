"""Identity of content: the reference's guid, and a hash without collisions."""

from __future__ import annotations

import hashlib
import uuid

from contractlog.compatibility.content_identity import compute_guid, hash_content
from contractlog.compatibility.data_contract import Metadata, Rule, RuleSet
from contractlog.compatibility.schema import Reference

LEANS = (Reference("leg", "leg-value", 2),)
METADATA = Metadata({"b": ("z", "y"), "a": ("x",)}, {"owner": "ops", "app": "f"}, ("owner", "app"))
RULES = RuleSet(
    domain_rules=(
        Rule("r", doc="d", kind="CONDITION", mode="WRITE", type="CEL", tags=("t2", "t1"), params={"k": "v"}),
    ),
    migration_rules=(Rule("m", expr="e", on_success="NONE", on_failure="ERROR", disabled=True),),
)


def md5(*parts: bytes) -> str:
    return str(uuid.UUID(bytes=hashlib.md5(b"".join(parts), usedforsecurity=False).digest()))


def test_the_guid_follows_the_recipe() -> None:
    text = '"string"'
    leans = b"legleg-value" + (2).to_bytes(4, "big")
    metadata = b"\x01" + b"axbyz" + b"appfownerops" + b"appowner"
    rules = b"\x01" + b"mTRANSFORMWRITEREADeNONEERROR\x01" + b"rdCONDITIONWRITECELt1t2kv"
    assert compute_guid(text) == md5(b'"string"') == "095d71cf-1255-6b9d-5e33-0ad575b3df5d"
    assert compute_guid(text, LEANS) == md5(b'"string"', leans)
    assert compute_guid(text, LEANS, METADATA) == md5(b'"string"', leans, metadata)
    assert compute_guid(text, LEANS, METADATA, RULES) == md5(b'"string"', leans, metadata, rules)


def test_each_part_of_the_content_makes_another_hash() -> None:
    contents = [
        hash_content("a"),
        hash_content("b"),
        hash_content("a", LEANS),
        hash_content("a", (), METADATA),
        hash_content("a", (), None, RULES),
    ]
    assert len(set(contents)) == len(contents)
    assert all(len(digest) == 64 for digest in contents)


def test_empty_metadata_and_rules_are_none() -> None:
    assert hash_content("a", (), Metadata(), RuleSet()) == hash_content("a")


def test_moving_a_letter_from_one_part_to_the_next_makes_another_hash_though_not_another_guid() -> None:
    one, other = (Reference("ab", "c", 1),), (Reference("a", "bc", 1),)
    assert compute_guid("x", one) == compute_guid("x", other)
    assert hash_content("x", one) != hash_content("x", other)


def test_the_order_of_properties_does_not_matter_and_that_of_references_does() -> None:
    ahead, behind = Metadata(properties={"a": "1", "b": "2"}), Metadata(properties={"b": "2", "a": "1"})
    assert hash_content("x", (), ahead) == hash_content("x", (), behind)
    assert compute_guid("x", (), ahead) == compute_guid("x", (), behind)
    two = (Reference("a", "a", 1), Reference("b", "b", 1))
    assert hash_content("x", two) != hash_content("x", two[::-1])
