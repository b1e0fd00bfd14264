"""Steps of a plan that store the contracts of topics, which are in files beside the schemas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from contractlog.clients.cli.output import Tone, with_tone
from contractlog.clients.cli.plan_and_apply.registration import Registration
from contractlog.clients.cli.plan_and_apply.steps import Step
from contractlog.clients.cli.schema_folder.file_names import CONTRACT_SUFFIX
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.subject_settings import SettingIgnored
from contractlog.compatibility.errors import MethodNotAllowed, NotFound
from contractlog.compatibility.identifiers import split_topic_subject
from contractlog.compatibility.text.terminal_text import escape_line

if TYPE_CHECKING:
    from contractlog.clients.cli.plan_and_apply.planner import Plan

__all__ = ["PlannedContracts", "PutContract", "find_contract_files"]


@dataclass(frozen=True, slots=True)
class PutContract(Step):
    """A contract in a file that becomes the next version of the contract of its topic."""

    topic: str
    path: Path
    document: Mapping[str, Any]
    digest: str  #: SHA-256 of the canonical document
    after_version: int  #: the newest version of the contract; 0 if there is none
    breaking: bool = False  #: whether it takes something away from consumers

    action = "put contract"
    members: ClassVar[Mapping[str, type]] = {"topic": str, "file": str, "sha256": str, "after_version": int}

    @property
    def label(self) -> str:
        """The contract, for people."""
        return f"contract of {self.topic}"

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "action": self.action,
            "subject": self.subject,
            "topic": self.topic,
            "after_version": self.after_version,
            "file": str(self.path),
            "sha256": self.digest,
        }

    def describe(self) -> str:
        """Return one line for people."""
        what = "new contract" if not self.after_version else f"contract after version {self.after_version}"
        return with_tone(Tone.GOOD, escape_line(f"store {self.path} as {what} of {self.topic}"))

    def apply(self, registration: Registration) -> None:
        """Store it, unless somebody else has changed the contract meanwhile.

        Raises:
            SettingIgnored: the registry has no contracts.
        """
        try:
            registration.registry.put_contract(self.topic, self.document, expected=self.after_version)
        except (NotFound, MethodNotAllowed) as error:
            if type(error) not in {NotFound, MethodNotAllowed}:  # the endpoint exists
                raise
            raise SettingIgnored("not stored, because this registry has no contracts") from None

    @classmethod
    def was_done(cls, saved: Mapping[str, Any], plan: Plan) -> bool:
        """Return whether the contract is stored."""
        return (saved["topic"], saved["sha256"]) in plan.contracts.stored


@dataclass(frozen=True, slots=True)
class PlannedContracts:
    """Contracts in files, compared with the registry."""

    changes: tuple[PutContract, ...] = ()
    stored: frozenset[tuple[str, str]] = frozenset()  #: topic and digest of those that are stored already


def find_contract_files(files: Iterable[SchemaFile]) -> dict[str, Path]:
    """Return the contracts beside schema files, ``<topic>.contract.yaml``, by topic.

    Subjects of other contexts than the default one have none.
    """
    contracts: dict[str, Path] = {}
    for file in files:
        named = split_topic_subject(file.subject)
        if named is not None and not named[0].startswith(":"):
            path = file.path.parent / f"{named[0]}{CONTRACT_SUFFIX}"
            if path.is_file():
                contracts.setdefault(named[0], path)
    return contracts
