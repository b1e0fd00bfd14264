"""Changes of subjects that the registry would refuse, found before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from contractlog.clients.cli.associations.association_keys import describe_part
from contractlog.clients.cli.check.write_access import WriteAccess
from contractlog.clients.cli.output import Tone, count_noun, print_result, with_tone
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.subject_settings import SettingChange
from contractlog.clients.cli.suggested_commands import registry_command
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject, topic_subject
from contractlog.compatibility.mode import READ_ONLY_MODES, Mode
from contractlog.compatibility.text.terminal_text import escape_line

__all__ = [
    "RefusedChange",
    "find_refused_deletion",
    "find_refused_settings",
    "find_refused_unbinding",
    "print_refused_changes",
    "summarize_refused",
]


@dataclass(frozen=True, slots=True)
class RefusedChange:
    """A change of a subject that the caller may not make, or that its mode rejects."""

    subject: str
    action: Literal["set", "delete", "unbind"]
    phrase: str  #: the change that is not possible, for people
    reason: str
    settings: tuple[str, ...] = ()  #: keys of the manifest
    line: int | None = None  #: of the manifest; None: no rule of it is for the subject alone

    def describe(self) -> str:
        """Return a sentence, which follows the position in the manifest."""
        return f"{self.phrase}: {self.reason}"

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "action": self.action,
            "subject": self.subject,
            "settings": list(self.settings),
            "line": self.line,
            "reason": self.reason,
        }


def print_refused_changes(manifest: Manifest | None, refused: Iterable[RefusedChange]) -> None:
    """Print each change with its position in the manifest."""
    for each in refused:
        position = "" if manifest is None else f"{manifest.path}:{'' if each.line is None else f'{each.line}:'} "
        print_result(with_tone(Tone.BAD, escape_line(f"{position}{each.describe()}")))


def summarize_refused(refused: Sequence[RefusedChange]) -> str:
    """Return one sentence about changes that are not permitted."""
    number = count_noun(len(refused), "change")
    return f"{number} {'is' if len(refused) == 1 else 'are'} not permitted: ask an operator of the registry"


def find_refused_settings(
    access: WriteAccess, manifest: Manifest | None, changes: Sequence[SettingChange]
) -> Iterator[RefusedChange]:
    """Yield the changes of one subject's settings that are refused: all, or those that its mode rejects."""
    if not changes:
        return
    subject = changes[0].subject
    reason = access.explain_denial(subject)
    names = sorted(change.setting for change in changes)
    if reason is None:
        modes = [change.after for change in changes if change.setting == "mode"]
        names = [name for name in names if name != "mode"]
        if not names or Mode.READWRITE in modes:  # which is set first
            return
        reason = _explain_mode(access, subject)
    if reason is not None:
        phrase = f"{' and '.join(names)} of `{subject}` cannot be set"
        yield RefusedChange(subject, "set", phrase, reason, tuple(names), _find_line(manifest, subject))


def find_refused_deletion(access: WriteAccess, manifest: Manifest | None, subject: str) -> Iterator[RefusedChange]:
    """Yield the soft deletion of a subject, if it is refused."""
    reason = access.explain_denial(subject) or _explain_mode(access, subject)
    if reason is not None:
        phrase = f"`{subject}` cannot be soft-deleted"
        yield RefusedChange(subject, "delete", phrase, reason, line=_find_line(manifest, subject))


def find_refused_unbinding(
    access: WriteAccess, manifest: Manifest | None, subject: str, topic: str, part: str, *, writable: bool
) -> Iterator[RefusedChange]:
    """Yield the removal of an association, if it is refused.

    Args:
        access: permissions and modes.
        manifest: the manifest, if there is one.
        subject: the bound subject.
        topic: the topic, whose own subject the caller has to be permitted to write, too.
        part: ``key`` or ``value``.
        writable: whether the manifest sets the subject's mode to READWRITE first.
    """
    reasons: Iterable[str | None] = (
        access.explain_denial(str(Subject(DEFAULT_CONTEXT, topic_subject(topic, part)))),
        access.explain_denial(subject),
        None if writable else _explain_mode(access, subject),
    )
    reason = next(filter(None, reasons), None)
    if reason is not None:
        phrase = f"{describe_part(topic, part)} cannot be unbound from `{subject}`"
        yield RefusedChange(subject, "unbind", phrase, reason, line=_find_line(manifest, subject))


def _explain_mode(access: WriteAccess, subject: str) -> str | None:
    """Return why the mode of a subject rejects changes, and the command that ends it; None if it does not."""
    mode = access.read_mode(subject)
    if mode not in READ_ONLY_MODES:
        return None
    command = registry_command("mode set", subject, Mode.READWRITE.value)
    return f"it is in mode {mode.value}, which rejects changes; to permit them: {command}"


def _find_line(manifest: Manifest | None, subject: str) -> int | None:
    rule = None if manifest is None else manifest.find_subject_rule(subject)
    return None if rule is None else rule.line
