"""The contract of a version in the registry."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from contractlog.clients.cli.options import connect, select_context
from contractlog.clients.cli.registry_lookups import missing_versions_error, parse_subject_version
from contractlog.compatibility.errors import SubjectNotFound
from contractlog.compatibility.identifiers import Subject, qualify_subject, split_topic_subject, topic_subject
from contractlog.contracts.odcs.document import build_contract
from contractlog.contracts.odcs.finding import ContractFinding

__all__ = ["fetch_contract"]


def fetch_contract(options: Namespace) -> tuple[str, dict[str, Any], list[ContractFinding]]:
    """Return the topic, or the subject of keys, with the contract of a version, and what is left out.

    Raises:
        SubjectNotFound, VersionNotFound: there is no such version.
    """
    name, version = parse_subject_version(options.source)
    subject = qualify_subject(name, select_context(options))
    with connect(options) as registry:
        try:
            schema = registry.version(subject, version or "latest")
        except SubjectNotFound as error:
            raise missing_versions_error(registry, subject, error) from None
    name = Subject.parse(subject).name
    topic, part = split_topic_subject(name) or (name, "value")
    contract, findings = build_contract(topic, schema.draft, part=part, version=int(schema.version or 1))
    return topic if part == "value" else topic_subject(topic, "key"), contract, findings
