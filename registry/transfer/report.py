"""Report of an import, export or verification: counts, conflicts and oddities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from contractlog.registry.transfer.registry_contents import RegistryContents

__all__ = ["IMPORT_PATH", "Oddity", "OddityKind", "TransferReport"]

IMPORT_PATH: Final = "/contractlog/v1/import"  #: route to which an export is sent, and which responds with a report
_MAX_SHOWN: Final = 20  #: oddities of a kind in the text form; JSON has all of them


class OddityKind(StrEnum):
    """The kinds of oddities; each text says how they are handled."""

    BAD_RECORD = "records that cannot be read: left out"
    UNKNOWN_KEYTYPE = "records of unknown key types: left out"
    EMPTY_SUBJECT = "versions without a subject: left out"
    ID_CONFLICT = "records with another text for an existing id: left out; the first text in log order is used"
    SECOND_CONTENT = "versions with other references, metadata or rules than their id: they get the id's first ones"
    REWRITTEN = "versions whose id changed: the newer id is used, and the older one is treated as hard-deleted"
    REISSUED = "ids that were assigned again after their deletion: the later text is used"
    OLD_KEY_FORM = (
        "versions that occur only under a key of an old form: they may have been deleted; "
        "compare with the live registry by verify-import"
    )
    QUALIFIED_IN_KARAPACE = "subjects of a Karapace topic with the name of a context: imported into that context"
    NO_NAME = "records of subjects with an ambiguous name (`:.::.ctx:name`, `:*:name`): left out"
    ZERO_LENGTH = "deletions by an empty value, as written by Karapace: treated as deletions"
    ENCRYPTED = "schemas with encrypted metadata: copied unchanged; contractlog cannot decrypt it"
    VERBATIM = "schemas that this release cannot parse: served unchanged; their subjects accept no registrations"
    UNKNOWN_SETTING = "unknown settings: left out"
    UNKNOWN_TYPE = "schemas of an unknown type: left out"
    NOT_STORABLE = "texts that databases cannot store: left out"
    NO_TIMESTAMP = "versions without a time: they get the time of the import"
    HIDDEN = "subjects hidden by an alias, which the source does not return: left out; import its topic instead"
    UNREADABLE = "responses of the source that cannot be parsed: left out"
    NOT_EXPRESSIBLE = "members that the topic cannot contain: left out"
    KEYS_DENIED = "encryption keys that the user may not read or write: left out"
    ID_MAY_RETURN = "contexts whose counter is above every id in the topic: another registry may assign those ids again"


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something unexpected in the source."""

    kind: OddityKind
    where: str  #: an offset, a line, a subject and version, a context and id
    detail: str = ""

    def body(self) -> dict[str, str]:
        """Return it as JSON."""
        return {"kind": self.kind.name, "where": self.where, "detail": self.detail}


@dataclass(slots=True)
class TransferReport:
    """Counts by kind, conflicts that prevent the import, and oddities."""

    read: Counter[str] = field(default_factory=Counter)  #: items read from the source
    done: Counter[str] = field(default_factory=Counter)  #: changes, made or planned, in the target
    conflicts: list[str] = field(default_factory=list)
    oddities: list[Oddity] = field(default_factory=list)

    def count_contents(self, contents: RegistryContents) -> RegistryContents:
        """Add the numbers of the items that were read, by kind; return the state."""
        live = sum(version.deleted_at is None for version in contents.versions.values())
        self.read |= {
            "contexts": len(contents.contexts),
            "subjects": len(contents.subjects),
            "schemas": len(contents.schemas),
            "live versions": live,
            "soft-deleted versions": len(contents.versions) - live,
            "settings": len(contents.settings),
            "modes": len(contents.modes),
            "associations": len(contents.associations),
            "retired ids": len(contents.retired),
            "KEKs": len(contents.keks),
            "DEKs": len(contents.deks),
            "contracts": sum(each.deleted_at is None for each in contents.contracts.values()),
        }
        return contents

    def odd(self, kind: OddityKind, where: str, detail: str = "") -> None:
        """Add an oddity."""
        self.oddities.append(Oddity(kind, where, detail))

    def body(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "read": dict(self.read),
            "done": dict(self.done),
            "conflicts": self.conflicts,
            "oddities": [oddity.body() for oddity in self.oddities],
        }

    def import_body(self, *, dry_run: bool) -> dict[str, Any]:
        """Return the report of an import as JSON, with its format."""
        return {"format": "contractlog.import/1", "dry_run": dry_run, **self.body()}

    def lines(self, done: str = "changed") -> Iterator[str]:
        """Yield the report as text; ``done`` is the word before the changes, empty to omit them."""
        yield from _count_lines("read", self.read)
        yield from _count_lines(done, self.done) if done and not (self.conflicts and not self.done) else ()
        for kind in OddityKind:
            yield from _oddity_lines(kind, [oddity for oddity in self.oddities if oddity.kind is kind])
        if self.conflicts:
            plural = "" if len(self.conflicts) == 1 else "s"
            yield f"refused: {len(self.conflicts):,} contradiction{plural}, nothing was written"
            yield from (f"  {conflict}" for conflict in self.conflicts[:_MAX_SHOWN])
            yield from _omitted_lines(len(self.conflicts))


def _count_lines(title: str, counts: Counter[str]) -> Iterator[str]:
    summary = ", ".join(f"{name} {number:,}" for name, number in counts.items() if number)
    yield f"{title}: {summary or 'nothing'}"


def _oddity_lines(kind: OddityKind, oddities: list[Oddity]) -> Iterator[str]:
    if oddities:
        yield f"{len(oddities):,} {kind}"
        yield from (
            f"  {oddity.where}{': ' if oddity.detail else ''}{oddity.detail}" for oddity in oddities[:_MAX_SHOWN]
        )
        yield from _omitted_lines(len(oddities))


def _omitted_lines(number: int) -> Iterable[str]:
    return (f"  … and {number - _MAX_SHOWN:,} more (--format json has them all)",) if number > _MAX_SHOWN else ()
