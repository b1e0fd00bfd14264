"""Response bodies of contracts, as in ``openapi.yaml``."""

from __future__ import annotations

from typing import Any, Self, cast

from msgspec import Raw, Struct

from contractlog.registry.features.contracts.queries import ContractSummary
from contractlog.registry.features.contracts.service import ContractResult, ContractView, SchemaState

__all__ = [
    "ConsumerUseBody",
    "ConsumersBody",
    "ContractBody",
    "ContractResultBody",
    "ContractSummaryBody",
    "ContractsBody",
    "DescribedSchemaBody",
    "RecordUseBody",
]


class DescribedSchemaBody(Struct):
    """A subject of the topic, and its version that the contract describes."""

    part: str  #: value or key
    subject: str
    version: int | None  #: null if the contract describes another schema
    latest: int | None  #: the newest version of the subject

    @classmethod
    def of(cls, state: SchemaState) -> Self:
        """Build the body."""
        return cls(state.part, state.subject, state.version, state.latest)


class ContractResultBody(Struct):
    """The newest audit of a part of the topic while this version of the contract was the newest one."""

    part: str  #: value or key
    verdict: str
    recorded_at: int  #: milliseconds since 1970, UTC
    quality: list[dict[str, Any]]  #: results of quality rules and service levels, as in `report.json`

    @classmethod
    def of(cls, result: ContractResult) -> Self:
        """Build the body."""
        return cls(result.part, result.verdict, result.recorded_at, [dict(each) for each in result.quality])


class ContractBody(Struct, omit_defaults=True):
    """A version of the contract of a topic."""

    topic: str
    version: int
    status: str
    hash: str  #: SHA-256 of the canonical document
    created_at: int  #: milliseconds since 1970, UTC
    schemas: list[DescribedSchemaBody]
    document: dict[str, Any]  #: in the newest version of the Open Data Contract Standard
    retires_on: str | None = None  #: the last day of a deprecated contract, such as 2027-03-31
    successor: str | None = None
    results: list[ContractResultBody] = []  #: of audits; absent if there are none, and in responses to `PUT`

    @classmethod
    def of(cls, view: ContractView) -> Self:
        """Build the body."""
        contract, life = view.contract, view.contract.life
        return cls(
            contract.topic,
            contract.version,
            life.status.value,
            contract.hash,
            contract.created_at,
            [DescribedSchemaBody.of(state) for state in view.schemas],
            cast("dict[str, Any]", Raw(contract.text.encode("ascii"))),  # already JSON
            life.retires_on,
            life.successor,
            [ContractResultBody.of(result) for result in view.results],
        )


class ContractSummaryBody(Struct, omit_defaults=True):
    """The newest version of a contract, without its document."""

    topic: str
    version: int
    status: str
    created_at: int  #: milliseconds since 1970, UTC
    contract_version: str  #: as the document says
    retires_on: str | None = None
    successor: str | None = None

    @classmethod
    def of(cls, contract: ContractSummary) -> Self:
        """Build the body."""
        life = contract.life
        return cls(
            contract.topic,
            contract.version,
            life.status.value,
            contract.created_at,
            contract.contract_version,
            life.retires_on,
            life.successor,
        )


class ContractsBody(Struct, omit_defaults=True):
    """A page of contracts, by topic."""

    contracts: list[ContractSummaryBody]
    next: str | None = None  #: `after` of the next page


class ConsumerUseBody(Struct):
    """A client that fetched a schema of the topic."""

    client: str
    part: str  #: value or key
    schema_version: int
    contract_version: int | None  #: the newest version of the contract that describes it; null if none does
    last_day: str  #: such as 2026-11-21, UTC


class RecordUseBody(Struct):
    """Records of the topic with one version of a schema, by the newest audit."""

    part: str  #: value or key
    schema_version: int
    contract_version: int | None
    records: int


class ConsumersBody(Struct):
    """Consumers of a topic, which a change of its contract reaches."""

    topic: str
    version: int  #: of the contract
    clients: list[ConsumerUseBody] | None  #: the latest first; null without read permission on every subject
    records: list[RecordUseBody]
    downstream: list[str]  #: datasets that lineage says are made from the topic
