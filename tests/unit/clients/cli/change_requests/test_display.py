"""Owners see all of a change request before they approve it."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any

import pytest

from contractlog.clients.cli.change_requests.display import print_list, print_request

SCHEMA = {
    "schema": '"string"',
    "schemaType": "AVRO",
    "references": [{"name": "hidden.Reference", "subject": "s", "version": 1}],
    "metadata": {"properties": {"hidden": "property"}, "tags": {"**.a": ["HIDDEN"]}, "sensitive": ["hidden"]},
    "ruleSet": {"domainRules": [{"name": "hiddenRule", "params": {"dlq.topic": "hiddenTopic"}}], "enableAt": "CLIENT"},
    "schemaTagsToAdd": [{"tags": ["HIDDENTAG"]}],
    "id": None,
}
REQUEST: dict[str, Any] = {
    "id": 7, "status": "open", "kind": "registration", "subject": "orders-value", "author": "ci", "reason": "why",
    "revision": 1, "change": {"schema": SCHEMA, "normalize": True}, "expires_at": 0,
}  # fmt: skip


def shown(request: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> str:
    print_request(Namespace(format="text"), request)
    return capsys.readouterr().out


def test_every_member_of_a_proposed_version_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(REQUEST, capsys)
    for part in ("hidden.Reference", "hidden: property", "**.a", "hiddenRule", "hiddenTopic", "HIDDENTAG", "normalize"):
        assert part in text, part
    assert "cut off" not in text


def test_a_long_value_is_cut_off_visibly_and_hides_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    rules = [{"name": "long", "expr": "x" * 5_000}, {"name": "hiddenRule"}]
    text = shown({**REQUEST, "change": {"schema": {**SCHEMA, "ruleSet": {"domainRules": rules}}}}, capsys)
    assert "hiddenRule" in text
    assert text.endswith("read all: contractlog change show 7 --format json\n")
    assert max(map(len, text.splitlines())) < 500


def test_a_long_name_does_not_widen_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    print_list([REQUEST, {**REQUEST, "id": 8, "subject": "s" * 5_000, "reason": json.dumps(["r"] * 500)}])
    assert max(map(len, capsys.readouterr().out.splitlines())) < 250
